// What was done, and the way back. One at a time.
import { h, fill, say } from "./dom.js";

let way = null;
let timer = 0;

export function toast(text, undo) {
  const box = document.getElementById("toasts");
  const close = () => { clearTimeout(timer); box.replaceChildren(); way = null; };
  const run = async () => { close(); await undo(); say("Taken back"); };
  const el = h("div", { class: "toast" }, h("span", {}, text));
  if (undo) el.append(h("button", { type: "button", onclick: run }, "Undo"), h("kbd", { "aria-hidden": "true" }, "z"));
  fill(box, el);
  way = undo ? run : null;
  const wait = (ms) => { clearTimeout(timer); timer = setTimeout(close, ms); };
  wait(undo ? 10_000 : 4_000);
  for (const name of ["pointerenter", "focusin"]) el.addEventListener(name, () => clearTimeout(timer));
  for (const name of ["pointerleave", "focusout"]) el.addEventListener(name, () => wait(4_000));
}

export const undoLast = () => way?.();
