// What models cost, where one is used. Without a model it says so.
import { get } from "../api.js";
import { fill, h, s, words } from "../dom.js";
import { many, money, num, short } from "../format.js";
import { systemTabs } from "../shell.js";
import { empty, failed, meter, skeleton } from "../ui.js";

const DAYS = 30;
const SPLITS = [["project", "By project"], ["model", "By model"], ["provider", "By service"]];

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
      const [days, ...splits] = await Promise.all(["day", ...SPLITS.map(([by]) => by)].map((by) => get("/api/usage", { days: DAYS, by })));
      clearTimeout(this.bones);
      if (days.items.length) fill(this.box, head, this.today(days), chart(filled(days.items), limitOf(days)), SPLITS.map(([, title], k) => split(title, splits[k].items)));
      else fill(this.box, head, nothing());
    } catch (error) {
      clearTimeout(this.bones);
      fill(this.box, head, failed(error, () => this.load()));
    }
  }

  today(found) {
    const tokens = found.today?.tokens || 0;
    const limit = limitOf(found);
    const cost = found.items.reduce((sum, one) => sum + one.cost_usd, 0);
    const calls = found.items.reduce((sum, one) => sum + one.calls, 0);
    const lost = found.items.reduce((sum, one) => sum + one.failed, 0);
    return [h("div", { class: "bigline" }, h("b", { class: "num" }, num(tokens)), h("span", {}, limit ? `of ${num(limit)} tokens today` : "tokens today"),
      limit ? meter(tokens / limit, "Tokens today of the limit", tokens >= limit ? "warn" : "") : null),
    h("p", { class: "dim" }, `${DAYS} days: ${many(calls, "call")}${lost ? `, ${num(lost)} of them failed` : ""}${cost ? `, about ${money(cost)}` : ""}.`,
      limit ? " At the limit recording goes on, and memories are made without a model until the next day." : "")];
  }
}

const nothing = () => empty("No model was asked for anything.", h("p", {}, "Memories are made on this machine without one. ", h("code", {}, "mem auth set NAME"), " and ", h("code", {}, "mem config set provider NAME"), " let a model write them."));
const tokensOf = (one) => one.input_tokens + one.output_tokens;
const limitOf = (found) => found.budget?.find((one) => /TOKENS/.test(one.setting))?.limit || 0;

// Every day has a place, also one without a call.
function filled(items) {
  const known = new Map(items.map((one) => [String(one.name), one]));
  return Array.from({ length: DAYS }, (_, k) => {
    const day = new Date(Date.now() - (DAYS - 1 - k) * 86400000).toISOString().slice(0, 10);
    return known.get(day) || { name: day, input_tokens: 0, output_tokens: 0 };
  });
}

function chart(days, limit) {
  const most = Math.max(limit, ...days.map(tokensOf), 1);
  const width = 100 / days.length;
  const height = (one) => (tokensOf(one) / most) * 38;
  return h("figure", { class: "chart" }, s("svg", { viewBox: "0 0 100 40", preserveAspectRatio: "none", role: "img", "aria-label": `Tokens of the last ${days.length} days, at most ${num(Math.max(...days.map(tokensOf)))} in one.` },
    days.map((one, k) => s("rect", { x: k * width + width * 0.15, y: 40 - height(one), width: width * 0.7, height: height(one), class: limit && tokensOf(one) >= limit ? "capped" : null }, s("title", {}, `${one.name}: ${num(tokensOf(one))}`))),
    limit ? s("line", { x1: 0, x2: 100, y1: 40 - (limit / most) * 38, y2: 40 - (limit / most) * 38 }) : null),
  h("details", {}, h("summary", {}, "The same as a table"), h("table", { class: "plain" }, h("tbody", {}, days.filter(tokensOf).map((one) => h("tr", {}, h("th", { scope: "row" }, one.name), h("td", { class: "r num" }, num(tokensOf(one)))))))));
}

function split(title, items) {
  if (!items.length) return null;
  const most = Math.max(1, ...items.map(tokensOf));
  return h("section", { class: "block" }, h("h2", {}, title), h("ul", { class: "bars" }, items.sort((a, b) => tokensOf(b) - tokensOf(a)).map((one) => {
    const bar = h("i");
    bar.style.transform = `scaleX(${tokensOf(one) / most})`;
    return h("li", {}, bar, words(one.name || "(none)"), h("span", { class: "num" }, short(tokensOf(one)), one.cost_usd ? ` \u00b7 about ${money(one.cost_usd)}` : ""));
  })));
}
