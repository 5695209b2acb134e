// What is shown to whoever comes without a session.
import { trade } from "./api.js";
import { fill, h } from "./dom.js";

export function locked(root, again, why = "") {
  const field = h("input", { type: "text", class: "field wide", id: "code", autocomplete: "off", spellcheck: "false", "aria-describedby": "code-help" });
  const fault = h("p", { class: "fault", role: "alert" }, why);
  const enter = async (event) => {
    event.preventDefault();
    // The whole address that `mem open --print` prints will do.
    const code = field.value.trim().replace(/^.*#/, "");
    try { await trade(code); again(); } catch (error) { fault.textContent = error.message; field.select(); }
  };
  fill(root, h("main", { class: "locked", id: "main", tabindex: "-1" },
    h("img", { src: "/assets/viewer/mark.svg", alt: "", width: 40, height: 40 }),
    h("h1", {}, "This page is locked"),
    h("p", {}, "Open it with ", h("code", {}, "mem open"), ". Each tab has its own session, which ends with the worker or after 12 hours."),
    h("form", { onsubmit: enter },
      h("label", { for: "code" }, "Or paste what ", h("code", {}, "mem open --print"), " prints"),
      h("div", { class: "oneline" }, field, h("button", { type: "submit", class: "btn primary" }, "Open")),
      h("p", { class: "dim", id: "code-help" }, "A code works once, within 30 seconds."), fault)));
}
