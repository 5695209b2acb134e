// Forgetting for good: first what would go, then the deed, then the proof.
import { post } from "../api.js";
import { fill, h, plain, words } from "../dom.js";
import { many, num } from "../format.js";
import { go } from "../route.js";
import { toast } from "../toast.js";
import { ask, typeMark } from "../ui.js";

const SHOWN = 5;
const WAIT_MS = 250;
const SHORTEST = 4; // characters; the worker refuses less
const FILES = { rewritten: "written anew without it", deleted: "deleted", lines: "loses the lines that hold it" };

// These memories, or without `keys` what is selected in the list.
export function forgetting(page, keys = null) {
  const named = keys || [...page.picked];
  if (!named.length) return;
  const next = named.includes(page.open) ? page.neighbour(named) : page.open;
  new Forgetting(!keys && page.all ? page.whole : { keys: named }, async () => {
    if (next !== page.open) go(page.path({ open: next }), { replace: true });
    page.unpick();
    await page.refresh();
  });
}

// `chosen`: { keys }, or { filter, count }. `done` is told once something was forgotten.
class Forgetting {
  constructor(chosen, done) {
    this.chosen = chosen;
    this.done = done;
    this.asked = 0;
    this.inside = h("div", { class: "ask" });
    this.question();
    this.box = ask("Forget for good", this.inside);
    this.look();
  }

  question() {
    this.text = h("input", { type: "text", class: "field wide", id: "forget-text", dir: "auto", autocomplete: "off", spellcheck: "false",
      "aria-describedby": "forget-help", oninput: () => this.typed() });
    this.going = h("div", { class: "going", role: "status" });
    this.yes = h("button", { type: "button", class: "btn danger", disabled: true, onclick: () => this.act() }, "Forget for good");
    fill(this.inside, h("h2", {}, "Forget for good?"), this.going,
      h("label", { class: "label", for: "forget-text" }, "Or whatever says exactly this"), this.text,
      h("p", { class: "dim", id: "forget-help" }, "Without a text, memories go. With one, so do prompts, tool uses, answers, logs and copies that hold it."),
      h("p", {}, "There is no undo."), h("div", { class: "acts" }, this.closing("Cancel"), this.yes));
  }

  closing(label, cls = "quiet") { return h("button", { type: "button", class: `btn ${cls}`, autofocus: true, onclick: () => this.box.close() }, label); }

  typed() {
    this.yes.disabled = true;
    this.asked += 1; // an answer that is under way is of other words
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), WAIT_MS);
  }

  get wanted() {
    const text = this.text.value.trim();
    return text ? { text } : this.chosen;
  }

  async look() {
    const { wanted } = this;
    if (wanted.text && wanted.text.length < SHORTEST) { fill(this.going, h("p", {}, `${SHORTEST} characters or more: less stands everywhere.`)); return; }
    const turn = this.asked += 1;
    if (!this.going.childNodes.length) fill(this.going, h("p", {}, "Looking at what would go."));
    try {
      const found = await post("/api/forget", { ...wanted, dry_run: true });
      if (turn !== this.asked) return;
      this.yes.disabled = nothing(found);
      fill(this.going, nothing(found) ? h("p", {}, "Nothing would go.") : preview(found));
    } catch (error) {
      if (turn === this.asked) fill(this.going, h("p", { class: "fault" }, error.message));
    }
  }

  async act() {
    const { wanted } = this;
    this.stage("Forgetting", h("p", { role: "status" }, "Afterwards every file is looked through. In a large store that takes a minute; closing this does not stop it."));
    try {
      const found = await post("/api/forget", { ...wanted, dry_run: false, prove: true });
      await this.done();
      if (this.box.isConnected) this.stage(found.left.length ? "Not all of it is gone" : "Forgotten", proof(found)); else toast(sentence(found));
    } catch (error) {
      if (this.box.isConnected) this.stage("It did not work", h("p", { class: "fault", role: "alert" }, error.message)); else toast(error.message);
    }
  }

  stage(title, ...kids) {
    const head = h("h2", { tabindex: "-1" }, title);
    fill(this.inside, head, kids, h("div", { class: "acts" }, this.closing("Close", "")));
    head.focus();
  }
}

const nothing = (found) => !found.count && !Object.keys(found.rows).length && !found.files.length;

function tally(found) {
  const beside = Object.entries(found.rows).filter(([, n]) => n).map(([name, n]) => `${num(n)} ${name.replaceAll("_", " ")}`);
  const prompts = found.memories.length < Math.min(found.count, 50);
  const memories = prompts ? `${num(found.count)} memories and prompts` : many(found.count, "memory", "memories");
  return [...(found.count ? [memories] : []), ...beside].join(", ");
}

function preview(found) {
  const shown = found.memories.slice(0, SHOWN);
  const more = found.count - shown.length;
  return [h("p", {}, "This goes: ", h("b", {}, tally(found) || "nothing of the store"), "."),
    shown.length ? h("ul", { class: "plainlist" }, shown.map((card) => h("li", {}, typeMark(card.type), words(card.title || "(no title)"), h("span", { class: "dim num" }, `#${card.key}`))),
      more > 0 ? h("li", { class: "dim" }, `and ${num(more)} more`) : null) : null,
    found.files.length ? h("ul", { class: "plainlist" }, found.files.map((file) => h("li", {}, h("code", {}, plain(file.path)), FILES[file.what] || file.what))) : null];
}

function sentence(found) {
  if (found.left.length) return `The text is still in ${many(found.left.length, "place")}.`;
  if (found.proven) return `Proven: ${many(found.looked, "file")} of the data directory looked at, and the text is in none.`;
  return "Gone, but nothing could be looked for: what they said is too short, or stands elsewhere too.";
}

function proof(found) {
  return [h("p", {}, "For good: ", found.count ? many(found.count, "memory", "memories") : "what held the text", "."),
    h("p", { class: found.proven ? "proven" : "unproven", role: "status" }, sentence(found)),
    found.left.length ? h("ul", { class: "plainlist" }, found.left.map((one) => h("li", {}, h("code", {}, plain(one.place)), h("span", {}, words(one.cure))))) : null];
}
