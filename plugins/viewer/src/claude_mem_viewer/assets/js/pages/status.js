// Does it work? The heading is the answer; every line that is not well says what to do.
import { get } from "../api.js";
import { on } from "../bus.js";
import { fill, h, words } from "../dom.js";
import { bytes, hostName, length, many, num } from "../format.js";
import { icon } from "../icons.js";
import { systemTabs } from "../shell.js";
import { toast } from "../toast.js";
import { empty, failed, skeleton, time } from "../ui.js";

export function status(main) {
  return new Status(main);
}

class Status {
  constructor(main) {
    this.title = "Health";
    this.box = h("div", { class: "in" });
    fill(main, systemTabs(), h("div", { class: "page" }, this.box));
    this.bones = setTimeout(() => fill(this.box, skeleton(6)), 120);
    this.off = on("health", (found) => this.draw(found));
    this.load();
  }

  leave() { this.off(); clearTimeout(this.bones); }
  update() {}

  async load() {
    try { this.draw(await get("/api/viewer/health")); } catch (error) { clearTimeout(this.bones); fill(this.box, failed(error, () => this.load())); }
  }

  draw(found) {
    clearTimeout(this.bones);
    const steady = JSON.stringify({ ...found, uptime_s: 0 });
    if (steady === this.said) return;
    this.said = steady;
    const log = this.box.querySelector(".logbox")?.open;
    fill(this.box, h("header", { class: "phead" }, h("div", {}, h("h1", {}, found.verdict), h("p", {}, found.recording ? "Events are recorded." : "Nothing is recorded now."))),
      found.problems.length ? h("ul", { class: "letters problems" }, found.problems.map(problem)) : null,
      this.hosts(found.hosts), this.numbers(found), this.parts(found), this.log(log));
  }

  hosts(hosts) {
    return h("section", { class: "block" }, h("h2", {}, "Hosts"), hosts.length ? h("table", { class: "grid hosts" }, h("thead", {}, h("tr", {}, ["Host", "Last event", "Events in a day", "Skipped"].map((name, k) => h("th", { scope: "col", class: k ? "r" : null }, name)))),
      h("tbody", {}, hosts.map((one) => h("tr", {}, h("td", { class: "lead" }, words(hostName(one.name))), h("td", { class: "r", "data-l": "Last event" }, time(one.last_ms)), h("td", { class: "r num", "data-l": "Events in a day" }, num(one.events)), h("td", { class: "r num", "data-l": "Skipped" }, num(one.skipped))))))
      : empty("No host has sent an event yet.", h("p", {}, "Connect one with ", h("code", {}, "mem install"), ".")));
  }

  numbers(found) {
    const rows = [["Memories", num(found.stats.observations)], ["Summaries", num(found.stats.summaries)], ["Prompts", num(found.stats.prompts)], ["Sessions", num(found.stats.sessions)], ["On disk", bytes(found.database.size + (found.database.wal || 0))]];
    return h("dl", { class: "figures" }, rows.map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", { class: "num" }, value))));
  }

  parts(found) {
    const indexes = found.indexes.backends.length ? found.indexes.backends.map((name) => (name === "keyword" ? "words" : name)).join(", ") : "none";
    const rows = [["Worker", `version ${found.version}, process ${found.pid}, up ${length(found.uptime_s * 1000)}`], ["Database", [h("code", {}, words(found.database.path)), ` \u00b7 ${found.database.state}`]], ["Search", indexes],
      ["Waiting on disk", many(found.spool.waiting || 0, "event")], ["Plugins", found.plugins.map((one) => one.name).join(", ") || "none"]];
    return h("section", { class: "block" }, h("h2", {}, "Parts"), h("dl", { class: "kv wide" }, rows.map(([label, value]) => [h("dt", {}, label), h("dd", {}, value)])));
  }

  log(open) {
    const inside = h("pre", { class: "log", tabindex: "0", "aria-label": "Log" });
    const box = h("details", { class: "logbox block", open: open || false }, h("summary", {}, icon("file"), "Log of today"), inside);
    const read = async () => {
      try { inside.textContent = (await get("/api/logs", { lines: 200 })).logs.split("\n").map(line).join("\n") || "Nothing was logged today."; inside.scrollTop = inside.scrollHeight; } catch (error) { inside.textContent = error.message; }
    };
    box.addEventListener("toggle", () => { if (box.open) read(); });
    if (open) read();
    return box;
  }
}

// A line of the log for people; what is no JSON stays as it is.
function line(text) {
  try { const one = JSON.parse(text); return `${one.at.slice(11, 19)}  ${one.level.padEnd(7)}  ${one.text}`; } catch { return text; }
}

function problem(one) {
  const copy = async () => { try { await navigator.clipboard.writeText(one.cure); toast("Copied."); } catch { toast("The browser does not let this page copy."); } };
  return h("li", { class: one.level }, icon("alert"), h("div", {}, h("p", { class: "strong" }, words(one.what)), h("p", {}, words(one.text)), one.cure ? h("p", { class: "dim" }, "What helps: ", h("code", {}, one.cure)) : null),
    one.cure.startsWith("mem ") ? h("div", { class: "la" }, h("button", { type: "button", class: "btn quiet", onclick: copy }, icon("copy"), "Copy")) : null);
}
