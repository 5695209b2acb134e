// Selected memories become one: which of them stays is asked, and undo parts them again.
import { get, post } from "../api.js";
import { h, plain, words } from "../dom.js";
import { many } from "../format.js";
import { go } from "../route.js";
import { toast } from "../toast.js";
import { ask, time, typeMark } from "../ui.js";

const MOST = 51; // the worker takes fifty beside the one that stays

export async function merging(page) {
  const keys = [...page.picked];
  if (keys.length < 2) return;
  if (keys.some((key) => key.startsWith("S"))) { toast("A summary tells what was; only other memories are merged."); return; }
  if (keys.length > MOST) { toast(`At most ${MOST} memories are merged at once.`); return; }
  try {
    question(page, await Promise.all(keys.map((key) => page.feed.at(page.feed.indexOf(key)) || get(`/api/memories/${key}`))));
  } catch (error) { toast(error.message); }
}

function question(page, cards) {
  cards.sort((a, b) => b.t - a.t);
  const fault = h("p", { class: "fault", role: "alert" });
  const line = (card, k) => h("label", { class: "choice" }, h("input", { type: "radio", name: "stays", value: card.key, checked: k === 0, autofocus: k === 0 }),
    h("span", {}, typeMark(card.type), words(card.title || "(no title)"), h("span", { class: "dim" }, `#${card.key} \u00b7 ${plain(card.project)} \u00b7 `, time(card.t))));
  const send = async (event) => {
    event.preventDefault();
    const stays = new FormData(form).get("stays");
    fault.textContent = "";
    try { await merge(page, stays, cards.map((card) => card.key).filter((key) => key !== stays)); box.close(); } catch (error) { fault.textContent = error.message; }
  };
  const form = h("form", { class: "ask", onsubmit: send }, h("h2", {}, `Merge ${many(cards.length, "memory", "memories")}?`),
    h("p", {}, "One stays and says what all said: text, facts, files and evidence come together under its title. The others link to it as replaced."),
    h("fieldset", { class: "choices" }, h("legend", { class: "label" }, "Which one stays?"), cards.map(line)), fault,
    h("div", { class: "acts" }, h("button", { type: "button", class: "btn quiet", onclick: () => box.close() }, "Cancel"), h("button", { type: "submit", class: "btn primary" }, "Merge")));
  const box = ask("Merge memories", form);
}

async function merge(page, stays, others) {
  const answer = await post(`/api/memories/${stays}/merge`, { with: others });
  page.unpick();
  await page.refresh();
  if (others.includes(page.open)) go(page.path({ open: stays }), { replace: true });
  toast(`Merged ${many(others.length + 1, "memory", "memories")} into #${stays}.`, () => page.undo([answer.changed[0].undo]));
}
