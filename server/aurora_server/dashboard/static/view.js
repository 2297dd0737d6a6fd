// View that the page and its copy in an editor's tab share: sections that changed are put in where they belong, and
// filters and search (debounced) are heard from the form and the links.
import { patch } from "./patch.js";

const WAIT_MS = 200; // between the last key in the search and asking for it

const link = document.getElementById("link");
const problem = document.getElementById("problem");

/** Say in a word how the page is connected; read out only when it is news. */
export function say(text, state) {
  if (link.textContent !== text) link.textContent = text;
  link.className = "link " + state;
}

/** Put in the sections that changed, and what is wrong if anything is. */
export function show(sections) {
  for (const [name, value] of Object.entries(sections)) {
    if (name === "problem") {
      problem.hidden = !value;
      if (problem.textContent !== (value || "")) problem.textContent = value || "";
      continue;
    }
    const part = document.getElementById(name);
    if (part && value !== null) patch(part, value);
  }
}

/** Have `follow` called with the query (`?q=…`, or nothing) of each view that is asked for. `now` is the first one. */
export function views(now, follow) {
  let current = new URLSearchParams(now);
  let waiting = 0;
  const ask = (query) => {
    clearTimeout(waiting);
    const next = query.toString();
    if (next === current.toString()) return;
    current = query;
    follow(next ? "?" + next : "");
  };
  const asked = () => {
    const query = new URLSearchParams();
    const change = current.get("change");
    if (change) query.set("change", change);
    for (const [name, value] of new FormData(document.getElementById("filter"))) if (value) query.set(name, value);
    return query;
  };
  document.addEventListener("input", (event) => {
    if (!event.target.closest("#filter")) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => ask(asked()), event.target.type === "search" ? WAIT_MS : 0);
  });
  document.addEventListener("submit", (event) => {
    event.preventDefault();
    ask(asked());
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const chosen = event.target.closest("a[href^='?']");
    if (!chosen) return;
    event.preventDefault();
    const query = new URLSearchParams(chosen.getAttribute("href").slice(1));
    set(query);
    ask(query);
  });
  return (query) => {
    current = new URLSearchParams(query);
    set(current);
  };
}

/** Put what a view asks for into the form. */
function set(query) {
  for (const field of document.getElementById("filter")?.elements ?? []) {
    if (!field.name) continue;
    const value = query.get(field.name) ?? "";
    if (field.nodeName === "SELECT" && value && ![...field.options].some((option) => option.value === value)) {
      field.add(new Option(value, value));
    }
    field.value = value;
  }
}
