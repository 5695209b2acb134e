// Light, dark, or as the system has it; the only thing that the browser keeps.
import { h } from "./dom.js";

const CHOICES = [["light", "Light"], ["dark", "Dark"], ["", "System"]];

export const theme = () => document.documentElement.dataset.theme || "";

export function setTheme(name) {
  if (name) document.documentElement.dataset.theme = name; else delete document.documentElement.dataset.theme;
  try { name ? localStorage.setItem("mem.theme", name) : localStorage.removeItem("mem.theme"); } catch { /* nothing is kept */ }
  for (const box of document.querySelectorAll(".themes button")) box.setAttribute("aria-checked", String(box.dataset.name === name));
}

export function themeChoice() {
  const box = h("div", { class: "themes", role: "radiogroup", "aria-label": "Theme" },
    CHOICES.map(([name, label]) => h("button", { type: "button", role: "radio", "data-name": name,
      "aria-checked": String(theme() === name), onclick: () => setTheme(name) }, label)));
  box.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [...box.children];
    const next = all[(all.indexOf(document.activeElement) + step + all.length) % all.length];
    next.focus();
    next.click();
  });
  return box;
}
