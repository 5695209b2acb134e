// My Work: what needs somebody, what can be looked at, what runs. The records say it, nothing guesses.
import { get, post } from "../api.js";
import { on } from "../bus.js";
import { fill, h, plain, words } from "../dom.js";
import { hostName, many, num } from "../format.js";
import { icon } from "../icons.js";
import { go } from "../route.js";
import { badge } from "../shell.js";
import { toast } from "../toast.js";
import { empty, failed, skeleton, time, typeMark } from "../ui.js";
import { prose } from "./memory.js";

const GROUPS = [
  ["needs", "Needs you", "question", "The agent asked something at the end of its turn."],
  ["ready", "Ready to check", "check", "The turn has ended; nobody has looked at the result."],
  ["doing", "In progress", "clock", "Events came in the last hours and the turn has not ended."],
  ["quiet", "No recent update", "clock", "Nothing came for 6 hours, and the turn has not ended."],
  ["checked", "Checked", "check", "Somebody looked at this result. New work brings it back."],
];

export function work(main, route) {
  return new Work(main, route);
}

class Work {
  constructor(main, route) {
    this.title = "My Work";
    this.list = h("section", { class: "list worklist", "aria-label": "Work" });
    this.panel = h("section", { class: "panel", "aria-label": "Record", tabindex: "-1" });
    this.root = h("div", { class: "memories" }, h("h1", { class: "sr" }, "My Work"), this.list, this.panel);
    this.off = [on("event", (event) => this.heard(event)), on("again", () => this.load())];
    fill(main, this.root);
    this.bones = setTimeout(() => fill(this.list, skeleton(8)), 120);
    this.update(route);
    this.load();
  }

  leave() { this.off.forEach((end) => end()); clearTimeout(this.bones); clearTimeout(this.soon); }

  update(route) {
    this.open = route.id;
    this.root.classList.toggle("open", Boolean(route.id));
    if (this.found) { this.draw(); this.show(); }
  }

  // News wait while somebody reads.
  heard(event) {
    if (event.type === "work_changed") { this.load(); return; }
    if (!/^(new_|session_|summarize)/.test(event.type)) return;
    clearTimeout(this.soon);
    this.soon = setTimeout(async () => {
      const found = await get("/api/work").catch(() => null);
      if (!found || JSON.stringify(found) === JSON.stringify(this.found)) return;
      if (this.open || String(getSelection() || "")) { this.waiting = found; this.draw(); } else { this.found = found; this.draw(); this.show(); }
    }, 500);
  }

  async load() {
    try {
      this.found = await get("/api/work");
      this.waiting = null;
      clearTimeout(this.bones);
      this.draw();
      this.show();
    } catch (error) { clearTimeout(this.bones); fill(this.list, failed(error, () => this.load())); }
  }

  draw() {
    const { items, counts } = this.found;
    badge("work", counts.needs ? num(counts.needs) : "");
    const head = counts.needs || counts.ready ? [counts.needs ? h("b", {}, `${num(counts.needs)} ${counts.needs === 1 ? "needs" : "need"} you`) : null, counts.needs && counts.ready ? ", " : "", counts.ready ? `${num(counts.ready)} to check` : ""] : "Nothing needs you.";
    fill(this.list, h("header", { class: "whead" }, h("p", { class: "big", "aria-hidden": "true" }, "My Work"), h("p", {}, head),
      this.waiting ? h("button", { type: "button", class: "btn", onclick: () => { this.found = this.waiting; this.waiting = null; this.draw(); this.show(); } }, "Show updates") : null),
    items.length ? GROUPS.map((group) => this.group(group, items)) : empty("Nothing was asked yet.", h("p", {}, "The first prompt of a session in any connected host appears here.")));
  }

  group([state, label, shape, title], items) {
    const rows = items.filter((one) => one.state === state);
    if (!rows.length) return null;
    return h("section", { class: `wgroup g-${state}` }, h("h2", { title }, label, h("span", { class: "num" }, num(rows.length))),
      h("ul", {}, rows.map((one) => h("li", {}, h("a", { class: "wrow", href: `/work/${one.id}`, "aria-current": String(one.id) === this.open ? "true" : null },
        h("span", { class: `wstate s-${state}` }, icon(shape)), h("span", { class: "title" }, words(one.title)), time(one.last_ms, { cls: "when" }),
        h("span", { class: "meta" }, h("span", { class: "cut" }, state === "needs" ? words(one.ask) : [words(one.project), " \u00b7 ", words(hostName(one.host))])))))));
  }

  async show() {
    const first = this.found.items.find((one) => one.state === "needs") || this.found.items[0];
    const id = this.open || (matchMedia("(min-width: 1024px)").matches && first ? String(first.id) : "");
    if (!id) { fill(this.panel, this.found.items.length ? h("div", { class: "empty" }, h("p", {}, "Pick a record to read it.")) : null); return; }
    try { this.one = await get(`/api/work/${id}`); this.record(this.one); } catch (error) { fill(this.panel, failed(error)); }
  }

  record(one) {
    const checked = one.state === "checked";
    const [, label] = GROUPS.find(([state]) => state === one.state);
    const section = (title, text) => (text ? h("section", {}, h("h3", { class: "sh" }, title), prose(text)) : null);
    fill(this.panel, h("header", { class: "mhead" },
      h("a", { class: "btn quiet icon backbtn", href: "/", "aria-label": "Back to the list" }, icon("back")), h("span", { class: "mid" }, label),
      h("div", { class: "acts" }, h("button", { type: "button", class: "btn", title: "Copy handoff", onclick: () => this.handoff(one) }, icon("copy"), h("span", { class: "bt" }, "Copy handoff")),
        h("button", { type: "button", class: checked ? "btn" : "btn primary", onclick: () => this.check(one, !checked) }, checked ? "Not checked" : "Mark checked"))),
    h("div", { class: "mbody" }, h("article", { class: "mtext narrow" },
      one.state === "needs" ? h("div", { class: "callout" }, h("h2", {}, "It asks"), h("p", {}, words(one.ask)), h("p", { class: "dim" }, `Answer in the ${hostName(one.host)} conversation. This page only shows it.`)) : null,
      h("h2", { class: "mtitle" }, words(one.title)),
      h("p", { class: "mline" }, words(one.project), h("span", { class: "sep" }, words(hostName(one.host))), h("span", { class: "sep" }, time(one.last_ms, { word: true })), h("span", { class: "sep" }, h("a", { class: "link", href: `/session/${one.id}` }, `session ${one.id}`))),
      section("Result", one.result), section("Next step", one.next),
      one.done.length ? h("section", {}, h("h3", { class: "sh" }, "Done before"), h("ul", { class: "facts" }, one.done.map((text) => h("li", {}, words(text))))) : null,
      section("What was asked", one.request),
      one.memories.length ? h("section", {}, h("h3", { class: "sh" }, many(one.memories.length, "memory", "memories")), h("ul", { class: "plainlist" }, one.memories.map((card) => h("li", {}, typeMark(card.type), h("a", { class: "link", href: `/memories/${card.key}` }, words(card.title || `#${card.key}`)))))) : null)));
  }

  async check(one, yes) {
    const act = (on_) => post(`/api/work/${one.id}/${on_ ? "check" : "uncheck"}`, on_ ? { version: one.version } : {});
    try { await act(yes); toast(yes ? "Checked. New work brings it back." : "Not checked any more.", () => act(!yes)); await this.load(); } catch (error) { toast(error.message); }
  }

  async handoff(one) {
    const text = [["Asked", one.request], ["State", GROUPS.find(([s]) => s === one.state)[1]], ["Result", one.result], ["Next step", one.next], ["Open question", one.ask]]
      .filter(([, said]) => said).map(([name, said]) => `${name}: ${plain(said)}`).join("\n\n");
    try { await navigator.clipboard.writeText(text); toast("Copied the handoff."); } catch {
      const area = h("textarea", { class: "ex", readonly: true, value: text, "aria-label": "Handoff" });
      this.panel.querySelector(".mtext").prepend(area);
      area.select();
    }
  }

  keys(key) {
    const at = this.found?.items.findIndex((one) => String(one.id) === this.open);
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[key];
    if (step && this.found?.items.length) { const next = this.found.items[Math.min(this.found.items.length - 1, Math.max(0, at + step))]; go(`/work/${next.id}`, { replace: Boolean(this.open) }); return true; }
    if (key === "Escape" && this.open) { go("/"); return true; }
    if (key === "/") { go("/memories"); return true; }
    return false;
  }
}
