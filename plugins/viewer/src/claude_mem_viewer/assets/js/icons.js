// Our own drawings: 16 px, one stroke.
import { s } from "./dom.js";

const PATHS = {
  work: "M2.5 4.2l1.3 1.3 2.2-2.4M8.7 4.3h4.8M2.5 11.2l1.3 1.3 2.2-2.4M8.7 11.3h4.8",
  memories: "M3 4h10M3 8h10M3 12h6.5",
  sessions: "M2.5 3.2h11v7.6H7.2L4.4 13v-2.2H2.5z",
  status: "M1.8 8.4h3.1l1.6-4.2 2.9 7.8 1.7-3.6h3.1",
  queue: "M2.5 4.2h11M2.5 8h11M2.5 11.8h6",
  usage: "M3 13V9.5M6.4 13V4.5M9.7 13V7.6M13 13V3",
  settings: "M2.5 5h5.4M11.6 5h1.9M2.5 11h2.1M8.3 11h5.2M9.7 3.2a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6M6.4 9.2a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6",
  tv: "M2.3 3.6h11.4v7.6H2.3zM5.8 13.4h4.4",
  search: "M7 2.7a4.3 4.3 0 1 1 0 8.6 4.3 4.3 0 0 1 0-8.6M10.2 10.2l3.3 3.3",
  bugfix: "M5.3 6.4a2.7 2.7 0 0 1 5.4 0v3.4a2.7 2.7 0 0 1-5.4 0zM5.3 8H2.4M13.6 8h-2.9M5.6 5.2 3.6 3.5M10.4 5.2l2-1.7M5.7 11l-2 1.8M10.3 11l2 1.8",
  feature: "M8 3v10M3 8h10",
  refactor: "M3 6.6a5.2 5.2 0 0 1 9.2-1.3M13 9.4a5.2 5.2 0 0 1-9.2 1.3M12.5 2.7v2.7H9.8M3.5 13.3v-2.7h2.7",
  discovery: "M1.9 8C3.4 5.3 5.5 3.9 8 3.9S12.6 5.3 14.1 8C12.6 10.7 10.5 12.1 8 12.1S3.4 10.7 1.9 8zM8 6.3a1.7 1.7 0 1 1 0 3.4 1.7 1.7 0 0 1 0-3.4",
  decision: "M8 13.4V9M8 9c0-2.6-4-2.2-4-5.8M8 9c0-2.6 4-2.2 4-5.8M2.4 4.7 4 3.1l1.6 1.6M10.4 4.7 12 3.1l1.6 1.6",
  change: "M3 13l.7-2.8 7-7 2.1 2.1-7 7zM9.3 4.6l2.1 2.1",
  summary: "M3.6 2.6h8.8v10.8H3.6zM6 5.7h4M6 8.2h4M6 10.7h2",
  security_alert: "M8 2.2l5 1.9v3.7c0 3-2.1 5-5 6-2.9-1-5-3-5-6V4.1zM8 5.6v2.9M8 10.7v.1",
  security_note: "M8 2.2l5 1.9v3.7c0 3-2.1 5-5 6-2.9-1-5-3-5-6V4.1zM5.9 8l1.5 1.5 2.8-3",
  sensitive: "M4 7.2h8v6H4zM5.6 7.2V5.3a2.4 2.4 0 0 1 4.8 0v1.9",
  pin: "M5.8 2.6h4.4l-.5 4.1 1.9 2.2H4.4l1.9-2.2zM8 8.9v4.6",
  wrong: "M8 2.4a5.6 5.6 0 1 1 0 11.2A5.6 5.6 0 0 1 8 2.4M4.1 4.1l7.8 7.8",
  replaced: "M3 6h7.4a2.9 2.9 0 0 1 0 5.8H7M5.4 3.5 3 6l2.4 2.5",
  foreign: "M8 2.4a5.6 5.6 0 1 1 0 11.2A5.6 5.6 0 0 1 8 2.4M2.6 8h10.8M8 2.6c3.4 3.3 3.4 7.5 0 10.8M8 2.6c-3.4 3.3-3.4 7.5 0 10.8",
  deleted: "M2.9 4.4h10.2M6.3 4.4V2.9h3.4v1.5M4.3 4.4l.6 8.8h6.2l.6-8.8",
  edit: "M3 13l.7-2.8 7-7 2.1 2.1-7 7z",
  check: "M3.2 8.4l3.2 3.2 6.4-6.9",
  x: "M4.2 4.2l7.6 7.6M11.8 4.2l-7.6 7.6",
  down: "M4.6 6.4 8 9.8l3.4-3.4",
  back: "M9.6 4.2 5.8 8l3.8 3.8",
  file: "M4.2 2.5h4.6L12 5.7v7.8H4.2zM8.8 2.5v3.2H12",
  tool: "M2.5 3.5h11v9h-11zM5 6.4l1.9 1.7L5 9.8M8.4 9.9h2.4",
  person: "M8 2.7a2.6 2.6 0 1 1 0 5.2 2.6 2.6 0 0 1 0-5.2M3.2 13.4c.5-2.7 2.4-3.9 4.8-3.9s4.3 1.2 4.8 3.9",
  alert: "M8 2.4a5.6 5.6 0 1 1 0 11.2A5.6 5.6 0 0 1 8 2.4M8 5.2v3.5M8 10.9v.1",
  clock: "M8 2.4a5.6 5.6 0 1 1 0 11.2A5.6 5.6 0 0 1 8 2.4M8 5v3.2l2.2 1.3",
  copy: "M5.6 5.6h7.6v7.8H5.6zM3 10.4V2.8h7.4",
  question: "M8 2.4a5.6 5.6 0 1 1 0 11.2A5.6 5.6 0 0 1 8 2.4M6.3 6.5a1.8 1.8 0 1 1 2.5 1.7c-.6.3-.8.6-.8 1.2M8 11.2v.1",
  up: "M8 13V3.6M4.2 7.2 8 3.4l3.8 3.8",
};

const made = new Map();

export function icon(name, label) {
  if (!made.has(name)) {
    const shape = s("svg", { viewBox: "0 0 16 16", class: "i", "aria-hidden": "true" },
      s("path", { d: PATHS[name] || PATHS.change }));
    made.set(name, shape);
  }
  const el = made.get(name).cloneNode(true);
  if (label) {
    el.removeAttribute("aria-hidden");
    el.setAttribute("role", "img");
    el.setAttribute("aria-label", label);
  }
  return el;
}
