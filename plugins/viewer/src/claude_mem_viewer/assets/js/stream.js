// What happens, as it happens. Read with fetch: the token must not stand in an address.
import { head, token } from "./api.js";
import { emit, on } from "./bus.js";

const PAUSES = [1, 2, 4, 8, 15];
const SILENT_MS = 45_000; // the worker says something every 15 s
const HIDDEN_MS = 5 * 60_000;
let running = null;
let tries = 0;
let timer = 0;
let hidden = 0;
export const link = { state: "connecting", since: Date.now(), next: 0 };

function set(state) {
  if (link.state === state) return;
  link.state = state;
  if (state !== "connecting") link.since = Date.now();
  emit("link", link);
}

export function connect() {
  clearTimeout(timer);
  running?.abort();
  if (!token()) return;
  running = new AbortController();
  read(running).catch(() => {}).finally(() => {});
}

async function read(control) {
  let watch = 0;
  const alive = () => { clearTimeout(watch); watch = setTimeout(() => control.abort(), SILENT_MS); };
  try {
    alive();
    const answer = await fetch("/stream", { headers: head({ accept: "text/event-stream" }), signal: control.signal });
    if (answer.status === 401) { emit("locked"); return; }
    if (!answer.ok || !answer.body) throw new Error(String(answer.status));
    const again = tries > 0 || link.state === "down";
    tries = 0;
    set("up");
    if (again) emit("again");
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      alive();
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      parts.forEach(tell);
    }
  } catch { /* told below */ } finally { clearTimeout(watch); }
  if (running === control) later();
}

function tell(block) {
  const line = block.split("\n").find((one) => one.startsWith("data: "));
  if (!line) return;
  try {
    const found = JSON.parse(line.slice(6));
    emit("event", found);
  } catch { /* no event of ours */ }
}

function later() {
  if (hidden && document.hidden) return;
  const pause = PAUSES[Math.min(tries, PAUSES.length - 1)] * 1000 * (0.8 + Math.random() * 0.4);
  tries += 1;
  link.next = Date.now() + pause;
  set("down");
  emit("link", link);
  timer = setTimeout(connect, pause);
}

export function now() {
  if (link.state !== "up") { tries = Math.max(tries, 1); connect(); }
}

let hiding = 0;
document.addEventListener("visibilitychange", () => {
  clearTimeout(hiding);
  if (document.hidden) {
    hiding = setTimeout(() => { hidden = 1; running?.abort(); running = null; }, HIDDEN_MS);
  } else {
    if (hidden) { hidden = 0; tries = 1; connect(); } else now();
  }
});
window.addEventListener("online", now);
on("unreachable", () => { if (link.state === "up") running?.abort(); });
