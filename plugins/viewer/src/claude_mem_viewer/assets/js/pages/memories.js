// The list and, beside it, one memory. Filters and what is open stand in the address.
import { get, post } from "../api.js";
import { on } from "../bus.js";
import { fill, h, say } from "../dom.js";
import { many } from "../format.js";
import { Feed } from "../feed.js";
import { icon } from "../icons.js";
import { go } from "../route.js";
import { toast } from "../toast.js";
import { confirmed } from "../ui.js";
import { filters } from "./filters.js";
import { forgetting } from "./forget.js";
import { listView } from "./list.js";
import { memoryView } from "./memory.js";
import { merging } from "./merge.js";

const WIDE = matchMedia("(min-width: 1024px)");
const NAMES = ["q", "project", "type", "host", "from", "to", "state"];
const SEVERAL = new Set(["project", "type"]); // a list each; the others hold one value
const WAIT_MS = 90;

export const nothing = () => Object.fromEntries(NAMES.map((name) => [name, SEVERAL.has(name) ? [] : ""]));

export function memories(main, route) {
  const view = new Memories(main);
  view.update(route);
  return view;
}

class Memories {
  constructor(main) {
    this.title = "Memories";
    this.filter = null;
    this.open = "";
    this.picked = new Set();
    this.all = false; // the whole list is chosen, not only what is picked
    this.feed = new Feed({ changed: (grown) => this.list.rows(grown), failed: (error) => this.list.failed(error) });
    this.list = listView(this);
    this.bar = filters(this);
    this.panel = h("section", { class: "panel", "aria-label": "Memory", tabindex: "-1" });
    this.memory = memoryView(this.panel, this);
    this.root = h("div", { class: "memories" }, h("h1", { class: "sr" }, "Memories"),
      h("section", { class: "list", "aria-label": "Memories" }, this.bar.root, this.list.root), this.panel);
    fill(main, this.root);
    this.off = [on("event", (event) => this.heard(event)), on("again", () => this.refresh())];
  }

  leave() {
    this.off.forEach((end) => end());
    this.memory.leave();
    this.loading?.abort();
    clearTimeout(this.timer);
  }

  stays(then) { return this.memory.stays(then); }

  update(route) {
    if (route.id !== this.open && this.memory.stays(() => this.update(route))) return;
    const filter = Object.fromEntries(NAMES.map((name) => [name, SEVERAL.has(name) ? route.params.getAll(name) : route.params.get(name) || ""]));
    const same = this.filter && NAMES.every((name) => String(this.filter[name]) === String(filter[name]));
    this.open = route.id;
    this.root.classList.toggle("open", Boolean(route.id));
    if (!same) {
      this.filter = filter;
      this.bar.show(filter);
      this.load();
    }
    this.list.opened(this.open);
    // Until the new list is there, nothing is the best of it.
    if (same || this.open) this.showMemory();
  }

  // The address with other filters or another memory open.
  path({ filter = this.filter, open = this.open } = {}) {
    const given = NAMES.flatMap((name) => [filter[name]].flat().filter(Boolean).map((value) => [name, value]));
    const query = new URLSearchParams(given).toString();
    return `/memories${open ? `/${open}` : ""}${query ? `?${query}` : ""}`;
  }

  choose(change, { wait = false } = {}) {
    const filter = { ...this.filter, ...change };
    clearTimeout(this.timer);
    const act = () => go(this.path({ filter, open: "" }), { replace: wait });
    if (wait) this.timer = setTimeout(act, WAIT_MS); else act();
  }

  get filtered() { return NAMES.some((name) => this.filter[name].length); }

  async load() {
    this.loading?.abort();
    const control = new AbortController();
    this.loading = control;
    this.picked.clear();
    this.all = false;
    this.list.waiting();
    try {
      if (!this.started && !this.filtered) this.feed.prefill(await get("/api/viewer/start", {}, control.signal));
      else await this.feed.load(this.filter, control.signal);
      if (control.signal.aborted) return;
      this.started = true;
      this.list.show();
      this.showMemory();
      if (this.filter.q) say(many(this.feed.total, "result"));
    } catch (error) {
      if (error.name !== "AbortError") this.list.failed(error, () => this.load());
    }
  }

  // The same list with what has changed since; nothing moves unless rows came or went.
  async refresh() {
    if (!this.started) { this.load(); return; }
    try {
      await this.feed.reload(...this.list.range());
      this.list.show({ keep: true });
      this.list.newer(0);
      this.showMemory({ again: true });
    } catch { /* the next change or the line above says it */ }
  }

  showMemory({ again = false } = {}) {
    if (this.open) { this.memory.show(this.open, { again }); return; }
    // Nothing is picked: the newest, or the best match, is looked at without being opened.
    const first = this.feed.at(0);
    if (WIDE.matches && first) this.memory.show(first.key, { peek: this.filter.q ? "Best match" : "Newest", again, undo: first.undo });
    else this.memory.none(this.started && !this.feed.total);
    this.list.peek(this.open || !WIDE.matches ? "" : first?.key);
  }

  heard(event) {
    if (event.type === "memory_changed") {
      if (event.changed.length > 50 || !event.changed.length) this.refresh(); else event.changed.forEach((one) => this.changed(one));
    }
    if (event.type === "new_observation" || event.type === "new_summary") this.arrived();
  }

  arrived() {
    clearTimeout(this.soon);
    this.soon = setTimeout(() => this.lookForNew(), 250);
  }

  async lookForNew() {
    if (this.filter.q || this.filter.state || !this.started) return;
    const found = await get("/api/memories", { ...this.feed.params(), limit: 100 }).catch(() => null);
    if (!found) return;
    const top = this.feed.at(0);
    const fresh = found.items.filter((card) => this.feed.indexOf(card.key) < 0 && (!top || card.t >= top.t));
    if (!fresh.length) return;
    if (this.reading()) {
      this.list.newer(fresh.length);
      if (!this.told) say(`${many(fresh.length, "new memory", "new memories")}. Press full stop to show.`);
      this.told = true;
    } else await this.showNew(fresh.map((card) => card.key));
  }

  reading() {
    const selected = String(getSelection() || "").length > 0;
    return Boolean(this.open || this.filtered || this.picked.size || selected || this.list.scrolled() || this.list.focused() || this.memory.busy);
  }

  async showNew(keys) {
    this.told = false;
    const before = new Set([...this.feed.rows.values()].map((card) => card.key));
    await this.feed.reload(0, 40);
    this.list.show({ top: true });
    this.list.newer(0);
    const fresh = keys || [...this.feed.rows.values()].slice(0, 41).map((card) => card.key).filter((key) => !before.has(key));
    this.list.glow(fresh);
    this.showMemory();
  }

  // Somebody changed a memory: here, in another tab, on the command line.
  async changed({ key, action }) {
    if (action === "delete" && this.filter.state !== "deleted") {
      this.dropped(key);
    } else if (action === "undo delete" || (this.filter.state && action !== "edit")) {
      await this.refresh(); // it may have come into this list, or left it
    } else {
      const card = await get(`/api/memories/${key}`).catch(() => null);
      if (card && this.feed.replace(card) >= 0) this.list.repaint();
    }
    if (this.memory.key === key) this.memory.show(key, { again: true, peek: this.memory.peek });
  }

  dropped(key) {
    if (this.feed.remove(key) < 0) return;
    this.picked.delete(key);
    this.list.show({ keep: true });
    if (!this.open) this.showMemory();
  }

  async act(keys, action, said) {
    const next = this.open && action === "delete" ? this.neighbour(keys) : null;
    const answer = await post("/api/memories/bulk", { keys, action });
    const undo = answer.changed.map((one) => one.undo).filter(Boolean);
    keys.forEach((key) => { if (action === "delete") this.dropped(key); });
    if (next !== null) go(this.path({ open: next }), { replace: true });
    this.unpick();
    toast(said, undo.length ? () => this.undo(undo) : null);
    return answer;
  }

  async undo(numbers) {
    try { await post("/api/undo", { undo: numbers }); } catch (error) { toast(error.message); }
    await this.refresh();
  }

  // The memory that is opened when these are gone.
  neighbour(keys) {
    const at = this.feed.indexOf(keys[0]);
    if (at < 0) return "";
    for (let step = 1; step < 50; step += 1) {
      const card = this.feed.at(at + step) || this.feed.at(at - step);
      if (card && !keys.includes(card.key)) return card.key;
    }
    return "";
  }

  // Whether every memory of the list can be chosen: the filter is sent, not their numbers.
  get allowsAll() { return !this.filter.q && this.feed.total > this.picked.size; }

  // The list as it is filtered, for the worker.
  get whole() {
    const { project, type, host, from, to, state } = this.filter;
    const given = Object.entries({ project, type, platformSource: host, from, to, state }).filter(([, v]) => v.length);
    return { filter: Object.fromEntries(given), count: this.feed.total };
  }

  async every(action, said) {
    const { filter, count } = this.whole;
    const title = { delete: "Delete them all?", pin: "Pin them all?", wrong: "Mark them all wrong?" }[action];
    const label = { delete: "Delete", pin: "Pin", wrong: "Mark wrong" }[action];
    if (!(await confirmed(title, `${many(count, "memory", "memories")} of this list. It can be undone.`, label))) return;
    const answer = await post("/api/memories/bulk", { filter, count, action });
    const undo = answer.changed.map((one) => one.undo).filter(Boolean);
    this.unpick();
    await this.refresh();
    toast(said, undo.length ? () => this.undo(undo) : null);
  }

  unpick() {
    this.picked.clear();
    this.all = false;
    this.list.repaint();
    this.list.selection();
  }

  forget(keys) { forgetting(this, keys); }
  merge() { merging(this); }

  async many(action) {
    const keys = [...this.picked];
    const said = { delete: "Deleted %. They can be brought back for 7 days.", pin: "Pinned %.", wrong: "Marked % wrong." }[action];
    if (this.all) {
      try { await this.every(action, said.replace("%", many(this.feed.total, "memory", "memories"))); } catch (error) { toast(error.message); }
      return;
    }
    if (action === "delete" && keys.length > 20 && !(await confirmed("Delete these?", `${many(keys.length, "memory", "memories")} will be deleted. They can be brought back for 7 days.`, "Delete"))) return;
    try { await this.act(keys, action, said.replace("%", many(keys.length, "memory", "memories"))); } catch (error) { toast(error.message); }
  }

  move(step) {
    const index = this.list.step(step);
    const card = this.feed.at(index);
    if (card && this.open) go(this.path({ open: card.key }), { replace: true });
  }

  keys(key, event) {
    if (this.memory.keys(key, event)) return true;
    if (key === "j" || key === "ArrowDown") { this.move(1); return true; }
    if (key === "k" || key === "ArrowUp") { this.move(-1); return true; }
    if (key === "/") { this.bar.focus(); return true; }
    if (key === ".") { this.showNew(); return true; }
    if (key === "x") { this.list.pick(); return true; }
    if (key === "m" && this.picked.size > 1) { this.merge(); return true; }
    if (key === "f" && this.picked.size) { this.forget(); return true; }
    if (key === "Enter" && !event.target.closest("a, button, summary")) { return this.list.enter(); }
    if (key === "Escape") return this.escape(event);
    return false;
  }

  escape(event) {
    if (this.bar.owns(event.target)) { this.bar.escape(); return true; }
    if (this.picked.size) { this.unpick(); return true; }
    if (this.open) { const key = this.open; go(this.path({ open: "" })); this.list.focusKey(key); return true; }
    return false;
  }

  emptyText() {
    if (this.filter.q) return `Nothing matches \u201c${this.filter.q}\u201d.`;
    if (this.filter.state === "deleted") return "Nothing was deleted in the last 7 days.";
    return this.filtered ? "No memory fits these filters." : "No memories yet.";
  }

  clearButton() {
    return this.filtered ? h("button", { type: "button", class: "btn", onclick: () => this.choose(nothing()) }, icon("x"), "Clear") : null;
  }
}
