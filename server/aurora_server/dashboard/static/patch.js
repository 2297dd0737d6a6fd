// Patch of the DOM (diffing, morphing): makes what is within an element the same as some HTML, by changing what differs
// and nothing else: whoever has the focus keeps it, what is scrolled, opened or typed in stays so, and a screen reader
// is told only of news.

/** Patch `part`'s content to that of `html`, which the server rendered and escaped; the focus stays. */
export function patch(part, html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const active = part.contains(document.activeElement) ? document.activeElement : null;
  const region = active?.closest("[role=region][id]")?.id;
  children(part, template.content);
  if (!active || document.activeElement === active) return;
  const next = active.isConnected ? active : byId(active.id) ?? byId(region) ?? part.querySelector("a[href], [tabindex]");
  next?.focus({ preventScroll: true }); // it was moved, or what it stood for is gone
}

function byId(id) {
  return id ? document.getElementById(id) : null;
}

function children(here, there) {
  const known = new Map();
  for (const each of here.children) if (each.id) known.set(each.id, each);
  let at = here.firstChild;
  for (const wanted of [...there.childNodes]) {
    const same = wanted.id ? known.get(wanted.id) : alike(at, wanted) ? at : null;
    if (!same || !alike(same, wanted)) {
      here.insertBefore(wanted, at);
      continue;
    }
    if (same === at) at = at.nextSibling;
    else here.insertBefore(same, at);
    update(same, wanted);
  }
  while (at) {
    const after = at.nextSibling;
    at.remove();
    at = after;
  }
}

function alike(one, other) {
  return one !== null && one.nodeType === other.nodeType && one.nodeName === other.nodeName && (one.id ?? "") === (other.id ?? "");
}

function update(here, there) {
  if (here.nodeType !== Node.ELEMENT_NODE) {
    if (here.nodeValue !== there.nodeValue) here.nodeValue = there.nodeValue;
    return;
  }
  for (const { name } of [...here.attributes]) {
    if (!there.hasAttribute(name) && !(name === "open" && here.nodeName === "DETAILS")) here.removeAttribute(name);
  }
  for (const { name, value } of there.attributes) {
    if (here.getAttribute(name) !== value) here.setAttribute(name, value);
  }
  children(here, there);
}
