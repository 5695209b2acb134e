// Addresses of the page. What is shown stands in the address, so back always works.
import { emit } from "./bus.js";

const PAGES = {
  "": "work", viewer: "memories", work: "work", memories: "memories", sessions: "sessions", session: "sessions", queue: "queue",
  usage: "usage", status: "status", settings: "settings", tv: "tv", "tv.html": "tv",
};

export function read() {
  const parts = location.pathname.split("/").filter(Boolean).map(decodeURIComponent);
  return {
    page: PAGES[parts[0] || ""] || "memories",
    id: parts[1] || "",
    params: new URLSearchParams(location.search),
  };
}

export function go(path, { replace = false } = {}) {
  if (path === location.pathname + location.search) return;
  if (replace) history.replaceState(history.state, "", path);
  else history.pushState({}, "", path);
  emit("route", read());
}

window.addEventListener("popstate", () => emit("route", read()));

// Links of the page are followed without loading it anew.
document.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target.closest?.("a[href^='/']");
  if (!link || link.target) return;
  event.preventDefault();
  go(link.getAttribute("href"));
});
