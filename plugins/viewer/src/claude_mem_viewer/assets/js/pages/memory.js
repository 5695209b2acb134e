// One memory: its words, what can be done with it, what it came from and where it went.
import { get, post } from "../api.js";
import { fill, h, plain, say, words } from "../dom.js";
import { full, hostName, num } from "../format.js";
import { icon } from "../icons.js";
import { go } from "../route.js";
import { toast } from "../toast.js";
import { failed, flags, long, skeleton, time, typeMark } from "../ui.js";
import { editor } from "./edit.js";
import { evidence } from "./evidence.js";
import { confirmIt, outdated, useful, verdict, verifyBanner } from "./verdict.js";

const SUMMARY = [["request", "What was asked"], ["investigated", "Looked into"], ["learned", "Learned"], ["completed", "Done"], ["next_steps", "Next"], ["notes", "Notes"]];

export function memoryView(panel, page) {
  return new MemoryView(panel, page);
}

class MemoryView {
  constructor(panel, page) {
    this.panel = panel;
    this.page = page;
    this.key = "";
    this.peek = "";
    this.edit = null;
  }

  get busy() { return Boolean(this.edit); }
  leave() { this.loading?.abort(); }

  // Words that were typed and not saved stay until somebody says that they may go.
  stays(then) {
    if (!this.edit?.dirty()) return false;
    this.edit.asked(() => { this.edit = null; then(); });
    return true;
  }

  none(nothing) {
    this.loading?.abort();
    this.key = "";
    fill(this.panel, nothing ? null : h("div", { class: "empty" }, h("p", {}, "Pick a memory to read it.")));
  }

  async show(key, { peek = "", again = false } = {}) {
    if (this.key === key && !again) { if (this.peek !== peek) { this.peek = peek; this.draw(); } return; }
    if (this.edit) { if (this.key === key) return; this.edit = null; }
    this.loading?.abort();
    const control = new AbortController();
    this.loading = control;
    const fresh = this.key !== key;
    this.key = key;
    this.peek = peek;
    const bones = setTimeout(() => { if (fresh) fill(this.panel, skeleton(5)); }, 120);
    try {
      const found = await get(`/api/memories/${encodeURIComponent(key)}`, {}, control.signal);
      if (control.signal.aborted) return;
      this.found = found;
      this.draw();
      if (fresh) this.panel.scrollTop = 0;
    } catch (error) {
      if (error.name === "AbortError") return;
      if (error.status === 404) this.gone(); else fill(this.panel, failed(error, () => this.show(key, { again: true })));
    } finally { clearTimeout(bones); }
  }

  gone() {
    const card = this.page.feed.at(this.page.feed.indexOf(this.key));
    this.found = null;
    if (card?.undo) {
      fill(this.panel, this.head(card, []), h("div", { class: "mbody" }, h("div", { class: "banner bad" }, icon("deleted"),
        h("p", {}, "Deleted ", time(card.deleted_ms, { word: true }), ", gone for good 7 days after that."),
        h("button", { type: "button", class: "btn", onclick: () => this.bringBack(card) }, "Bring back")), h("h2", { class: "mtitle" }, words(card.title))));
      return;
    }
    fill(this.panel, h("div", { class: "empty" }, h("p", { class: "big" }, `There is no memory #${this.key}.`),
      h("p", {}, "It may have been deleted: ", h("a", { class: "link", href: "/memories?state=deleted" }, "deleted memories"))));
  }

  async bringBack(card) {
    try {
      await post("/api/undo", { undo: [card.undo] });
      toast(`#${card.key} is back.`);
      this.page.dropped(card.key);
      if (this.page.open) go(`/memories/${card.key}`);
    } catch (error) { toast(error.message); }
  }

  head(found, acts) {
    const copy = h("button", { type: "button", class: "id num", title: "Copy the number", onclick: () => this.copy() }, `#${found.key}`);
    return h("header", { class: "mhead" },
      h("a", { class: "btn quiet icon backbtn", href: this.page.path({ open: "" }), "aria-label": "Back to the list" }, icon("back")),
      typeMark(found.type), copy, h("div", { class: "acts" }, acts));
  }

  draw() {
    const found = this.found;
    if (!found || found.key !== this.key) return;
    const summary = found.key.startsWith("S");
    const held = this.panel.contains(document.activeElement) ? document.activeElement : null;
    fill(this.panel, this.head(found, this.acts(found)), h("div", { class: "mbody" }, h("div", { class: "mcols" },
      h("article", { class: "mtext" }, this.peek ? h("p", { class: "label" }, this.peek) : null, this.banners(found),
        h("h2", { class: "mtitle" }, summary ? words(found.fields.request || "(no request)") : found.fields.title ? words(found.fields.title) : h("i", {}, "(no title)")),
        this.line(found), summary ? this.summary(found.fields) : this.observation(found.fields), this.about(found), verdict(found, this)),
      evidence(found, this.page))));
    if (held && held !== this.panel) this.focusAgain(held.dataset.act);
  }

  // Drawn anew: the focus stays on the button that was used, or near it.
  focusAgain(name) {
    const there = name && this.panel.querySelector(`[data-act="${name}"]`);
    (there || this.panel).focus({ preventScroll: true });
  }

  acts(found) {
    const act = (label, shape, fn, more = {}) => h("button", { type: "button", class: `btn ${more.tone || ""}`, title: label, "data-act": shape, onclick: fn, ...more.props }, icon(shape), h("span", { class: "bt" }, label));
    const is = (name) => found.flags.includes(name);
    return [
      act(is("pinned") ? "Unpin" : "Pin", "pin", () => this.act(is("pinned") ? "unpin" : "pin"), { props: { "aria-pressed": String(is("pinned")) } }),
      act("Edit", "edit", () => this.startEdit()),
      act(is("wrong") ? "Not wrong" : "Wrong", "wrong", () => this.act(is("wrong") ? "right" : "wrong"), { props: { "aria-pressed": String(is("wrong")) } }),
      act("Delete", "deleted", () => this.act("delete"), { tone: "danger" }),
    ];
  }

  banners(found) {
    const out = [verifyBanner(found, this)];
    if (found.flags.includes("wrong")) out.push(h("div", { class: "banner bad" }, icon("wrong"), h("p", {}, "Marked wrong. No session is given it and no search finds it."),
      h("button", { type: "button", class: "btn", onclick: () => this.act("right") }, "It is right")));
    if (found.replaced_by) out.push(h("div", { class: "banner" }, icon("replaced"), h("p", {}, "Replaced by ",
      h("a", { class: "link", href: `/memories/${found.replaced_by}` }, `#${found.replaced_by}`), ". It no longer holds.")));
    if (found.flags.includes("foreign")) out.push(h("div", { class: "banner" }, icon("foreign"), h("p", {}, "Its words came from outside. Sessions are given its title only.")));
    return out;
  }

  line(found) {
    const read = Math.ceil(JSON.stringify(found.fields).length / 4);
    return h("p", { class: "mline" }, h("a", { class: "q", href: `/memories?project=${encodeURIComponent(found.project)}` }, words(found.project)),
      h("span", { class: "sep" }, words(hostName(found.host))), h("span", { class: "sep" }, time(found.t, { word: true })),
      h("span", { class: "sep" }, `${num(read)} tokens to read`), flags([...found.flags.filter((name) => name === "pinned"), ...(found.personal ? ["personal"] : [])]));
  }

  observation(fields) {
    return [fields.subtitle ? h("p", { class: "subtitle" }, words(fields.subtitle)) : null, prose(fields.narrative),
      fields.facts.length ? h("ul", { class: "facts" }, fields.facts.map((fact) => h("li", {}, words(fact)))) : null];
  }

  summary(fields) {
    return SUMMARY.slice(1).filter(([name]) => fields[name]).map(([name, label]) => h("section", {}, h("h3", { class: "sh" }, label), prose(fields[name])));
  }

  about(found) {
    const files = [...new Set([...(found.fields.files_modified || []), ...(found.fields.files_edited || []), ...(found.fields.files_read || [])])];
    const rows = [];
    if (files.length) rows.push(h("dt", {}, "Files"), h("dd", {}, h("ul", { class: "files" }, files.map((file) => h("li", {}, icon("file"), h("code", { class: "cut" }, words(file)))))));
    if (found.replaces.length) rows.push(h("dt", {}, "Replaces"), h("dd", {}, found.replaces.map((older) => h("a", { class: "replaced", href: `/memories/${older.key}` },
      h("s", {}, words(older.title)), h("span", { class: "dim" }, `#${older.key} \u00b7 `, time(older.t, { word: true }))))));
    if (found.fields.concepts?.length) rows.push(h("dt", {}, "About"), h("dd", {}, found.fields.concepts.map((name) => h("span", { class: "tag" }, words(name)))));
    return rows.length ? h("dl", { class: "kv" }, rows) : null;
  }

  async act(action) {
    const key = this.key;
    const said = { pin: "Pinned. It is in every context of its project.", unpin: `#${key} is not pinned any more.`,
      wrong: "Marked wrong. No agent will get it again.", right: `#${key} is not marked wrong any more.`,
      delete: `Deleted #${key}. It can be brought back for 7 days.` }[action];
    try { await this.page.act([key], action, said); } catch (error) { toast(error.message); }
  }

  startEdit() {
    if (!this.found || this.edit) return;
    this.edit = editor(this.found, {
      saved: (answer) => { this.edit = null; toast("Saved. The words before are kept.", () => this.page.undo([answer.changed[0].undo])); this.show(this.key, { again: true, peek: this.peek }); },
      dropped: () => { this.edit = null; this.draw(); this.panel.querySelector("[title=Edit]")?.focus(); },
      refreshed: (memory) => { this.found = memory; },
    });
    fill(this.panel, this.head(this.found, []), h("div", { class: "mbody" }, this.edit.root));
    this.edit.focus();
  }

  async copy() {
    try { await navigator.clipboard.writeText(this.key); toast(`Copied ${this.key}.`); } catch { say("The browser does not let this page copy."); }
  }

  keys(key, event) {
    if (this.edit) { if (key === "Escape") { this.edit.drop(); return true; } return false; }
    // What was not opened is only looked at.
    if (!this.page.open || !this.found || event.target.closest("dialog")) return false;
    const acts = { p: () => this.act(this.found.flags.includes("pinned") ? "unpin" : "pin"), e: () => this.startEdit(),
      w: () => this.act(this.found.flags.includes("wrong") ? "right" : "wrong"), "#": () => this.act("delete"), Delete: () => this.act("delete"), c: () => this.copy() };
    const own = { f: () => this.page.forget([this.key]) };
    if (!this.key.startsWith("S")) Object.assign(own, { u: () => useful(this.found, this), o: () => outdated(this.found, this), v: () => confirmIt(this.found, this) });
    Object.assign(acts, own);
    if (!acts[key]) return false;
    acts[key]();
    return true;
  }
}

// Paragraphs; code is set apart by its spaces, nothing is ever read as markup.
export function prose(text) {
  if (!text) return null;
  if (text.length > 65_536) return h("div", { class: "prose" }, long(text));
  return h("div", { class: "prose" }, String(text).split(/\n{2,}/).map((part) => (/^( {4}|\t)/m.test(part) ? h("pre", {}, plain(part)) : h("p", {}, words(part)))));
}
export { full };
