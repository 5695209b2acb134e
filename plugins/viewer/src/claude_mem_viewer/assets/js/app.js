// The way in: trade the code of `mem open`, build the shell, show the page of the address.
import { forget, keep, token, trade } from "./api.js";
import { emit, on } from "./bus.js";
import { fill, h, say } from "./dom.js";
import { setKeys } from "./keys.js";
import { locked } from "./locked.js";
import { palette } from "./palette.js";
import { memories } from "./pages/memories.js";
import { queue } from "./pages/queue.js";
import { sessions } from "./pages/sessions.js";
import { settings } from "./pages/settings.js";
import { status } from "./pages/status.js";
import { AWAY, tv } from "./pages/tv.js";
import { usage } from "./pages/usage.js";
import { work } from "./pages/work.js";
import { read } from "./route.js";
import { build, current, look } from "./shell.js";
import { connect } from "./stream.js";

const PAGES = { memories, sessions, queue, usage, status, settings, tv, work };
const root = document.getElementById("app");
const shown = { name: "", page: null, main: null };

// Behind a TLS front there is only the TV page, and its token is the session.
function away() {
  document.documentElement.toggleAttribute("data-tv", true);
  if (location.hash.length > 1) keep(decodeURIComponent(location.hash.slice(1)));
  history.replaceState(null, "", location.pathname + location.search);
  const main = h("main", { class: "main", id: "main", tabindex: "-1" });
  fill(root, main);
  tv(main, read());
}

async function begin() {
  if (AWAY) { away(); return; }
  const code = location.hash.slice(1);
  if (/^[A-Za-z0-9_-]{16,64}$/.test(code)) {
    // The code must not stay in the address, whatever comes of it.
    history.replaceState(null, "", location.pathname + location.search);
    try { await trade(code); } catch (error) { if (!token()) { locked(root, begin, error.message); return; } }
  }
  if (!token()) { locked(root, begin); return; }
  shown.main = build(root, palette);
  show(read());
  connect();
  setTimeout(look, 50);
}

function show(route) {
  if (!shown.main) return;
  const leaving = shown.page;
  if (route.page === shown.name && leaving?.update) { leaving.update(route); return; }
  if (leaving?.stays?.(() => show(read()))) return;
  leaving?.leave?.();
  setKeys(null);
  document.documentElement.toggleAttribute("data-tv", route.page === "tv");
  current(route.page);
  fill(shown.main);
  shown.name = route.page;
  const first = !leaving;
  shown.page = PAGES[route.page](shown.main, route);
  document.title = `${shown.page.title} \u00b7 mem`;
  setKeys((key, event) => shown.page?.keys?.(key, event));
  if (!first) say(shown.page.title);
  if (!document.body.contains(document.activeElement) || document.activeElement === document.body) shown.main.focus({ preventScroll: true });
}

on("route", show);
on("locked", (text) => {
  if (!shown.main) return;
  shown.page?.leave?.();
  forget();
  Object.assign(shown, { name: "", page: null, main: null });
  setKeys(null);
  locked(root, begin, text);
  emit("closed");
});

window.addEventListener("error", (event) => { if (!shown.main) fill(root, h("p", { class: "empty" }, event.message)); });
begin();
