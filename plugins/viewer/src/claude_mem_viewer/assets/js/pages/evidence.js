// What a memory was made from, where it was given, and what people did to it.
import { get } from "../api.js";
import { fill, h, plain, words } from "../dom.js";
import { hostName, many, num } from "../format.js";
import { icon } from "../icons.js";
import { failed, long, time } from "../ui.js";

const DONE = { edit: "Edited", pin: "Pinned", unpin: "Unpinned", wrong: "Marked wrong", right: "Taken as right", merge: "Merged with others" };
const GIVEN = { session: "Session start", search: "Search", prompt: "With a prompt" };

export function evidence(found, page) {
  return h("aside", { class: "evidence", "aria-label": "Evidence" }, trail(found), uses(found), changes(found, page));
}

function trail(found) {
  const steps = [];
  if (found.prompt) steps.push(h("li", { class: "said" }, icon("person"), h("div", {},
    h("p", { class: "cap" }, `Prompt ${num(found.prompt.number)} \u00b7 `, session(found.session), " \u00b7 ", time(found.prompt.t, { word: true })),
    h("blockquote", {}, words(found.prompt.text), found.prompt.length > found.prompt.text.length ? " \u2026" : ""))));
  for (const use of found.tools) steps.push(h("li", {}, icon("tool"), tool(use)));
  const made = found.model || (found.tools.length || found.prompt ? "rules" : "hand");
  steps.push(h("li", { class: "made" }, icon("memories"), h("p", { class: "cap" }, "Written by ", h("b", {}, words(made === "builtin" ? "the built-in observer" : made)),
    found.tokens ? ` \u00b7 stands for ${num(found.tokens)} tokens of work` : "", found.events ? ` \u00b7 from ${many(found.events, "event")}` : "", found.prompt ? "" : [" \u00b7 ", session(found.session)])));
  return h("section", {}, h("h2", {}, "Where it comes from"), h("ol", { class: "trail" }, steps));
}

const session = (id) => (id ? h("a", { class: "link num", href: `/session/${id}` }, `session ${id}`) : "no session");

// Input and output are fetched when somebody wants to see them.
function tool(use) {
  const inside = h("div", { class: "inside" });
  const el = h("details", {}, h("summary", {}, h("b", {}, words(use.tool)), h("code", { class: "cut" }, words(use.argument)),
    use.failed ? h("span", { class: "flag bad" }, "failed") : null), inside);
  el.addEventListener("toggle", async () => {
    if (!el.open || inside.childNodes.length) return;
    try {
      const row = (await get("/api/tool-uses", { ids: use.id })).toolUses[0];
      if (!row) { fill(inside, h("p", { class: "dim" }, "It is not kept any more.")); return; }
      fill(inside, ["tool_input", "tool_response"].map((name, k) => [h("p", { class: "cap" }, k ? "Output" : "Input"), block(row[name])]));
    } catch (error) { fill(inside, failed(error)); }
  });
  return el;
}

function block(text) {
  let said = text || "(nothing)";
  try { const value = JSON.parse(said); said = typeof value === "string" ? value : JSON.stringify(value, null, 2); } catch { /* as it is */ }
  return said.length > 20_000 ? h("pre", {}, long(said, "span")) : h("pre", {}, plain(said));
}

function uses(found) {
  if (!found.uses.length) return h("section", {}, h("h2", {}, "Where it was used"), h("p", { class: "dim" }, "Nowhere yet."));
  return h("section", {}, h("h2", {}, "Where it was used"), h("table", { class: "plain used" },
    h("thead", { class: "sr" }, h("tr", {}, ["How", "Where", "Session", "When"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, found.uses.map((use) => h("tr", {}, h("td", {}, GIVEN[use.what] || "Before a file"), h("td", { class: "mid" }, words(use.project || ""), " \u00b7 ", words(hostName(use.host || ""))),
      h("td", {}, session(use.session)), h("td", { class: "r" }, time(use.t)))))));
}

function changes(found, page) {
  if (!found.changes.length) return null;
  const back = (one, first) => (first ? h("button", { type: "button", class: "btn quiet", onclick: () => page.undo([one.undo]) }, "Take back") : null);
  const before = (one) => Object.values(one.before).flat().filter(Boolean);
  return h("section", {}, h("h2", {}, "What was done to it"), h("ul", { class: "done" }, found.changes.map((one, k) => h("li", {},
    before(one).length ? h("details", {}, h("summary", {}, `${DONE[one.action] || one.action} `, time(one.t, { word: true })), h("p", { class: "cap" }, "Before"), before(one).map((text) => h("blockquote", {}, words(text))))
      : h("span", {}, `${DONE[one.action] || one.action} `, time(one.t, { word: true })), back(one, k === 0)))));
}
