// The only way into the document: elements by name, text as text nodes.
const SVG = "http://www.w3.org/2000/svg";

function give(el, props) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) el.addEventListener(name.slice(2), value);
    else if (name === "value") el.value = value;
    else if (name === "checked") el.checked = value;
    else el.setAttribute(name, value === true ? "" : String(value));
  }
  return el;
}

function put(el, kids) {
  for (const kid of kids.flat(4)) {
    if (kid === null || kid === undefined || kid === false) continue;
    el.append(kid instanceof Node ? kid : document.createTextNode(String(kid)));
  }
  return el;
}

export const h = (tag, props, ...kids) => put(give(document.createElement(tag), props), kids);
export const s = (tag, props, ...kids) => put(give(document.createElementNS(SVG, tag), props), kids);

export function fill(el, ...kids) {
  el.replaceChildren();
  return put(el, kids);
}

// Tell a screen reader; nothing is seen.
export function say(text) {
  const box = document.getElementById("say");
  box.textContent = "";
  setTimeout(() => { box.textContent = text; }, 30);
}

// Characters that would hide or turn round what stands beside them are shown by their number.
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;
export const plain = (text) => String(text ?? "").replace(HIDDEN, (c) => `\u27e8U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27e9`);

// Somebody else's words: kept apart from ours in direction and made visible.
export const words = (text, props = {}) => h("bdi", { dir: "auto", ...props }, plain(text));

// The same with what was searched for marked.
export function marked(text, query) {
  const shown = plain(text);
  const parts = String(query || "").toLocaleLowerCase().split(/\s+/).filter((part) => part.length > 1);
  if (!parts.length) return h("bdi", { dir: "auto" }, shown);
  const low = shown.toLocaleLowerCase();
  const out = [];
  let at = 0;
  while (low.length === shown.length && at < shown.length) {
    let best = null;
    for (const part of parts) {
      const found = low.indexOf(part, at);
      if (found >= 0 && (!best || found < best.from)) best = { from: found, to: found + part.length };
    }
    if (!best) break;
    out.push(shown.slice(at, best.from), h("mark", {}, shown.slice(best.from, best.to)));
    at = best.to;
  }
  return h("bdi", { dir: "auto" }, out, shown.slice(at));
}

export const button = (label, props, ...kids) =>
  h("button", { type: "button", class: "btn", ...props }, kids.length ? kids : label);
