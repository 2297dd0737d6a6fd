// Runs within the dashboard's tab: puts in what changed, and tells the extension which deliverable was chosen.

interface News {
  sections?: Record<string, string | null>;
  ended?: boolean;
}

declare function acquireVsCodeApi(): { postMessage(message: unknown): void };

const editor = acquireVsCodeApi();
const state = document.getElementById("link");

function say(text: string, kind: string): void {
  if (!state) return;
  state.textContent = text;
  state.className = `link ${kind}`;
}

function put(id: string, html: string): void {
  const part = document.getElementById(id);
  if (!part) return;
  const scrolled = part.querySelector(".scroll")?.scrollTop ?? 0;
  part.innerHTML = html; // rendered and escaped by the server; the page's policy runs no script in it
  const scroll = part.querySelector(".scroll");
  if (scroll) scroll.scrollTop = scrolled;
}

window.addEventListener("message", (event: MessageEvent<News>) => {
  if (event.data.ended) say("ended; close this tab and open the dashboard again", "lost");
  for (const [name, value] of Object.entries(event.data.sections ?? {})) {
    say("live", "live");
    const problem = document.getElementById("problem");
    if (name === "problem" && problem) {
      problem.hidden = !value;
      problem.textContent = value ?? "";
    } else if (value !== null) put(name, value);
  }
});

document.addEventListener("click", (event) => {
  const chosen = event.target instanceof Element ? event.target.closest("a[href*='change=']") : null;
  const change = new URL(chosen?.getAttribute("href") ?? "", "http://dashboard/").searchParams.get("change");
  if (!change) return;
  event.preventDefault();
  editor.postMessage({ change });
});
