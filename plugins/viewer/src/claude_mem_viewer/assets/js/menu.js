// A list under a button: type to narrow, arrows to move, Enter picks, Escape gives the focus back.
import { h, fill, plain } from "./dom.js";
import { icon } from "./icons.js";

let open = null;

export function closeMenu() {
  if (!open) return;
  const { el, from } = open;
  open = null;
  el.remove();
  from.setAttribute("aria-expanded", "false");
  // The button may have been drawn anew meanwhile.
  (from.isConnected ? from : document.querySelector(`button[data-name="${from.dataset.name}"]`))?.focus();
}

document.addEventListener("pointerdown", (event) => {
  if (open && !open.el.contains(event.target) && !open.from.contains(event.target)) closeMenu();
});

// options: [{ value, label, count, mark }]; `picked` is told the value, or "" for all. With
// `several` it is told all that are chosen, at each change, and the list stays open.
export function menu(from, { title, options, chosen, picked, several = false }) {
  if (open?.from === from) { closeMenu(); return; }
  closeMenu();
  const taken = new Set([chosen].flat());
  let at = Math.max(0, options.findIndex((one) => taken.has(one.value)));
  let list = options;
  const wide = options.length > 7;
  const input = h("input", { type: "text", placeholder: `Find a ${title.toLowerCase()}`, "aria-label": `Narrow: ${title}`,
    role: "combobox", "aria-expanded": "true", "aria-controls": "menu-list", autocomplete: "off", spellcheck: "false" });
  const ul = h("ul", { role: "listbox", id: "menu-list", "aria-label": title, "aria-multiselectable": several ? "true" : null, tabindex: wide ? null : "0" });
  const el = h("div", { class: "pop" }, wide ? input : null, ul);
  const draw = () => {
    fill(ul, list.map((one, k) => h("li", { role: "option", id: `option-${k}`, class: k === at ? "on" : "",
      "aria-selected": taken.has(one.value) ? "true" : "false", onclick: () => pick(one) },
      h("span", { class: "box" }, taken.has(one.value) ? icon("check") : null), one.mark || h("bdi", {}, plain(one.label)),
      one.count === undefined ? null : h("span", { class: "count num" }, one.count))));
    (wide ? input : ul).setAttribute("aria-activedescendant", list.length ? `option-${at}` : "");
    ul.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const pick = (one) => {
    if (!several) { closeMenu(); picked(taken.has(one.value) ? "" : one.value); return; }
    if (!taken.delete(one.value) && one.value) taken.add(one.value);
    draw();
    picked([...taken].filter(Boolean));
  };
  el.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) at = Math.min(list.length - 1, Math.max(0, at + steps[event.key]));
    else if (event.key === "Enter" || (event.key === " " && !input.value)) { if (list[at]) pick(list[at]); }
    else if (event.key === "Escape" || event.key === "Tab") closeMenu();
    else return;
    event.preventDefault();
    event.stopPropagation();
    if (open) draw();
  });
  input.addEventListener("input", () => {
    const typed = input.value.toLocaleLowerCase();
    list = options.filter((one) => one.label.toLocaleLowerCase().includes(typed));
    at = 0;
    draw();
  });
  // Inside of the page, so that it belongs to it; its place is fixed anyhow.
  document.getElementById("main").append(el);
  from.setAttribute("aria-expanded", "true");
  open = { el, from };
  const place = from.getBoundingClientRect();
  el.style.left = `${Math.max(12, Math.min(place.left, innerWidth - el.offsetWidth - 12))}px`;
  el.style.top = `${Math.min(place.bottom + 6, innerHeight - 140)}px`;
  draw();
  (wide ? input : ul).focus();
}
