// For a screen across the room: titles only, nothing that a passer-by should not read.
import { get } from "../api.js";
import { on } from "../bus.js";
import { fill, h, words } from "../dom.js";
import { hostName, many, num } from "../format.js";
import { icon } from "../icons.js";
import { link } from "../stream.js";
import { failed, time, typeMark } from "../ui.js";

// The worker itself speaks no TLS: whoever sees the page by it is behind a front.
export const AWAY = location.protocol === "https:";

export function tv(main, route) {
  return new Tv(main, route);
}

class Tv {
  constructor(main, route) {
    this.title = "TV";
    this.params = { project: route.params.get("project") || "", platformSource: route.params.get("source") || "" };
    // On another machine there is no stream: it asks now and then.
    this.away = AWAY;
    this.box = h("div", { class: "tv" });
    fill(main, this.box);
    this.off = [on("event", (event) => { if (/^new_(observation|summary)|memory_changed/.test(event.type)) { clearTimeout(this.soon); this.soon = setTimeout(() => this.load(), 300); } }), on("again", () => this.load())];
    this.clock = setInterval(() => this.tick(), 5_000);
    if (this.away) this.asking = setInterval(() => this.load(), 10_000);
    this.load();
  }

  leave() { this.off.forEach((end) => end()); clearInterval(this.clock); clearInterval(this.asking); clearTimeout(this.soon); }
  update() {}

  async load() {
    try {
      this.draw(await get("/api/tv", this.params));
    } catch (error) { if (!this.time || error.status) fill(this.box, failed(error, () => this.load())); }
  }

  draw({ items: [newest, ...rest], today, total }) {
    const live = this.away || link.state === "up";
    this.time = h("span", { class: "num" }, clock());
    fill(this.box, h("header", {}, h("span", { class: "who" }, h("span", { class: live ? "dot" : "dot warn" }), live ? "Recording" : "Connecting"),
      h("span", {}, `${many(today, "memory", "memories")} today, ${num(total)} in all`), this.time, this.away ? null : h("a", { href: "/memories" }, "Back")),
    newest ? h("section", { class: "tvnow", "aria-live": "polite" }, typeMark(newest.type), h("h1", {}, words(newest.title || "(no title)")),
      h("p", {}, words(newest.project), " \u00b7 ", words(hostName(newest.host)), " \u00b7 ", time(newest.t, { word: true }))) : h("section", { class: "tvnow" }, h("h1", {}, "No memories yet.")),
    h("ol", {}, rest.map((card) => h("li", {}, icon(card.type), h("span", { class: "cut" }, words(card.title)), h("span", { class: "mid" }, words(card.project)), time(card.t)))));
  }

  tick() { if (this.time) this.time.textContent = clock(); }
}

const clock = () => new Date().toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
