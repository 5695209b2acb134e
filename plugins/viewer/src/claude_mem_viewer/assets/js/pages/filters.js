// The head of the list: search field, filters, and a small picture of the last 90 days.
import { get } from "../api.js";
import { fill, h, s } from "../dom.js";
import { date, day, hostName, many, num, typeName } from "../format.js";
import { icon } from "../icons.js";
import { menu } from "../menu.js";
import { typeMark } from "../ui.js";

const DAYS = [["1", "Today"], ["7", "Last 7 days"], ["30", "Last 30 days"], ["90", "Last 90 days"]];
const STATES = [["pinned", "Pinned"], ["wrong", "Marked wrong"], ["replaced", "Replaced"], ["deleted", "Deleted"]];

export function filters(page) {
  const input = h("input", { type: "search", placeholder: "Search memories", "aria-label": "Search memories", autocomplete: "off",
    spellcheck: "false", enterkeyhint: "search", "aria-keyshortcuts": "/" });
  const clear = h("button", { type: "button", class: "clear", "aria-label": "Clear the search", hidden: true, onclick: () => { input.value = ""; typed(); input.focus(); } }, icon("x"));
  const box = h("div", { class: "search", role: "search", onclick: () => input.focus() }, icon("search"), input, clear, h("kbd", { "aria-hidden": "true" }, "/"));
  const chips = h("div", { class: "chips" });
  const strip = h("div", { class: "strip" });
  const typed = () => { clear.hidden = !input.value; page.choose({ q: input.value.trim() }, { wait: true }); };
  input.addEventListener("input", typed);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || (event.key === "Enter" && !event.isComposing)) { event.preventDefault(); page.list.enterList(); }
  });

  function show(filter) {
    if (document.activeElement !== input) input.value = filter.q;
    clear.hidden = !input.value;
    draw(filter);
  }

  function draw(filter) {
    const held = chips.contains(document.activeElement) ? document.activeElement.dataset.name : "";
    const chip = (name, title, label, open) => h("button", { type: "button", class: label ? "chip on" : "chip", "data-name": name,
      "aria-haspopup": "listbox", "aria-expanded": "false", onclick: (event) => open(event.currentTarget) }, h("span", { class: "cut" }, label || title), icon("down"));
    const any = filter.project.length || filter.type.length || filter.host || filter.from || filter.state;
    const named = (list, label, words) => (list.length > 1 ? `${list.length} ${words}` : list.length ? label(list[0]) : "");
    fill(chips,
      chip("project", "Project", named(filter.project, (v) => v, "projects"), (el) => pick(el, "project", "Project", "projects", (v) => v)),
      chip("type", "Type", named(filter.type, typeName, "types"), (el) => pick(el, "type", "Type", "types", typeName, typeMark)),
      chip("host", "Host", filter.host && hostName(filter.host), (el) => pick(el, "host", "Host", "hosts", hostName)),
      chip("date", "Date", filter.from && dateLabel(filter), pickDate),
      chip("state", "State", STATES.find(([v]) => v === filter.state)?.[1], pickState),
      any ? h("button", { type: "button", class: "chip clearall", onclick: () => page.choose({ project: [], type: [], host: "", from: "", to: "", state: "" }) }, "Clear") : null);
    if (held) chips.querySelector(`[data-name="${held}"]`)?.focus();
  }

  async function pick(el, name, title, list, label, mark) {
    const counts = (await get("/api/memories/facets", { ...page.feed.params(), q: "" }).catch(() => ({})))[list] || {};
    const options = Object.entries(counts).sort((a, b) => b[1] - a[1])
      .map(([value, count]) => ({ value, label: label(value), count: num(count), mark: mark?.(value) }));
    if (!options.length) options.push({ value: "", label: "None yet" });
    const several = Array.isArray(page.filter[name]);
    menu(el, { title, options, several, chosen: page.filter[name], picked: (value) => page.choose({ [name]: value }) });
  }

  function pickDate(el) {
    const today = new Date();
    today.setHours(0, 0, 0, 0);
    const options = DAYS.map(([days, label]) => ({ value: String(today.getTime() - (days - 1) * 86400000), label }));
    menu(el, { title: "Date", options, chosen: page.filter.to ? "" : page.filter.from, picked: (from) => page.choose({ from, to: "" }) });
  }

  function pickState(el) {
    menu(el, { title: "State", options: STATES.map(([value, label]) => ({ value, label })), chosen: page.filter.state, picked: (state) => page.choose({ state }) });
  }

  const dateLabel = (filter) => {
    if (filter.to) return date(Number(filter.from));
    const days = Math.round((Date.now() - Number(filter.from)) / 86400000);
    return DAYS.find(([n]) => Math.abs(Number(n) - days) <= 1)?.[1] || `Since ${date(Number(filter.from))}`;
  };

  // Counts by day as bars; a press on one goes to that day. The date filter says the same in words.
  function days(groups) {
    strip.hidden = groups.length < 2 || !groups[0].to_ms;
    if (strip.hidden) { fill(strip); return; }
    const end = groups[0].from_ms;
    const counts = new Map(groups.map((group) => [Math.round((end - group.from_ms) / 86400000), group]));
    const most = Math.max(1, ...groups.slice(0, 90).map((group) => group.count));
    const shown = s("svg", { viewBox: "0 0 360 24", preserveAspectRatio: "none", role: "img",
      "aria-label": `The last 90 days; the busiest had ${many(most, "memory", "memories")}.` });
    for (let back = 89; back >= 0; back -= 1) {
      const group = counts.get(back);
      if (!group) continue;
      const height = Math.max(1.5, (group.count / most) * 23);
      const bar = s("rect", { x: (89 - back) * 4 + 0.5, y: 24 - height, width: 3, height, rx: 0.5, class: back ? null : "now" },
        s("title", {}, `${day(group.from_ms)}: ${num(group.count)}`));
      bar.addEventListener("click", () => page.list.jump(group));
      shown.append(bar);
    }
    fill(strip, shown, h("span", { class: "from" }, "90 days"));
  }

  return {
    root: h("div", { class: "tools" }, box, chips, strip),
    show, days,
    focus: () => { input.focus(); input.select(); },
    owns: (el) => el === input,
    escape: () => { if (input.value) { input.value = ""; typed(); } else { input.blur(); page.list.focusFirst(); } },
  };
}
