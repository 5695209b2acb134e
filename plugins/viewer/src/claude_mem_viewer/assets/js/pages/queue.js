// What waits, what is worked on, and what failed three times: why, and what can be done.
import { get, post } from "../api.js";
import { on } from "../bus.js";
import { fill, h, words } from "../dom.js";
import { many, num } from "../format.js";
import { icon } from "../icons.js";
import { systemTabs } from "../shell.js";
import { toast } from "../toast.js";
import { confirmed, empty, failed, skeleton, time } from "../ui.js";

const COUNTS = [["waiting", "Waiting"], ["working", "Working"], ["retrying", "Retrying"], ["dead", "Dead letters"], ["done", "Done in a day"]];

export function queue(main) {
  return new Queue(main);
}

class Queue {
  constructor(main) {
    this.title = "Queue";
    this.box = h("div", { class: "in" });
    fill(main, systemTabs(), h("div", { class: "page" }, this.box));
    this.bones = setTimeout(() => fill(this.box, skeleton(6)), 120);
    this.off = [on("event", (event) => { if (event.type === "processing_status") { clearTimeout(this.soon); this.soon = setTimeout(() => this.load(), 400); } }), on("again", () => this.load())];
    this.load();
  }

  leave() { this.off.forEach((end) => end()); clearTimeout(this.soon); clearTimeout(this.bones); }
  update() {}

  async load() {
    try {
      const found = await get("/api/queue");
      clearTimeout(this.bones);
      // Nothing moves under somebody's hands: only what is different is drawn.
      const said = JSON.stringify(found);
      if (said !== this.said) { this.said = said; this.draw(found); }
    } catch (error) { clearTimeout(this.bones); fill(this.box, failed(error, () => this.load())); }
  }

  draw(found) {
    const { counts, causes } = found;
    const held = document.activeElement?.dataset?.act;
    fill(this.box, h("header", { class: "phead" }, h("div", {}, h("h1", {}, "Queue"), h("p", {}, "Work between what was recorded and what is remembered. Nothing here is lost.")),
      causes.length ? h("div", { class: "right" }, h("button", { type: "button", class: "btn primary", "data-act": "all", onclick: () => this.retry(null) }, "Retry all")) : null),
    h("dl", { class: "figures" }, COUNTS.map(([name, label]) => h("div", { class: name === "dead" && counts.dead ? "warn" : null }, h("dt", {}, label), h("dd", { class: "num" }, num(counts[name]))))),
    h("section", { class: "block" }, h("h2", {}, "Dead letters"),
      causes.length ? h("ul", { class: "letters" }, causes.map((cause, k) => this.cause(cause, k))) : empty("No dead letters.", h("p", {}, "Everything that was accepted has been stored, or skipped with a reason."))),
    this.items("Working", found.working), this.items("Waiting", found.waiting));
    if (held) this.box.querySelector(`[data-act="${held}"]`)?.focus();
  }

  cause(cause, k) {
    return h("li", {}, icon("alert"), h("div", {}, h("p", { class: "strong" }, words(cause.cause)),
      h("p", { class: "dim" }, many(cause.ids.length, "piece of work", "pieces of work"), " \u00b7 ", cause.sessions.map((id, n) => [n ? ", " : "", h("a", { class: "link", href: `/session/${id}` }, `session ${id}`)]), ` \u00b7 tried ${cause.tries} times \u00b7 `, time(cause.last_ms, { word: true }))),
    h("div", { class: "la" }, h("button", { type: "button", class: "btn", "data-act": `retry-${k}`, onclick: () => this.retry(cause.ids) }, "Retry"), h("button", { type: "button", class: "btn quiet", onclick: () => this.discard(cause.ids) }, "Discard")));
  }

  items(title, items) {
    if (!items.length) return null;
    return h("section", { class: "block" }, h("h2", {}, title), h("table", { class: "grid" }, h("thead", {}, h("tr", {}, ["Work", "Session", "Prompt", "Tries", "Since"].map((name, k) => h("th", { scope: "col", class: k > 1 ? "r" : null }, name)))),
      h("tbody", {}, items.map((one) => h("tr", {}, h("td", { class: "lead" }, words(one.tool_name || (one.message_type === "summarize" ? "End of a turn" : "Event"))), h("td", { "data-l": "Session" }, h("a", { class: "link", href: `/session/${one.session_db_id}` }, `session ${one.session_db_id}`)),
        h("td", { class: "r num", "data-l": "Prompt" }, num(one.prompt_number)), h("td", { class: "r num", "data-l": "Tries" }, num(one.retry_count)), h("td", { class: "r", "data-l": "Since" }, time(one.created_at_epoch)))))));
  }

  async retry(ids) {
    try {
      const done = await post("/api/queue/retry", ids ? { ids } : {});
      toast(`${many(done.retried, "piece of work is", "pieces of work are")} tried again.`);
      await this.load();
    } catch (error) { toast(error.message); }
  }

  async discard(ids) {
    if (!(await confirmed("Discard for good?", `No memory will be made of ${many(ids.length, "this piece of work", "these pieces of work")}, and the content is deleted.`, "Discard"))) return;
    try {
      const done = await post("/api/queue/discard", { ids });
      toast(`Discarded ${num(done.discarded)}.`);
      await this.load();
    } catch (error) { toast(error.message); }
  }
}
