// Protocol types (custom LSP requests and notifications `aurora/*`): what the daemon says and takes, as far as this
// extension uses it. Lines are 1-based, as on the command line.
import type { Phase, Status as DeliverableStatus } from "./deliverableEvents";

export const Recall = "aurora/recall";
export const Index = "aurora/index";
export const Status = "aurora/status";
export const Explain = "aurora/explain";
export const Query = "aurora/query";
export const Budget = "aurora/budget";
export const Deliverable = "aurora/deliverable";
export const DeliverableChanged = "aurora/deliverableChanged";
export const AskUser = "aurora/askUser";
export const LanguageModel = "aurora/languageModel";

export interface ActivationTerms {
  total: number;
  base_level: number;
  spreading: number;
  context_boost: number;
  decay: number;
  learned: number;
}

export interface Recalled {
  id: string;
  type: string;
  kind: string;
  name: string;
  file: string;
  line_start: number;
  line_end: number;
  /** The line that it leads to: of its name, below its comments; of a file's remainder the one that answers. */
  line?: number | null;
  language: string;
  signature: string;
  score: number;
  activation: ActivationTerms;
  last_used: string | null;
  last_modified: string | null;
  summary: string;
  callers: number;
  workspace: string;
  also?: FileMember[];
  likely?: boolean;
  relation?: string;
}

/** Something else of the same file that answers. */
export interface FileMember {
  id: string;
  name: string;
  kind: string;
  line_start: number;
  line_end: number;
  line?: number;
}

export interface RecallResult {
  query: string;
  took_ms: number;
  freshness: { state: string; pending_files: number; files: number; chunks: number };
  results: Recalled[];
  hint: string | null;
}

export interface IndexResult {
  workspace: string;
  files: number;
  chunks: number;
  parsed_files: number;
  skipped_files: number;
  failed_files: number;
  took_ms: number;
}

export interface WorkspaceStatus {
  root: string;
  state: "scanning" | "indexing" | "ready" | "error";
  files: number;
  chunks: number;
  pending_files: number;
  skipped_files: number;
  database_bytes: number;
  last_error: string | null;
}

export interface StatusResult {
  version: string;
  pid: number;
  workspaces: WorkspaceStatus[];
}

export interface RelatedChunk {
  relation: string;
  id: string;
  name: string;
  file: string;
  line: number;
}

export interface ExplainResult {
  chunk: Recalled;
  docstring: string;
  accesses: string[];
  commits: string[];
  relations: RelatedChunk[];
  patterns: { id: string; query: string; score: number; uses: number }[];
}

export interface StageNotice {
  stage: string;
  status: "in_progress" | "complete" | "retry" | "failed" | "skipped";
  detail: string;
  progress: number;
  cost_usd: number;
  elapsed_ms: number;
}

export interface QueryResult {
  id: string;
  query: string;
  state: "complete" | "partial" | "failed" | "blocked" | "cancelled" | "interrupted" | "no_provider" | "dry_run";
  answer: string;
  score: number | null;
  confidence: number | null;
  because: string;
  caveats: string[];
  from_memory: boolean;
  claims: { text: string; sources: string[] }[];
  sources: { id: string; name: string; file: string; line_start: number; line_end: number; score: number }[];
  notices: string[];
  cost_usd: number;
  unpriced_calls: number;
  calls: number;
  took_ms: number;
  error: string | null;
}

/** Money in US dollars. `model` is the one that is configured to be paid for. */
export interface BudgetResult {
  state: "fine" | "warned" | "blocked" | "off";
  period: string;
  period_end: string;
  limit_usd: number;
  consumed_usd: number;
  reserved_usd: number;
  remaining_usd: number;
  query_count: number;
  questions_left: number | null;
  notices: string[];
  model: string | null;
}

/** The state document of AURA-M §5.1: only what is shown here. */
export interface DeliverableState {
  change_id: string;
  description?: string | null;
  status: DeliverableStatus;
  current_phase?: Phase | null;
  tasks_total?: number | null;
  tasks_completed?: number | null;
  started_at?: string;
  updated_at?: string;
  spec_source?: { framework?: string | null } | null;
  [field: string]: unknown;
}

export interface DeliverableChange {
  workspace: string;
  summary: string;
  deliverable: DeliverableState;
}

export interface LanguageModelParams {
  system: string;
  prompt: string;
  schema: unknown;
  max_tokens: number;
}

export interface LanguageModelResult {
  text: string;
  model: string;
  input_tokens?: number;
  output_tokens?: number;
}
