// A control for each type of setting.
import { h, words } from "../dom.js";

const WORDS = { mcp: "MCP", url: "address", tcp: "TCP", tv: "TV", api: "API", ai: "AI", id: "id", ids: "ids" };

// `CLAUDE_MEM_CONTEXT_TOKEN_BUDGET` of the area "context" is "Token budget".
export function labelOf(one) {
  let name = one.key.replace(/^CLAUDE_MEM_/, "");
  const area = one.area.toUpperCase().replaceAll("-", "_");
  if (name.startsWith(`${area}_`) && name.length > area.length + 4) name = name.slice(area.length + 1);
  const text = name.toLowerCase().split("_").map((part) => WORDS[part] || part).join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// -> { el, set(value), grouped }; values are texts, as they stand in the file.
export function control(one, { id, described, changed }) {
  const common = { id, disabled: Boolean(one.locked), "aria-describedby": described };
  if (one.type === "bool") return toggle(one, common, changed);
  if (one.type === "enum") return choice(one, common, changed);
  if (one.type === "int" || one.type === "number") return number(one, common, changed);
  if (one.type === "secret") return secret(one, common, changed);
  return line(one, common, changed);
}

function toggle(one, common, changed) {
  const el = h("input", { ...common, type: "checkbox", class: "switch", role: "switch", checked: one.value === "true", onchange: () => changed(el.checked ? "true" : "false") });
  return { el, set: (value) => { el.checked = value === "true"; } };
}

function choice(one, common, changed) {
  const el = h("select", { ...common, class: "field", onchange: () => changed(el.value) }, one.choices.map((name) => h("option", { value: name }, name || "(none)")));
  el.value = one.value;
  return { el, set: (value) => { el.value = value; } };
}

function number(one, common, changed) {
  const el = h("input", { ...common, type: "number", class: "field num", inputmode: "numeric", min: one.low, max: one.high, step: one.type === "int" ? 1 : "any", value: one.value,
    oninput: () => { if (el.value !== "" && el.checkValidity()) changed(el.value); }, onchange: () => changed(el.value) });
  return { el, set: (value) => { el.value = value; } };
}

function line(one, common, changed) {
  const el = h("input", { ...common, type: "text", class: "field wide", dir: "auto", autocomplete: "off", spellcheck: "false", value: one.value, onchange: () => changed(el.value.trim()) });
  el.addEventListener("keydown", (event) => { if (event.key === "Enter") changed(el.value.trim()); });
  return { el, set: (value) => { el.value = value; } };
}

// Of a secret only whether it is set; a new one goes in, none comes out.
function secret(one, common, changed) {
  const state = h("span", { class: "mid" }, one.value ? words(one.shown || "Set") : "Not set");
  const el = h("span", { class: "oneline", id: common.id, role: "group", "aria-labelledby": `${common.id}-label` }, state);
  if (!one.locked) {
    const replace = h("button", { type: "button", class: "btn", onclick: () => {
      const field = h("input", { type: "password", class: "field", autocomplete: "new-password", "aria-labelledby": `${common.id}-label`, oninput: () => changed(field.value) });
      el.replaceChildren(field);
      field.focus();
    } }, one.value ? "Replace" : "Set");
    el.append(replace);
  }
  return { el, set: () => {}, grouped: true };
}
