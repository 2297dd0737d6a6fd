// Script of the dashboard's webview: puts in what changed, and tells the extension which deliverables are asked for.
// The page's own script is bundled in, so a row, a form and the focus behave here as they do in a browser.
import { say, show, views } from "../../../../server/aurora_server/dashboard/static/view.js";

interface News {
  sections?: Record<string, string | null>;
  ended?: boolean;
}

declare function acquireVsCodeApi(): { postMessage(message: unknown): void };

const editor = acquireVsCodeApi();

window.addEventListener("message", (event: MessageEvent<News>) => {
  if (event.data.ended) say("ended; close this tab and open the dashboard again", "lost");
  if (!event.data.sections) return;
  say("live", "live");
  show(event.data.sections);
});

views("", (query) => editor.postMessage({ query }));
