// A list of any length: only what can be seen is in the document, its height is known before.
//
// Rows have one height. Groups (days) come first with their counts, so that every place is
// known before a row is there. Very high lists are scaled, as browsers end at some height.
import { h } from "./dom.js";

const TALLEST = 12_000_000;
const SPARE = 6; // rows beyond each edge

export class VirtualList {
  // make() -> a row; paint(row, index); head(el, group); wanted(first, last) before a draw.
  constructor({ scroller, make, paint, head, wanted, label }) {
    Object.assign(this, { scroller, make, paint, head, wanted });
    this.space = h("div", { class: "space", role: "list", "aria-label": label });
    this.sticky = h("div", { class: "daybar sticky", hidden: true, "aria-hidden": "true" });
    scroller.append(this.sticky, this.space);
    this.live = new Map();
    this.heads = new Map();
    this.pool = [];
    this.groups = [];
    this.total = 0;
    this.asked = false;
    scroller.addEventListener("scroll", () => this.later(), { passive: true });
    this.watch = new ResizeObserver(() => { this.measure(); this.draw(); });
    this.watch.observe(scroller);
  }

  measure() {
    const root = parseFloat(getComputedStyle(document.documentElement).fontSize);
    this.rowHeight = (matchMedia("(max-width: 719px)").matches ? 4.625 : 3.625) * root;
    this.headHeight = 2.125 * root;
    let y = 0;
    let from = 0;
    for (const group of this.groups) {
      group.y = y;
      group.from = from;
      group.headed = group.label ? this.headHeight : 0;
      y += group.headed + group.count * this.rowHeight;
      from += group.count;
    }
    this.total = from;
    this.height = y;
    this.shownHeight = Math.min(y, TALLEST);
    this.space.style.height = `${this.shownHeight}px`;
  }

  set(groups) {
    this.groups = groups;
    this.clear();
    this.measure();
    this.draw();
  }

  clear() {
    for (const el of this.live.values()) { el.remove(); this.pool.push(el); }
    for (const el of this.heads.values()) el.remove();
    this.live.clear();
    this.heads.clear();
  }

  later() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.draw(); });
  }

  // Where the view begins in the whole list; differs from scrollTop when the list is scaled.
  get y() {
    const view = this.scroller.clientHeight;
    const range = this.shownHeight - view;
    const real = this.height - view;
    return range > 0 && real > range ? (this.scroller.scrollTop / range) * real : this.scroller.scrollTop;
  }

  groupAt(y) {
    let low = 0;
    let high = this.groups.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.groups[middle].y <= y) low = middle; else high = middle - 1;
    }
    return low;
  }

  groupOf(index) {
    let low = 0;
    let high = this.groups.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.groups[middle].from <= index) low = middle; else high = middle - 1;
    }
    return this.groups[low];
  }

  top(index) {
    const group = this.groupOf(index);
    return group.y + group.headed + (index - group.from) * this.rowHeight;
  }

  draw() {
    if (!this.groups.length) { this.sticky.hidden = true; return; }
    const y = this.y;
    const view = this.scroller.clientHeight || 600;
    const over = this.rowHeight * SPARE;
    const shift = this.scroller.scrollTop - y;
    const { rows, heads } = this.visible(y - over, y + view + over);
    if (rows.length) this.wanted(rows[0], rows[rows.length - 1]);
    this.place(new Set(rows), new Set(heads), shift);
    this.stick(y);
  }

  visible(from, to) {
    const rows = [];
    const heads = [];
    for (let k = this.groupAt(Math.max(0, from)); k < this.groups.length && this.groups[k].y < to; k += 1) {
      const group = this.groups[k];
      if (group.headed) heads.push(k);
      const top = group.y + group.headed;
      const first = Math.max(0, Math.floor((from - top) / this.rowHeight));
      const last = Math.min(group.count, Math.ceil((to - top) / this.rowHeight));
      for (let n = first; n < last; n += 1) rows.push(group.from + n);
    }
    return { rows, heads };
  }

  place(rows, heads, shift) {
    const focused = this.space.contains(document.activeElement) ? document.activeElement.closest(".row") : null;
    for (const [index, el] of this.live) {
      if (!rows.has(index) && el !== focused) { el.remove(); this.pool.push(el); this.live.delete(index); }
    }
    for (const index of rows) {
      let el = this.live.get(index);
      if (!el) {
        el = this.pool.pop() || this.make();
        this.live.set(index, el);
        el.dataset.i = index;
        el.setAttribute("aria-posinset", index + 1);
        el.setAttribute("aria-setsize", this.total);
        this.paint(el, index);
        this.space.append(el);
      }
      el.style.transform = `translateY(${Math.round(this.top(index) + shift)}px)`;
    }
    for (const [k, el] of this.heads) if (!heads.has(k)) { el.remove(); this.heads.delete(k); }
    for (const k of heads) {
      let el = this.heads.get(k);
      if (!el) {
        el = h("div", { class: "daybar", "aria-hidden": "true" });
        this.head(el, this.groups[k]);
        this.heads.set(k, el);
        this.space.append(el);
      }
      el.style.transform = `translateY(${Math.round(this.groups[k].y + shift)}px)`;
    }
  }

  stick(y) {
    const group = this.groups[this.groupAt(y)];
    const hidden = !group.headed || y <= group.y;
    if (!hidden && this.stuck !== group) this.head(this.sticky, group);
    this.stuck = hidden ? null : group;
    this.sticky.hidden = hidden;
  }

  repaint() {
    for (const [index, el] of this.live) this.paint(el, index);
  }

  reveal(index) {
    const top = this.top(index);
    const view = this.scroller.clientHeight;
    const y = this.y;
    let wanted = y;
    if (top - this.headHeight < y) wanted = top - this.headHeight;
    else if (top + this.rowHeight > y + view) wanted = top + this.rowHeight - view;
    if (wanted !== y) this.scrollTo(wanted);
    this.draw();
  }

  scrollTo(y) {
    const view = this.scroller.clientHeight;
    const real = this.height - view;
    const range = this.shownHeight - view;
    this.scroller.scrollTop = real > range && real > 0 ? (y / real) * range : y;
  }

  row(index) {
    return this.live.get(index);
  }
}
