// Single keys, wherever nobody types. They can be switched off.
import { emit } from "./bus.js";
import { closeMenu } from "./menu.js";
import { go } from "./route.js";
import { undoLast } from "./toast.js";

const PLACES = { w: "/", m: "/memories", s: "/sessions", h: "/status", q: "/queue", u: "/usage", ",": "/settings", t: "/tv" };
const state = { after: 0, off: false };
let handler = null;

// The page that is shown gets what is not for all pages: fn(key, event) -> whether it was used.
export const setKeys = (fn) => { handler = fn; };
export const keysOff = () => state.off;
export function switchKeys(off) { state.off = off; }

const typing = (el) => el.closest?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    emit("palette");
    return;
  }
  if (event.metaKey || event.ctrlKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") { closeMenu(); handler?.("Escape", event); return; }
  if (typing(event.target) || state.off) return;
  if (use(event)) event.preventDefault();
});

function use(event) {
  const key = event.key;
  if (state.after && Date.now() - state.after < 1200) {
    state.after = 0;
    if (key in PLACES) { go(PLACES[key]); return true; }
  }
  if (key === "g") { state.after = Date.now(); return true; }
  if (key === "?") { emit("help"); return true; }
  if (key === "z") { undoLast(); return true; }
  return Boolean(handler?.(key, event));
}
