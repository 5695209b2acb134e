// The list itself: rows, the pill with new ones, the selection.
import { fill, h, marked, plain } from "../dom.js";
import { hostName, knownType, many, num, typeName } from "../format.js";
import { icon } from "../icons.js";
import { go } from "../route.js";
import { empty, failed, flags, setTime, skeleton, time } from "../ui.js";
import { VirtualList } from "../vlist.js";

export function listView(page) {
  return new List(page);
}

class List {
  constructor(page) {
    this.page = page;
    this.cursor = -1;
    this.fresh = new Set();
    this.head = h("div", { class: "listhead" });
    this.scroller = h("div", { class: "scroller" });
    this.pill = h("button", { type: "button", class: "newer", hidden: true, onclick: () => page.showNew() });
    this.note = h("div", { class: "note", hidden: true });
    this.bulk = h("div", { class: "bulkbar", hidden: true, role: "toolbar", "aria-label": "Selected memories" });
    this.root = h("div", { class: "listbox" }, this.head, h("div", { class: "holder" }, this.scroller, this.note, this.pill), this.bulk);
    this.rowsSeen = [0, 0];
    this.v = new VirtualList({
      scroller: this.scroller, label: "Memories",
      make: () => this.make(), paint: (el, index) => this.paint(el, index),
      head: (el, group) => fill(el, h("span", {}, group.label), h("span", { class: "num" }, num(group.count))),
      wanted: (first, last) => { this.rowsSeen = [first, last]; this.page.feed.want(first, last); },
    });
  }

  range() { return this.rowsSeen; }
  scrolled() { return this.scroller.scrollTop > 4; }
  focused() { return this.scroller.contains(document.activeElement); }

  // Old rows stay until the new ones are there; bones are shown only when there is nothing.
  waiting() {
    clearTimeout(this.bones);
    if (this.page.started) return;
    this.bones = setTimeout(() => { this.note.hidden = false; fill(this.note, skeleton(10)); }, 120);
  }

  show({ keep = false, top = false } = {}) {
    clearTimeout(this.bones);
    const { feed } = this.page;
    const at = this.scroller.scrollTop;
    const held = this.focused() ? document.activeElement.closest(".row")?.dataset.key : "";
    this.v.set(feed.groups);
    this.scroller.scrollTop = keep ? at : 0;
    if (!keep || top) this.cursor = -1;
    this.note.hidden = feed.total > 0;
    fill(this.note, feed.total ? null : empty(this.page.emptyText(), this.page.filtered ? this.page.clearButton()
      : h("p", {}, "Start a session in any connected host; the first memory appears here.")));
    this.page.bar.days(this.page.filter.q ? [] : feed.groups);
    this.drawHead();
    this.selection();
    if (held) this.focusKey(held);
  }

  drawHead() {
    const { feed, filter } = this.page;
    const about = feed.about;
    if (!filter.q) {
      const kind = { deleted: "deleted", pinned: "pinned", wrong: "marked wrong", replaced: "replaced" }[filter.state];
      fill(this.head, h("span", { class: "count" }, kind ? `${num(feed.total)} ${kind}` : many(feed.total, "memory", "memories")),
        h("span", { class: "how" }, h("span", { class: "dot" }), "live"));
      return;
    }
    const meant = (about?.methods || []).some((name) => name !== "keyword");
    fill(this.head, h("span", { class: "count" }, `${num(feed.total)}${feed.more ? "+" : ""} ${feed.total === 1 ? "result" : "results"}`),
      h("span", { class: "how" }, about && about.coverage < 1 ? h("a", { class: "link warn", href: "/status" }, `${Math.floor(about.coverage * 100)}% indexed`) : null,
        h("span", { class: "ways" }, meant ? "words and meaning" : "words", ` \u00b7 ${Math.round(about?.took_ms || 0)} ms`)));
  }

  failed(error, again) {
    clearTimeout(this.bones);
    if (this.page.feed.total && !again) return;
    this.note.hidden = false;
    fill(this.note, failed(error, again || (() => this.page.load())));
  }

  rows(grown) {
    if (grown) { const at = this.scroller.scrollTop; this.v.set(this.page.feed.groups); this.scroller.scrollTop = at; this.drawHead(); } else this.v.repaint();
  }

  repaint() { this.v.repaint(); }

  make() {
    const parts = {
      mark: h("button", { type: "button", class: "ticon", tabindex: "-1" }), title: h("span", { class: "title" }),
      place: h("span", { class: "cut" }), flags: h("span", { class: "flags" }), when: time(Date.now(), { cls: "when" }),
    };
    const link = h("a", { class: "rowlink", tabindex: "-1" }, parts.title, h("span", { class: "meta" }, parts.place, parts.flags, parts.when));
    const el = h("div", { class: "row", role: "listitem" }, parts.mark, link);
    el.parts = { ...parts, link };
    parts.mark.addEventListener("click", (event) => { event.preventDefault(); this.toggle(el.dataset.key, Number(el.dataset.i)); });
    link.addEventListener("focus", () => { this.cursor = Number(el.dataset.i); this.tabStop(); });
    return el;
  }

  paint(el, index) {
    const card = this.page.feed.at(index);
    const { mark, title, place, flags: flagBox, when, link } = el.parts;
    el.classList.toggle("bare", !card);
    el.dataset.key = card?.key || "";
    if (!card) {
      fill(title); fill(place); fill(flagBox); fill(mark);
      when.textContent = "";
      link.removeAttribute("href");
      link.setAttribute("aria-label", "Loading");
      return;
    }
    const picked = this.page.picked.has(card.key);
    link.removeAttribute("aria-label");
    link.setAttribute("href", this.page.path({ open: card.key }));
    mark.className = picked ? "ticon tick" : `ticon type-${knownType(card.type)}`;
    mark.setAttribute("aria-label", `${picked ? "Deselect" : "Select"} ${card.key}`);
    mark.setAttribute("aria-pressed", String(picked));
    fill(mark, icon(picked ? "check" : card.type));
    fill(title, h("span", { class: "sr" }, `${typeName(card.type)}: `), card.title ? marked(card.title, this.page.filter.q) : h("i", {}, "(no title)"));
    fill(place, h("bdi", {}, plain(card.project)), " \u00b7 ", h("bdi", {}, plain(hostName(card.host))));
    fill(flagBox, flags(card.flags));
    setTime(when, card.deleted_ms || card.t);
    el.classList.toggle("struck", card.flags.includes("wrong") || card.flags.includes("deleted"));
    el.classList.toggle("picked", picked);
    el.classList.toggle("peek", card.key === this.peeked);
    el.classList.toggle("fresh", this.fresh.has(card.key));
    if (card.key === this.current) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
    link.tabIndex = index === Math.max(0, this.cursor) ? 0 : -1;
  }

  // One stop for Tab in the whole list.
  tabStop() {
    for (const [index, el] of this.v.live) el.parts.link.tabIndex = index === Math.max(0, this.cursor) ? 0 : -1;
  }

  opened(key) {
    this.current = key;
    const index = key ? this.page.feed.indexOf(key) : -1;
    if (index >= 0) { this.cursor = index; this.v.reveal(index); }
    this.v.repaint();
  }

  peek(key) { this.peeked = key || ""; this.v.repaint(); }

  step(by) {
    const next = Math.min(this.page.feed.total - 1, Math.max(0, this.cursor + by));
    this.cursor = next;
    this.v.reveal(next);
    this.tabStop();
    this.v.row(next)?.parts.link.focus({ preventScroll: true });
    return next;
  }

  enterList() { this.cursor = -1; this.step(1); }
  focusFirst() { this.v.row(Math.max(0, this.cursor))?.parts.link.focus({ preventScroll: true }); }

  focusKey(key) {
    const index = this.page.feed.indexOf(key);
    if (index < 0) return;
    this.cursor = index;
    this.v.reveal(index);
    this.tabStop();
    this.v.row(index)?.parts.link.focus({ preventScroll: true });
  }

  enter() {
    const card = this.page.feed.at(Math.max(0, this.cursor));
    if (!card) return false;
    go(this.page.path({ open: card.key }));
    return true;
  }

  jump(group) {
    this.v.scrollTo(group.y + 1);
    this.v.draw();
  }

  newer(count) {
    this.pill.hidden = !count;
    if (count) fill(this.pill, icon("up"), `${num(count)} new`, h("kbd", { "aria-hidden": "true" }, "."));
  }

  glow(keys) {
    this.fresh = new Set(keys);
    this.v.repaint();
    setTimeout(() => { this.fresh = new Set(); this.v.repaint(); }, 2600);
  }

  pick() {
    const card = this.page.feed.at(Math.max(0, this.cursor));
    if (card) this.toggle(card.key, Math.max(0, this.cursor));
  }

  toggle(key, index) {
    if (!key || this.page.filter.state === "deleted") return;
    const { picked } = this.page;
    this.page.all = false;
    if (picked.has(key)) picked.delete(key); else picked.add(key);
    this.cursor = index;
    this.v.repaint();
    this.selection();
  }

  selection() {
    const count = this.page.picked.size;
    this.bulk.hidden = !count;
    if (!count) return;
    const act = (action, label, shape, tone = "") => choice(() => this.page.many(action), label, shape, tone);
    const choice = (fn, label, shape, tone = "") => h("button", { type: "button", class: `btn quiet ${tone}`, onclick: fn }, icon(shape), label);
    const { all, feed } = this.page;
    const whole = all || !this.page.allowsAll ? null : h("button", { type: "button", class: "btn quiet", onclick: () => { this.page.all = true; this.selection(); } }, `All ${num(feed.total)}`);
    fill(this.bulk, h("b", { role: "status" }, all ? `All ${num(feed.total)} selected` : `${num(count)} selected`), whole, h("span", { class: "right" }, act("pin", "Pin", "pin"), act("wrong", "Wrong", "wrong"),
      !all && count > 1 ? choice(() => this.page.merge(), "Merge", "merge") : null,
      act("delete", "Delete", "deleted", "danger"), choice(() => this.page.forget(), "Forget", "forget", "danger")));
  }
}
