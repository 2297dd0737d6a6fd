// The steps, in their order. Each returns what it saw.
import { agents } from "./steps/agents.mjs";
import { asking } from "./steps/asking.mjs";
import { manifests } from "./steps/manifests.mjs";
import { reading } from "./steps/reading.mjs";
import { recovering } from "./steps/recovering.mjs";
import { working } from "./steps/working.mjs";

export const steps = { ...reading, ...manifests, ...asking, ...agents, ...working, ...recovering };
