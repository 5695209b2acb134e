// A memory as a form, in place. Two people at once: both versions are shown.
import { patch } from "../api.js";
import { fill, h, words } from "../dom.js";

const FIELDS = {
  memory: [["title", "Title", "et"], ["narrative", "Text", "ex"], ["facts", "Facts, one a line", "ef"]],
  summary: [["request", "What was asked", "et"], ["learned", "Learned", "ef"], ["completed", "Done", "ef"], ["next_steps", "Next", "ef"]],
};

export function editor(found, { saved, dropped, refreshed }) {
  const fields = FIELDS[found.key.startsWith("S") ? "summary" : "memory"];
  const text = (name, from) => (name === "facts" ? (from.facts || []).join("\n") : from[name] || "");
  const areas = Object.fromEntries(fields.map(([name, label, cls]) => [name, h("textarea", { class: cls, id: `edit-${name}`, rows: cls === "et" ? 2 : 5, dir: "auto", value: text(name, found.fields), "aria-label": label })]));
  const state = { memory: found };
  const note = h("div", { role: "alert" });
  const typed = (name) => (name === "facts" ? areas.facts.value.split("\n").map((line) => line.trim()).filter(Boolean) : areas[name].value);
  const changes = () => Object.fromEntries(fields.map(([name]) => name).filter((name) => areas[name].value !== text(name, state.memory.fields)).map((name) => [name, typed(name)]));
  const dirty = () => Object.keys(changes()).length > 0;
  const save = async (event) => {
    event?.preventDefault();
    const body = changes();
    if (!Object.keys(body).length) { dropped(); return; }
    try { saved(await patch(`/api/memories/${found.key}`, { ...body, rev: state.memory.rev })); } catch (error) {
      if (error.status === 409) conflict(error.data.memory); else fill(note, h("p", { class: "fault" }, error.message));
    }
  };

  function conflict(memory) {
    const mine = Object.fromEntries(fields.map(([name]) => [name, areas[name].value]));
    const differs = fields.filter(([name]) => mine[name] !== text(name, memory.fields));
    fill(note, h("div", { class: "banner warn conflict" }, h("div", {}, h("p", {}, h("b", {}, "It was changed in the meantime.")),
      differs.map(([name, label]) => h("section", {}, h("h3", { class: "sh" }, `${label}, as it is now`), h("blockquote", {}, words(text(name, memory.fields))))),
      h("div", { class: "bacts" },
        h("button", { type: "button", class: "btn", onclick: () => { state.memory = memory; refreshed(memory); dropped(); } }, "Take theirs"),
        h("button", { type: "button", class: "btn", onclick: () => { state.memory = memory; fill(note); save(); } }, "Save mine over it")))));
  }

  function asked(then) {
    fill(note, h("div", { class: "banner warn" }, h("p", {}, "Your words are not saved."), h("div", { class: "bacts" },
      h("button", { type: "button", class: "btn", onclick: () => { then(); } }, "Drop them"), h("button", { type: "button", class: "btn primary", onclick: save }, "Save"))));
    note.scrollIntoView({ block: "nearest" });
  }

  const root = h("form", { class: "editform", onsubmit: save, "aria-label": `Edit #${found.key}` },
    fields.map(([name, label]) => [h("label", { class: "label", for: `edit-${name}` }, label), areas[name]]), note,
    h("div", { class: "eacts" }, h("button", { type: "submit", class: "btn primary" }, "Save"), h("button", { type: "button", class: "btn quiet", onclick: () => drop() }, "Cancel"),
      h("span", { class: "dim" }, "The words before are kept. A model will not change yours.")));
  const drop = () => { if (dirty()) asked(dropped); else dropped(); };
  root.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) save(event);
    if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); drop(); }
  });
  return { root, dirty, drop, asked, focus: () => areas[fields[0][0]].focus() };
}
