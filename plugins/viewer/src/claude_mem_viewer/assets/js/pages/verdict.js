// What a person says of a memory: it helps, it is out of date, it still holds, it is for every project.
import { post } from "../api.js";
import { h, say, words } from "../dom.js";
import { icon } from "../icons.js";
import { toast } from "../toast.js";
import { ask } from "../ui.js";

const WORDS = {
  useful: ["Marked useful. Searches rank it higher.", "not-useful"],
  "not-useful": ["It is not marked useful any more.", ""],
  outdated: ["Marked outdated. No session is given it, searches show it last.", "current"],
  current: ["It is not marked outdated any more.", ""],
};

// A file or symbol that it speaks of has changed since.
export function verifyBanner(found, view) {
  if (!found.flags.includes("verify")) return null;
  return h("div", { class: "banner warn" }, icon("question"), h("p", {}, "Is it still true? ", found.verify ? words(`${found.verify}.`) : null),
    h("div", { class: "bacts" }, h("button", { type: "button", class: "btn", onclick: () => confirmIt(found, view) }, "Still true"),
      h("button", { type: "button", class: "btn", onclick: () => view.startEdit() }, "Correct it")));
}

export function verdict(found, view) {
  const one = (label, shape, fn, pressed) => h("button", { type: "button", class: "btn", "data-act": shape, "aria-pressed": pressed === undefined ? null : String(pressed), onclick: fn }, icon(shape), label);
  const own = found.key.startsWith("S") ? [] : [
    one("Useful", "useful", () => useful(found, view), found.useful > 0),
    one("Outdated", "clock", () => outdated(found, view), found.outdated),
    one(found.personal ? "In every project" : "For every project", "person", () => everywhere(found))];
  return h("div", { class: "verdict", role: "group", "aria-label": "What do you say of it?" }, own,
    h("button", { type: "button", class: "btn danger", "data-act": "forget", onclick: () => view.page.forget([found.key]) }, icon("forget"), "Forget for good"));
}

export const useful = (found, view) => feedback(found, view, found.useful > 0 ? "not-useful" : "useful");
export const outdated = (found, view) => feedback(found, view, found.outdated ? "current" : "outdated");

async function feedback(found, view, said) {
  const [text, back] = WORDS[said];
  try {
    await post(`/api/memories/${found.key}/feedback`, { said });
    toast(text, back ? () => feedback(found, view, back) : null);
    await view.show(found.key, { again: true, peek: view.peek });
  } catch (error) { toast(error.message); }
}

export async function confirmIt(found, view) {
  try {
    await post(`/api/memories/${found.key}/confirm`);
    toast("Noted: it holds as things are now.");
    await view.show(found.key, { again: true, peek: view.peek });
  } catch (error) { toast(error.message); }
}

// Every session would read it, so the worker takes this from a person at a terminal only.
function everywhere(found) {
  const command = `mem ${found.personal ? "demote" : "promote"} ${found.key}`;
  const copy = async () => {
    try { await navigator.clipboard.writeText(command); toast("Copied."); } catch { say("The browser does not let this page copy."); }
  };
  const box = ask("Every project", h("div", { class: "ask" }, h("h2", {}, found.personal ? "It is given in every project" : "Give it in every project?"),
    h("p", {}, "Every session of every project reads such a memory, so only a person at a terminal changes that. Type there:"),
    h("p", { class: "oneline" }, h("code", { class: "command" }, command), h("button", { type: "button", class: "btn", onclick: copy }, icon("copy"), "Copy")),
    h("p", { class: "dim" }, "mem personal lists them in their order."),
    h("div", { class: "acts" }, h("button", { type: "button", class: "btn quiet", onclick: () => box.close() }, "Close"))));
}
