// What the next session of a project gets, with the settings as they are being changed.
import { get, post } from "../api.js";
import { fill, h, plain } from "../dom.js";
import { hostName, many, num } from "../format.js";
import { empty, failed } from "../ui.js";

const WAIT_MS = 150;

export function previewView() {
  const state = { draft: {}, base: null, number: 0, timer: 0, fault: null };
  const project = h("select", { class: "field", "aria-label": "Project", onchange: () => { state.base = null; ask(0); } });
  const host = h("select", { class: "field", "aria-label": "Host", onchange: () => { state.base = null; ask(0); } });
  const facts = h("div", { class: "ctxfacts", role: "status" });
  const text = h("div", { class: "ctx mono", tabindex: "0", role: "region", "aria-label": "Context" });
  const root = h("section", { class: "preview", "aria-label": "Preview" },
    h("header", {}, h("h2", {}, "What the next session gets"), h("div", { class: "picks" }, host, project, facts)), text);
  const forms = ["Text", "As sent"].map((label, k) => h("button", { type: "button", "aria-pressed": String(!k), onclick: () => choose(k === 1) }, label));
  root.querySelector("header").insertBefore(h("div", { class: "themes seg", role: "group", "aria-label": "Form" }, forms), root.querySelector(".picks"));
  let delta = null;

  // The text as an agent reads it, or every byte that the host is handed.
  function choose(sent) {
    state.sent = sent;
    forms.forEach((el, k) => el.setAttribute("aria-pressed", String(sent === (k === 1))));
    if (state.shown) show(state.shown);
  }

  async function start() {
    try {
      const found = await get("/api/projects");
      const kept = project.value;
      fill(project, found.projects.map((name) => h("option", { value: name }, plain(name))));
      if (found.projects.includes(kept)) project.value = kept;
      const hosts = found.sources.filter((name) => name !== "manual" && name !== "import");
      fill(host, h("option", { value: "" }, "Any host"), hosts.map((name) => h("option", { value: name }, plain(hostName(name)))));
      state.base = null;
      if (found.projects.length) ask(0); else fill(text, empty("There is nothing to show yet.", h("p", {}, "A project appears here after its first session.")));
    } catch (error) { fill(text, failed(error, start)); }
  }

  function ask(wait = WAIT_MS) {
    clearTimeout(state.timer);
    state.timer = setTimeout(run, wait);
  }

  const made = (draft) => post("/api/context/preview", { project: project.value, host: host.value, draft });

  async function run() {
    if (!project.value) return;
    const mine = ++state.number;
    try {
      state.base ||= await made({});
      const found = Object.keys(state.draft).length ? await made(state.draft) : state.base;
      if (mine === state.number) show(found);
    } catch (error) {
      if (mine !== state.number) return;
      if (!state.fault?.(error)) fill(text, failed(error, run));
    }
  }

  function show(found) {
    const changed = found.tokens - state.base.tokens;
    const said = changed ? `${changed > 0 ? "+" : "\u2212"}${num(Math.abs(changed))} tokens` : "";
    fill(facts, h("span", {}, many(found.ids.length, "memory", "memories")), h("span", {}, `about ${num(found.tokens)} tokens`), said ? h("b", {}, said) : null, h("span", {}, `built in ${Math.round(found.took_ms)} ms`));
    if (delta) delta.textContent = said;
    state.shown = found;
    if (state.sent) {
      fill(text, found.sent ? h("span", { class: "ln raw" }, plain(found.sent)) : empty("Pick a host.", h("p", {}, "Each host is handed the text in a form of its own.")));
      return;
    }
    const lines = compare(state.base.text, found.text);
    fill(text, found.text || lines.length > 1 ? lines.map(([mark, line]) => h(mark === "del" ? "s" : mark === "add" ? "ins" : "span", { class: `ln ${mark} ${kind(line)}` }, plain(line) || "\u00a0")) : empty("Nothing would be given."));
    const first = text.querySelector(".add, .del");
    if (first) text.scrollTop = first.offsetTop - text.clientHeight / 3; 
  }

  return {
    root, start,
    leave: () => clearTimeout(state.timer),
    draft: (draft, fault) => { Object.assign(state, { draft, fault }); ask(); },
    delta: (el) => { delta = el; },
  };
}

const kind = (line) => (line.startsWith("#") ? "hd" : /^<\/?[a-z-]+/.test(line) ? "tg" : "");

// Which lines came and which went: the longest common run of lines, cut at its equal ends.
export function compare(before, after) {
  const a = before.split("\n");
  const b = after.split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const x = a.slice(head, a.length - tail);
  const y = b.slice(head, b.length - tail);
  const same = (lines) => lines.map((line) => ["", line]);
  return [...same(a.slice(0, head)), ...middle(x, y), ...same(a.slice(a.length - tail))];
}

function middle(x, y) {
  if (x.length * y.length > 250_000) return [...x.map((line) => ["del", line]), ...y.map((line) => ["add", line])];
  const table = Array.from({ length: x.length + 1 }, () => new Uint16Array(y.length + 1));
  for (let i = x.length - 1; i >= 0; i -= 1) for (let j = y.length - 1; j >= 0; j -= 1) table[i][j] = x[i] === y[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
  const out = [];
  let i = 0;
  let j = 0;
  while (i < x.length && j < y.length) {
    if (x[i] === y[j]) { out.push(["", x[i]]); i += 1; j += 1; } else if (table[i + 1][j] >= table[i][j + 1]) { out.push(["del", x[i]]); i += 1; } else { out.push(["add", y[j]]); j += 1; }
  }
  return [...out, ...x.slice(i).map((line) => ["del", line]), ...y.slice(j).map((line) => ["add", line])];
}
