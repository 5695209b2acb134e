// Small pieces that every page uses.
import { h, words } from "./dom.js";
import { age, ago, full, knownType, typeName } from "./format.js";
import { icon } from "./icons.js";

// A time that keeps its age by itself; the page is not drawn anew for it.
export function time(t, { word = false, cls = "" } = {}) {
  if (!t) return h("span", { class: cls }, "\u2013");
  return h("time", { class: `num ${cls}`, datetime: new Date(t).toISOString(), title: full(t), "data-t": t, "data-ago": word },
    word ? ago(t) : age(t));
}

export function setTime(el, t) {
  el.dateTime = new Date(t).toISOString();
  el.title = full(t);
  el.dataset.t = t;
  el.textContent = age(t);
}

setInterval(() => {
  for (const el of document.querySelectorAll("time[data-t]")) {
    const said = el.dataset.ago === undefined ? age(Number(el.dataset.t)) : ago(Number(el.dataset.t));
    if (el.textContent !== said) el.textContent = said;
  }
}, 15_000);

export const typeMark = (type) => h("span", { class: `type type-${knownType(type)}` }, icon(type), words(typeName(type)));

const FLAGS = {
  pinned: ["pin", "Pinned", "pin", "In every context of its project"],
  wrong: ["wrong", "Wrong", "bad", "Nobody is given it"],
  replaced: ["replaced", "Replaced", "quiet", "A newer memory took its place"],
  foreign: ["foreign", "From outside", "quiet", "Its words came from outside, so they are never given in full"],
  verify: ["question", "Verify", "warn", "What it speaks of has changed since"],
  personal: ["person", "Every project", "pin", "Every session of every project is given it"],
  deleted: ["deleted", "Deleted", "bad", "It can be brought back for 7 days"],
};

export const flags = (names) => names.filter((name) => FLAGS[name]).map((name) => {
  const [shape, label, tone, title] = FLAGS[name];
  return h("span", { class: `flag ${tone}`, title }, icon(shape), h("span", {}, label));
});

export function meter(share, label, tone = "") {
  const bar = h("i");
  bar.style.transform = `scaleX(${Math.min(1, Math.max(0, share))})`;
  return h("span", { class: `meter ${tone}`, role: "meter", "aria-label": label, "aria-valuemin": 0,
    "aria-valuemax": 100, "aria-valuenow": Math.round(Math.min(1, share) * 100) }, bar);
}

export const empty = (big, ...more) => h("div", { class: "empty" }, h("p", { class: "big" }, big), more);

// What failed, and a way to try it again; everything else on the page stays.
export function failed(error, again) {
  return h("div", { class: "empty", role: "alert" }, h("p", { class: "big" }, error.message || "It did not work."),
    again ? h("button", { type: "button", class: "btn", onclick: again }, "Try again") : null);
}

// Grey bars of the height of what is to come, and only when it takes long.
export function skeleton(rows = 6) {
  return h("div", { class: "skeleton", "aria-hidden": "true" },
    Array.from({ length: rows }, () => h("div", { class: "bones" }, h("i"), h("i"))));
}

export function ask(label, ...kids) {
  const box = h("dialog", { "aria-label": label }, kids);
  box.addEventListener("close", () => box.remove());
  box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
  document.body.append(box);
  box.showModal();
  return box;
}

// A question with one way forward; only for what can't be taken back.
export function confirmed(title, text, verb) {
  return new Promise((answer) => {
    const yes = h("button", { type: "button", class: "btn danger", onclick: () => { answer(true); box.close(); } }, verb);
    const no = h("button", { type: "button", class: "btn quiet", onclick: () => box.close() }, "Cancel");
    const box = ask(title, h("div", { class: "ask" }, h("h2", {}, title), h("p", {}, text), h("div", { class: "acts" }, no, yes)));
    box.addEventListener("close", () => answer(false));
  });
}

// Long text is cut; the rest comes when asked for.
const MOST = 65_536;
export function long(text, tag = "p") {
  const whole = String(text ?? "");
  if (whole.length <= MOST) return h(tag, {}, words(whole));
  const el = h(tag, {}, words(whole.slice(0, MOST)), "\u2026 ");
  const more = h("button", { type: "button", class: "btn quiet", onclick: () => el.replaceChildren(words(whole)) },
    `Show all ${(whole.length / 1048576).toFixed(1)} MB`);
  el.append(more);
  return el;
}
