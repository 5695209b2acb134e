// What models cost, where one is used. Without a model it says so.
import { get } from "../api.js";
import { fill, h, s, words } from "../dom.js";
import { money, num, short } from "../format.js";
import { systemTabs } from "../shell.js";
import { empty, failed, meter, skeleton } from "../ui.js";

export function usage(main) {
  return new Usage(main);
}

class Usage {
  constructor(main) {
    this.title = "Usage";
    this.box = h("div", { class: "in" });
    fill(main, systemTabs(), h("div", { class: "page" }, this.box));
    this.bones = setTimeout(() => fill(this.box, skeleton(4)), 120);
    this.load();
  }

  leave() { clearTimeout(this.bones); }
  update() {}

  async load() {
    const head = h("header", { class: "phead" }, h("h1", {}, "Usage"));
    try {
      const found = await get("/api/usage", { days: 30 });
      clearTimeout(this.bones);
      if (!(found.days || []).some((one) => tokensOf(one))) fill(this.box, head, nothing()); else this.draw(head, found);
    } catch (error) {
      clearTimeout(this.bones);
      fill(this.box, head, error.status === 404 ? nothing() : failed(error, () => this.load()));
    }
  }

  draw(head, found) {
    const cap = found.cap || 0;
    const today = found.today === undefined ? 0 : tokensOf(typeof found.today === "number" ? { tokens: found.today } : found.today);
    fill(this.box, head,
      h("div", { class: "bigline" }, h("b", { class: "num" }, num(today)), h("span", {}, cap ? ` of ${num(cap)} tokens today` : " tokens today"), cap ? meter(today / cap, "Tokens today of the cap", today >= cap ? "warn" : "") : null),
      chart(found.days, cap), ["by_project", "by_model", "by_work"].map((name) => split(name, found[name] || found[name.slice(3)])));
  }
}

const nothing = () => empty("No model was asked for anything.", h("p", {}, "Memories are made on this machine without one. ", h("code", {}, "mem auth set"), " and ", h("code", {}, "mem config set provider NAME"), " let a model write them."));
const tokensOf = (one) => one.tokens ?? (one.input_tokens || 0) + (one.output_tokens || 0);

function chart(days, cap) {
  const most = Math.max(cap, ...days.map(tokensOf), 1);
  const width = 100 / days.length;
  const bars = days.map((one, k) => s("rect", { x: k * width + width * 0.15, y: 40 - (tokensOf(one) / most) * 38, width: width * 0.7, height: (tokensOf(one) / most) * 38, class: one.capped ? "capped" : null }, s("title", {}, `${one.day}: ${num(tokensOf(one))}`)));
  return h("figure", { class: "chart" }, s("svg", { viewBox: "0 0 100 40", preserveAspectRatio: "none", role: "img", "aria-label": `Tokens of the last ${days.length} days, at most ${num(Math.max(...days.map(tokensOf)))} in one.` }, bars,
    cap ? s("line", { x1: 0, x2: 100, y1: 40 - (cap / most) * 38, y2: 40 - (cap / most) * 38 }) : null),
  h("details", {}, h("summary", {}, "The same as a table"), h("table", { class: "plain" }, h("tbody", {}, days.map((one) => h("tr", {}, h("th", { scope: "row" }, one.day), h("td", { class: "r num" }, num(tokensOf(one)))))))));
}

function split(name, rows) {
  const list = Array.isArray(rows) ? rows : Object.entries(rows || {}).map(([key, value]) => ({ name: key, ...(typeof value === "number" ? { tokens: value } : value) }));
  if (!list.length) return null;
  const most = Math.max(1, ...list.map(tokensOf));
  const titles = { by_project: "By project", by_model: "By model", by_work: "By work" };
  return h("section", { class: "block" }, h("h2", {}, titles[name]), h("ul", { class: "bars" }, list.map((one) => {
    const bar = h("i");
    bar.style.transform = `scaleX(${tokensOf(one) / most})`;
    const cost = money(one.cost ?? one.price ?? one.usd);
    return h("li", {}, bar, words(one.name ?? one.project ?? one.model ?? one.work), h("span", { class: "num" }, short(tokensOf(one)), cost ? ` \u00b7 about ${cost}` : ""));
  })));
}
