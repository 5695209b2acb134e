// What stands around every page: the rail, the vitals, the line that says the worker is away.
import { get } from "./api.js";
import { emit, on } from "./bus.js";
import { fill, h, say } from "./dom.js";
import { num } from "./format.js";
import { icon } from "./icons.js";
import { read } from "./route.js";
import { link, now } from "./stream.js";
import { themeChoice } from "./theme-choice.js";
import { time } from "./ui.js";

const NAV = [
  ["work", "/", "My Work", "w"], ["memories", "/memories", "Memories", "m"], ["sessions", "/sessions", "Sessions", "s"],
  null,
  ["status", "/status", "Health", "h"], ["queue", "/queue", "Queue", "q", "wide"], ["usage", "/usage", "Usage", "u", "wide"],
  ["settings", "/settings", "Settings", ","],
];
export const PAGES = NAV.filter(Boolean);
const LOOK_MS = 30_000;

const parts = {};
export const vitals = { health: null, last: 0 };

export function build(root, openPalette) {
  parts.badges = {};
  const nav = NAV.map((one) => {
    if (!one) return h("h2", { class: "t" }, "System");
    const [name, path, label, key, cls = ""] = one;
    parts.badges[name] = h("span", { class: "n", hidden: true });
    return h("a", { class: `nav ${cls}`, href: path, "data-page": name, title: label, "aria-keyshortcuts": `g ${key}` },
      icon(name), h("span", { class: "t" }, label), parts.badges[name]);
  });
  parts.vitals = h("div", { class: "vitals" });
  parts.rail = h("nav", { class: "rail", "aria-label": "Pages" },
    h("div", { class: "brand" }, h("img", { src: "/assets/viewer/mark.svg", alt: "", width: 20, height: 20 }), h("span", { class: "t" }, "mem"),
      h("button", { type: "button", class: "go t", "aria-label": "Commands", title: "Commands", onclick: openPalette },
        h("kbd", {}, /Mac/.test(navigator.platform) ? "\u2318" : "Ctrl"), h("kbd", {}, "K"))),
    nav, parts.vitals, h("div", { class: "themebox" }, themeChoice()));
  parts.offline = h("div", { class: "offline", role: "status", hidden: true });
  parts.main = h("main", { class: "main", id: "main", tabindex: "-1" });
  fill(root, parts.rail, h("div", { class: "stage" }, parts.offline, parts.main));
  on("link", drawLink);
  on("event", heard);
  on("again", look);
  setInterval(drawLink, 1000);
  setInterval(() => { if (!document.hidden) look(); }, LOOK_MS);
  drawVitals();
  return parts.main;
}

let soon = 0;
function heard(event) {
  vitals.last = Date.now();
  if (event.type === "processing_status" || event.type.startsWith("new_")) {
    clearTimeout(soon);
    soon = setTimeout(look, 800);
  }
  drawVitals();
}

export async function look() {
  try {
    vitals.health = await get("/api/viewer/health");
    drawVitals();
    emit("health", vitals.health);
    const { counts } = await get("/api/work", { limit: 50 });
    badge("work", counts.needs ? num(counts.needs) : "");
  } catch { /* the line above the page says it */ }
}

function drawVitals() {
  const found = vitals.health;
  const newest = Math.max(0, ...(found?.hosts || []).map((host) => host.last_ms));
  const stopped = found && !found.recording;
  const label = stopped ? "Recording is stopped" : newest ? "Recorded" : found ? "Nothing recorded yet" : "Asking";
  fill(parts.vitals, h("a", { class: "vital", href: "/status" },
    h("span", { class: "who" }, h("span", { class: `dot ${stopped ? "bad" : newest ? "" : "off"}` }), label),
    newest ? h("b", {}, time(newest)) : null));
  badge("queue", found?.queue?.failed ? `${num(found.queue.failed)} dead` : "");
  const wrong = (found?.problems || []).length;
  badge("status", wrong ? `${wrong} to fix` : "");
}

export function badge(name, text) {
  const el = parts.badges?.[name];
  if (!el) return;
  el.hidden = !text;
  el.className = text ? "n warn" : "n";
  if (el.textContent !== text) el.textContent = text;
}

let told = "";
function drawLink() {
  const down = link.state === "down";
  document.documentElement.toggleAttribute("data-offline", down);
  parts.offline.hidden = !down;
  if (!down) { if (told === "down") say("The worker answers again."); told = link.state; return; }
  const left = Math.max(0, Math.ceil((link.next - Date.now()) / 1000));
  const since = new Date(link.since).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  const text = `The worker does not answer. What you see is from ${since}.`;
  if (told !== "down") {
    fill(parts.offline, icon("alert"), h("span", {}, text, " ", h("span", { class: "left", "aria-hidden": "true" })),
      h("button", { type: "button", class: "btn", onclick: now }, "Try now"));
  }
  parts.offline.querySelector(".left").textContent = left ? `Trying again in ${left} s.` : "Trying again.";
  told = "down";
}

export function current(page) {
  for (const link of parts.rail.querySelectorAll(".nav")) {
    if (link.dataset.page === page) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
}

// On a phone Health, Queue and Usage are one place with three tabs.
export function systemTabs() {
  const here = read().page;
  return h("nav", { class: "sub", "aria-label": "System" }, [["status", "/status", "Health"], ["queue", "/queue", "Queue"], ["usage", "/usage", "Usage"]]
    .map(([name, path, label]) => h("a", { href: path, "aria-current": here === name ? "page" : null }, label)));
}
