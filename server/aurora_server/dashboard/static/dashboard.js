// Live updates of the page (server-sent events, EventSource). Without this script it is whole, only not live.
import { say, show, views } from "./view.js";

let source;

function listen() {
  source?.close();
  const stream = (source = new EventSource("events" + location.search));
  stream.addEventListener("open", () => say("live", "live"));
  stream.addEventListener("error", () => {
    say(stream.readyState === EventSource.CLOSED ? "ended; reload the page" : "lost; trying again", "lost");
  });
  stream.addEventListener("sections", (event) => show(JSON.parse(event.data)));
}

const back = views(location.search, (query) => {
  history.pushState(null, "", location.pathname + query);
  listen();
});
window.addEventListener("popstate", () => {
  back(location.search);
  listen();
});
listen();
