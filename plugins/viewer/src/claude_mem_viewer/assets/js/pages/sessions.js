// Sessions as a table, and one session turn by turn.
import { get } from "../api.js";
import { on } from "../bus.js";
import { fill, h, words } from "../dom.js";
import { hostName, length, many, num } from "../format.js";
import { icon } from "../icons.js";
import { flags, empty, failed, skeleton, time, typeMark } from "../ui.js";
import { prose } from "./memory.js";

const LIVE_MS = 120_000;
const GIVEN = { session: "Context at the start" };

export function sessions(main, route) {
  return new Sessions(main, route);
}

class Sessions {
  constructor(main, route) {
    this.title = "Sessions";
    this.box = h("div", { class: "in" });
    fill(main, h("div", { class: "page", tabindex: "-1" }, this.box));
    this.off = on("event", (event) => { if (/^(session_|new_prompt)/.test(event.type) && !this.id) { clearTimeout(this.soon); this.soon = setTimeout(() => this.table(true), 800); } });
    this.update(route);
  }

  leave() { this.off(); clearTimeout(this.soon); clearTimeout(this.bones); }

  update(route) {
    this.id = route.id.replace(/^S/i, "");
    this.bones = setTimeout(() => fill(this.box, skeleton(8)), 120);
    if (this.id) this.one(); else this.table();
  }

  async table(quiet) {
    // New sessions do not push the rows that somebody reads.
    if (quiet && this.box.parentElement.scrollTop > 4) return;
    try {
      const found = await get("/api/sessions", { limit: 50 });
      clearTimeout(this.bones);
      const body = h("tbody", {});
      const more = h("button", { type: "button", class: "btn", onclick: () => this.further(body, more) }, "Older sessions");
      this.next = found.next;
      more.hidden = !found.next;
      fill(this.box, h("header", { class: "phead" }, h("h1", {}, "Sessions")),
        found.items.length ? h("table", { class: "grid" }, h("thead", {}, h("tr", {}, ["Session", "Project", "Host", "Started", "Length", "Prompts", "Memories"].map((name, k) => h("th", { scope: "col", class: k > 2 ? "r" : null }, name)))), body)
          : empty("No sessions yet.", h("p", {}, "Start one in any connected host.")), h("p", { class: "after" }, more));
      body.append(...found.items.map(row));
    } catch (error) { clearTimeout(this.bones); fill(this.box, failed(error, () => this.table())); }
  }

  async further(body, more) {
    const found = await get("/api/sessions", { limit: 50, before: this.next });
    body.append(...found.items.map(row));
    this.next = found.next;
    more.hidden = !found.next;
  }

  async one() {
    try {
      const found = await get(`/api/sessions/${encodeURIComponent(this.id)}`);
      clearTimeout(this.bones);
      this.draw(found);
    } catch (error) { clearTimeout(this.bones); fill(this.box, failed(error, () => this.one())); }
  }

  draw(found) {
    fill(this.box, h("header", { class: "phead" }, h("div", {}, h("p", { class: "dim" }, h("a", { class: "link", href: "/sessions" }, "Sessions"), ` \u00b7 ${found.id}`),
      h("h1", {}, found.title ? words(found.title) : `Session ${found.id}`),
      h("p", {}, words(found.project), " \u00b7 ", words(hostName(found.host)), " \u00b7 ", time(found.started_ms, { word: true }), " \u00b7 ", many(found.prompts, "prompt"), " \u00b7 ", many(found.memories, "memory", "memories")))),
    found.given.map((one) => h("details", { class: "given" }, h("summary", {}, icon("memories"), `${GIVEN[one.what] || "Before a file"}: ${many(one.memories.length, "memory", "memories")} \u00b7 `, time(one.t, { word: true })), cards(one.memories))),
    found.turns.length ? h("ol", { class: "turns" }, found.turns.map((turn) => h("li", {}, h("span", { class: "turn num" }, turn.number || ""), h("div", {},
      turn.prompt ? h("blockquote", {}, prose(turn.prompt)) : h("p", { class: "dim" }, turn.number ? "The prompt is not kept." : "Outside of any prompt."),
      cards(turn.memories))))) : empty("Nothing is kept of this session."));
  }

  keys(key) {
    if (key === "Escape" && this.id) { history.back(); return true; }
    return false;
  }
}

const cards = (list) => h("ul", { class: "plainlist" }, list.map((card) => h("li", {}, typeMark(card.type), h("a", { class: "link", href: `/memories/${card.key}` }, words(card.title || `#${card.key}`)), flags(card.flags))));

function row(one) {
  const live = one.status === "active" && one.last_ms && Date.now() - one.last_ms < LIVE_MS;
  const cell = (label, value, cls = "r") => h("td", { class: cls, "data-l": label }, value);
  return h("tr", {}, h("td", { class: "lead" }, live ? h("span", { class: "dot", role: "img", "aria-label": "Active now" }) : null, h("a", { class: "cut strong", href: `/session/${one.id}` }, words(one.title || `Session ${one.id}`))),
    cell("Project", words(one.project), ""), cell("Host", words(hostName(one.host)), ""), cell("Started", time(one.started_ms)),
    cell("Length", one.last_ms ? length(Math.max(0, one.last_ms - one.started_ms)) : "\u2013"), cell("Prompts", num(one.prompts)), cell("Memories", num(one.memories)));
}
