// The form is made from what the settings say of themselves; beside it what the next session gets.
import { get, post } from "../api.js";
import { fill, h } from "../dom.js";
import { many } from "../format.js";
import { icon } from "../icons.js";
import { themeChoice } from "../theme-choice.js";
import { toast } from "../toast.js";
import { ask, failed, skeleton } from "../ui.js";
import { control, labelOf } from "./controls.js";
import { previewView } from "./preview.js";

const AREAS = { context: "Context", capture: "What is recorded", observer: "How memories are made", search: "Search", storage: "Storage", projects: "Projects", redaction: "Secrets", worker: "Worker", hooks: "Hooks", spool: "Spool", security: "Security", mcp: "Agents' tools" };
const areaName = (name) => AREAS[name] || `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll("_", " ")}`;

export function settings(main, route) {
  return new Settings(main, route);
}

class Settings {
  constructor(main) {
    this.title = "Settings";
    this.draft = new Map();
    this.form = h("div", { class: "sin" });
    this.save = h("div", { class: "savebar", hidden: true, role: "region", "aria-label": "Changes" });
    this.preview = previewView();
    fill(main, h("div", { class: "settings" }, h("section", { class: "sform", "aria-label": "Settings" }, this.form, this.save), this.preview.root));
    this.bones = setTimeout(() => fill(this.form, skeleton(8)), 120);
    this.load();
    this.warn = (event) => { if (this.draft.size) event.preventDefault(); };
    addEventListener("beforeunload", this.warn);
  }

  leave() { removeEventListener("beforeunload", this.warn); clearTimeout(this.bones); this.preview.leave(); }
  update() {}

  stays(then) {
    if (!this.draft.size) return false;
    const box = ask("Not saved", h("div", { class: "ask" }, h("h2", {}, "Your changes are not saved."), h("div", { class: "acts" },
      h("button", { type: "button", class: "btn quiet", onclick: () => { this.draft.clear(); box.close(); then(); } }, "Drop them"),
      h("button", { type: "button", class: "btn primary", onclick: async () => { box.close(); if (await this.store()) then(); } }, "Save"))));
    return true;
  }

  async load() {
    try {
      const found = await get("/api/settings/declared");
      clearTimeout(this.bones);
      this.settings = found.settings;
      this.draw(found);
      this.preview.start();
    } catch (error) { clearTimeout(this.bones); fill(this.form, failed(error, () => this.load())); }
  }

  draw(found) {
    const box = this.form.parentElement;
    const kept = { typed: this.form.querySelector("input[type=search]")?.value || "", top: box.scrollTop };
    const narrow = h("input", { type: "search", class: "field wide", placeholder: "Find a setting", "aria-label": "Find a setting", autocomplete: "off", spellcheck: "false" });
    const areas = new Map();
    for (const one of this.settings) areas.set(one.area, [...(areas.get(one.area) || []), one]);
    const groups = [...areas].sort(([a], [b]) => (b === "context") - (a === "context")).map(([area, list]) => h("section", { class: "sgroup", id: area }, h("h2", {}, areaName(area)), list.map((one) => this.row(one))));
    const none = h("p", { class: "empty", hidden: true }, "No setting of that name.");
    const narrowed = () => {
      const typed = narrow.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const group of groups) {
        for (const row of group.querySelectorAll(".st")) row.hidden = !typed.every((part) => row.dataset.words.includes(part));
        group.hidden = ![...group.querySelectorAll(".st")].some((row) => !row.hidden);
      }
      none.hidden = groups.some((group) => !group.hidden);
    };
    narrow.addEventListener("input", narrowed);
    fill(this.form, h("header", { class: "shead" }, h("h1", {}, "Settings"), narrow),
      found.broken ? h("div", { class: "banner bad" }, icon("alert"), h("p", {}, found.broken)) : null,
      found.warnings.length ? h("div", { class: "banner warn" }, icon("alert"), h("p", {}, found.warnings.join(" "))) : null,
      h("section", { class: "sgroup" }, h("h2", {}, "This page"), h("div", { class: "st" }, h("div", { class: "sl" }, h("span", { class: "sname" }, "Theme"), h("p", {}, "Kept in this browser.")), themeChoice())), groups, none);
    narrow.value = kept.typed;
    narrowed();
    box.scrollTop = kept.top;
  }

  row(one) {
    const id = `set-${one.key}`;
    const fault = h("p", { class: "fault", id: `${id}-fault`, role: "alert" });
    const reset = h("button", { type: "button", class: "btn quiet small", hidden: one.value === one.default || Boolean(one.locked) || one.type === "secret" }, "Back to default");
    const field = control(one, { id, described: `${id}-help ${id}-fault`, changed: (value) => this.change(one, value, row, fault, reset) });
    reset.addEventListener("click", () => { field.set(one.default); this.change(one, one.default, row, fault, reset); field.el.focus?.(); });
    const row = h("div", { class: "st", "data-key": one.key, "data-words": `${one.key} ${labelOf(one)} ${one.help} ${one.area}`.toLowerCase().replaceAll("_", " ") },
      h("div", { class: "sl" }, field.grouped ? h("span", { class: "sname", id: `${id}-label` }, labelOf(one)) : h("label", { class: "sname", for: id }, labelOf(one)), h("p", { id: `${id}-help` }, one.help, one.restart ? " Takes a restart of the worker." : ""),
        one.locked ? h("p", { class: "from" }, one.locked) : null, fault), h("div", { class: "sc" }, field.el, reset));
    return row;
  }

  change(one, value, row, fault, reset) {
    if (value === one.value) this.draft.delete(one.key); else this.draft.set(one.key, value);
    fault.textContent = "";
    row.classList.toggle("changed", this.draft.has(one.key));
    reset.hidden = value === one.default || one.type === "secret";
    this.bar();
    this.preview.draft(Object.fromEntries(this.draft), (error) => {
      const key = String(error.message).match(/CLAUDE_MEM_[A-Z0-9_]+/)?.[0];
      const place = this.form.querySelector(`[data-key="${key}"] .fault`);
      if (place) place.textContent = error.message.replace(key, "").trim().replace(/^./, (c) => c.toUpperCase());
      return Boolean(place);
    });
  }

  bar() {
    this.save.hidden = !this.draft.size;
    if (!this.draft.size) return;
    this.delta ||= h("span", { class: "seeit num" });
    this.preview.delta(this.delta);
    fill(this.save, h("span", { role: "status" }, `${many(this.draft.size, "change")}, not saved`), this.delta,
      h("span", { class: "right" }, h("button", { type: "button", class: "btn quiet", onclick: () => { this.draft.clear(); this.bar(); this.load(); } }, "Discard"), h("button", { type: "button", class: "btn primary", onclick: () => this.store() }, "Save")));
  }

  async store() {
    const before = Object.fromEntries([...this.draft.keys()].map((key) => [key, this.settings.find((one) => one.key === key).value]));
    const restart = [...this.draft.keys()].some((key) => this.settings.find((one) => one.key === key).restart);
    try {
      await post("/api/settings", Object.fromEntries(this.draft));
      this.draft.clear();
      this.bar();
      const secret = Object.keys(before).some((key) => this.settings.find((one) => one.key === key).type === "secret");
      toast(restart ? "Saved. A part of it begins with the next start of the worker." : "Saved. The next session has it.", secret ? null : async () => { await post("/api/settings", before); await this.load(); });
      await this.load();
      return true;
    } catch (error) {
      for (const [key, text] of Object.entries(error.data?.faults || {})) {
        const place = this.form.querySelector(`[data-key="${key}"] .fault`);
        if (place) place.textContent = text;
      }
      toast(error.message);
      return false;
    }
  }

  keys(key) {
    if (key === "/") { this.form.querySelector("input[type=search]")?.focus(); return true; }
    return false;
  }
}
