// The memories behind the list: days first, rows as they are looked at, a few thousand kept.
import { get } from "./api.js";
import { day } from "./format.js";

const PAGE = 100;
const KEPT = 4000;

export class Feed {
  // changed(): rows came or went. ready(): groups are new.
  constructor({ changed, failed }) {
    this.changed = changed;
    this.failed = failed;
    this.filter = {};
    this.reset([], 0);
  }

  reset(groups, total) {
    this.groups = groups;
    this.total = total;
    this.rows = new Map();
    this.running = new Map();
    this.about = null;
    this.more = false;
  }

  get searching() {
    return Boolean(this.filter.q);
  }

  params() {
    const { q, project, type, host, from, to, state } = this.filter;
    return { q, project, type: type?.join(","), platformSource: host, from, to, state };
  }

  // What the page came with: days and the first rows in one answer.
  prefill(start) {
    this.reset(groupsOf(start.days), start.total);
    start.page.items.forEach((card, index) => this.rows.set(index, card));
  }

  async load(filter, signal) {
    this.filter = filter;
    if (this.searching || filter.state === "deleted") return this.find(signal);
    const params = this.params();
    const [outline, page] = await Promise.all([
      get("/api/memories/outline", { ...params, q: "" }, signal),
      get("/api/memories", { ...params, limit: PAGE }, signal),
    ]);
    if (this.filter !== filter) return;
    this.reset(groupsOf(outline.days), outline.total);
    page.items.slice(0, this.total).forEach((card, index) => this.rows.set(index, card));
  }

  async find(signal) {
    const { filter } = this;
    const found = await get("/api/memories", { ...this.params(), limit: PAGE }, signal);
    if (this.filter !== filter) return;
    this.reset([{ count: found.items.length, label: "" }], found.items.length);
    this.about = found;
    this.more = Boolean(found.more);
    found.items.forEach((card, index) => this.rows.set(index, card));
  }

  // The same list again: what is in view is fetched first, then all changes at once.
  async reload(first, last, signal) {
    const { filter } = this;
    const params = this.params();
    if (this.searching || params.state === "deleted") return this.find(signal);
    const outline = await get("/api/memories/outline", { ...params, q: "" }, signal);
    const next = new Feed({ changed: this.changed, failed: this.failed });
    next.filter = filter;
    next.reset(groupsOf(outline.days), outline.total);
    await Promise.all(next.needed(first, last).map((one) => next.fetch(one)));
    if (this.filter !== filter) return; // another list was asked for meanwhile
    Object.assign(this, { groups: next.groups, total: next.total, rows: next.rows, running: new Map() });
  }

  at(index) {
    return this.rows.get(index);
  }

  indexOf(key) {
    for (const [index, card] of this.rows) if (card.key === key) return index;
    return -1;
  }

  // Fetch what rows `first` to `last` lack; requests for places that were left are ended.
  want(first, last) {
    if (this.searching) {
      if (this.more && last >= this.total - 10) this.further();
      return;
    }
    const needed = this.needed(first, last);
    const names = new Set(needed.map((one) => one.name));
    for (const [name, one] of this.running) if (!names.has(name)) { one.abort(); this.running.delete(name); }
    for (const one of needed) {
      if (this.running.has(one.name)) continue;
      const control = new AbortController();
      this.running.set(one.name, control);
      this.fetch(one, control.signal).then(() => { this.trim(first, last); this.changed(); }, (error) => {
        if (error.name !== "AbortError") this.failed(error);
      }).finally(() => this.running.delete(one.name));
    }
  }

  needed(first, last) {
    const found = new Map();
    let from = 0;
    for (const group of this.groups) {
      const low = Math.max(first, from);
      const high = Math.min(last, from + group.count - 1);
      for (let index = low; index <= high; index += 1) {
        if (this.rows.has(index)) continue;
        const page = Math.floor((index - from) / PAGE);
        found.set(`${from}:${page}`, { name: `${from}:${page}`, group, start: from, page });
        index = from + (page + 1) * PAGE - 1;
      }
      from += group.count;
      if (from > last) break;
    }
    return [...found.values()];
  }

  async fetch({ group, start, page }, signal) {
    const base = start + page * PAGE;
    const before = this.rows.get(base - 1);
    const params = { ...this.params(), from: group.from_ms > 1e9 ? group.from_ms : "", to: group.to_ms, limit: PAGE };
    // The key of the row above goes on where it ends; without it the day is walked to the place.
    if (page > 0 && before) params.before = placeOf(before); else params.offset = page * PAGE;
    const found = await get("/api/memories", params, signal);
    found.items.forEach((card, k) => { if (page * PAGE + k < group.count) this.rows.set(base + k, card); });
  }

  async further() {
    if (this.running.has("more")) return;
    const control = new AbortController();
    this.running.set("more", control);
    try {
      const found = await get("/api/memories", { ...this.params(), limit: PAGE, offset: this.total }, control.signal);
      found.items.forEach((card, k) => this.rows.set(this.total + k, card));
      this.total += found.items.length;
      this.more = Boolean(found.more) && found.items.length > 0;
      this.groups = [{ count: this.total, label: "" }];
      this.changed(true);
    } catch (error) {
      if (error.name !== "AbortError") this.failed(error);
    } finally { this.running.delete("more"); }
  }

  trim(first, last) {
    if (this.rows.size <= KEPT) return;
    const middle = (first + last) / 2;
    const far = [...this.rows.keys()].sort((a, b) => Math.abs(b - middle) - Math.abs(a - middle));
    for (const index of far.slice(0, this.rows.size - KEPT * 0.75)) this.rows.delete(index);
  }

  replace(card) {
    const index = this.indexOf(card.key);
    if (index >= 0) this.rows.set(index, { ...this.rows.get(index), ...card });
    return index;
  }

  // Take a row out; everything below moves up.
  remove(key) {
    const gone = this.indexOf(key);
    if (gone < 0) return -1;
    const kept = new Map();
    for (const [index, card] of this.rows) if (index !== gone) kept.set(index > gone ? index - 1 : index, card);
    this.rows = kept;
    let from = 0;
    for (const group of this.groups) {
      if (gone < from + group.count) { group.count -= 1; break; }
      from += group.count;
    }
    this.groups = this.groups.filter((group) => group.count > 0);
    this.total -= 1;
    return gone;
  }
}

const placeOf = (card) => `${card.t}-${card.key.startsWith("S") ? 1 : 0}-${card.key.replace("S", "")}`;

const groupsOf = (days) => days.map(([from_ms, to_ms, count]) => ({ from_ms, to_ms, count, label: day(from_ms) }));
