// Puts in what changed. Without this script the page is whole, only not live.
"use strict";

const link = document.getElementById("link");
const problem = document.getElementById("problem");

function say(text, state) {
  if (link.textContent !== text) link.textContent = text; // read out only when it is news
  link.className = "link " + state;
}

function put(id, html) {
  const part = document.getElementById(id);
  if (!part) return;
  const focused = part.contains(document.activeElement) ? document.activeElement.id : "";
  const scrolled = part.querySelector(".scroll")?.scrollTop || 0;
  part.innerHTML = html; // rendered and escaped by the server
  const scroll = part.querySelector(".scroll");
  if (scroll) scroll.scrollTop = scrolled;
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

const source = new EventSource("/events" + location.search);
source.addEventListener("open", () => say("live", "live"));
source.addEventListener("error", () => {
  say(source.readyState === EventSource.CLOSED ? "ended; reload the page" : "lost; trying again", "lost");
});
source.addEventListener("sections", (event) => {
  for (const [name, value] of Object.entries(JSON.parse(event.data))) {
    if (name === "problem") {
      problem.hidden = !value;
      problem.textContent = value || "";
    } else put(name, value);
  }
});
