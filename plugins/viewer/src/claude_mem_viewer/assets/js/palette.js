// Commands by name, and a list of the keys.
import { on } from "./bus.js";
import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { keysOff, switchKeys } from "./keys.js";
import { go } from "./route.js";
import { PAGES } from "./shell.js";
import { setTheme } from "./theme-choice.js";
import { ask } from "./ui.js";

const items = () => [
  ...PAGES.map(([name, path, label, key]) => ({ icon: name, label, hint: `g ${key}`, run: () => go(path) })),
  { icon: "tv", label: "TV: the newest in large letters", hint: "g t", run: () => go("/tv") },
  { icon: "pin", label: "Pinned memories", run: () => go("/memories?state=pinned") },
  { icon: "wrong", label: "Memories marked wrong", run: () => go("/memories?state=wrong") },
  { icon: "deleted", label: "Deleted memories", run: () => go("/memories?state=deleted") },
  { icon: "settings", label: "Light theme", run: () => setTheme("light") },
  { icon: "settings", label: "Dark theme", run: () => setTheme("dark") },
  { icon: "settings", label: "Theme as the system has it", run: () => setTheme("") },
];

export function palette() {
  if (document.querySelector("dialog[open]")) return;
  let at = 0;
  let list = [];
  const input = h("input", { type: "text", placeholder: "Go to a page, or search memories", "aria-label": "Command", role: "combobox",
    "aria-expanded": "true", "aria-controls": "commands", autocomplete: "off", spellcheck: "false" });
  const ul = h("ul", { role: "listbox", id: "commands", "aria-label": "Commands" });
  const box = ask("Commands", input, ul);
  box.classList.add("palette");
  const run = (one) => { box.close(); one.run(); };
  const draw = () => {
    const typed = input.value.trim();
    list = items().filter((one) => one.label.toLowerCase().includes(typed.toLowerCase()));
    if (typed) list.push({ icon: "search", label: `Search memories for \u201c${typed}\u201d`, run: () => go(`/memories?q=${encodeURIComponent(typed)}`) });
    at = Math.min(at, list.length - 1);
    fill(ul, list.map((one, k) => h("li", { role: "option", id: `command-${k}`, class: k === at ? "on" : "",
      "aria-selected": String(k === at), onclick: () => run(one) }, icon(one.icon), one.label, h("span", { class: "hint" }, one.hint || ""))));
    input.setAttribute("aria-activedescendant", `command-${at}`);
    ul.children[at]?.scrollIntoView({ block: "nearest" });
  };
  input.addEventListener("input", () => { at = 0; draw(); });
  box.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) at = (at + step + list.length) % list.length;
    else if (event.key === "Enter") { event.preventDefault(); run(list[at]); return; }
    else return;
    event.preventDefault();
    draw();
  });
  draw();
  input.focus();
}

const KEYS = [
  ["Anywhere", [["/", "Search"], ["g m", "Memories, and g with other letters"], ["z", "Undo"], [".", "Show new ones"], ["?", "This list"]]],
  ["In the list", [["j k", "Down, up"], ["Enter", "Open"], ["x", "Select"], ["m", "Merge the selected"], ["f", "Forget the selected"], ["Esc", "Close"]]],
  ["On a memory", [["p", "Pin"], ["e", "Edit"], ["w", "Wrong"], ["v", "Still true"], ["u", "Useful"], ["o", "Outdated"], ["#", "Delete"], ["f", "Forget for good"], ["c", "Copy its number"]]],
];

function help() {
  const off = h("input", { type: "checkbox", class: "switch", id: "keys-on", role: "switch", checked: !keysOff(), onchange: (event) => switchKeys(!event.target.checked) });
  ask("Keys", h("div", { class: "keys" }, h("h2", {}, "Keys"),
    h("div", { class: "three" }, KEYS.map(([title, rows]) => h("section", {}, h("h3", {}, title),
      h("dl", {}, rows.map(([key, text]) => [h("dt", {}, key.split(" ").map((k) => h("kbd", {}, k))), h("dd", {}, text)]))))),
    h("p", { class: "oneline" }, off, h("label", { for: "keys-on" }, "Single keys do something"))));
}

on("palette", palette);
on("help", help);
