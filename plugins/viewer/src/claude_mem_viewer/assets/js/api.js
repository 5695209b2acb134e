// Requests to the worker. The session stays in this tab and travels in a header only.
import { emit } from "./bus.js";

const KEY = "mem.session";

export class Failed extends Error {
  constructor(status, text, data) {
    super(text);
    this.status = status;
    this.data = data;
  }
}

const kept = { token: null };
export function token() {
  if (kept.token === null) {
    try { kept.token = sessionStorage.getItem(KEY) || ""; } catch { kept.token = ""; }
  }
  return kept.token;
}

export function keep(value) {
  kept.token = value;
  try { value ? sessionStorage.setItem(KEY, value) : sessionStorage.removeItem(KEY); } catch { /* this tab only */ }
}

export const forget = () => keep("");

// Trade the one-time code of `mem open` for a session.
export async function trade(code) {
  const answer = await fetch("/api/session", {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ code }),
  });
  const found = await answer.json();
  if (!answer.ok) throw new Failed(answer.status, found.error, found);
  keep(found.token);
}

export function head(more = {}) {
  return { authorization: `Bearer ${token()}`, ...more };
}

export function address(path, params) {
  const all = Object.entries(params || {}).flatMap(([name, v]) => (Array.isArray(v) ? v : [v]).map((one) => [name, one]));
  const given = all.filter(([, v]) => v !== null && v !== undefined && v !== "");
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

async function ask(method, path, { params, body, signal } = {}) {
  const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: head({ "content-type": "application/json" }) };
  let answer;
  try {
    answer = await fetch(address(path, params), { method, signal, headers: head(), ...sent });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    emit("unreachable");
    throw new Failed(0, "The worker does not answer.");
  }
  const found = await answer.json().catch(() => ({}));
  if (answer.status === 401) emit("locked", found.error);
  if (!answer.ok) throw new Failed(answer.status, found.error || `The worker answered ${answer.status}.`, found);
  return found;
}

export const get = (path, params, signal) => ask("GET", path, { params, signal });
export const post = (path, body = {}) => ask("POST", path, { body });
export const patch = (path, body) => ask("PATCH", path, { body });
export const del = (path) => ask("DELETE", path);
