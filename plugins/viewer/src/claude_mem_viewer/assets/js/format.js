// Numbers, sizes and times as people read them.
const NUMBER = new Intl.NumberFormat();
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const DAY = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const DATE = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const DATE_YEAR = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

export const num = (n) => (n === null || n === undefined ? "\u2013" : NUMBER.format(n));
export const many = (n, one, more = `${one}s`) => `${num(n)} ${n === 1 ? one : more}`;

export function short(n) {
  if (n === null || n === undefined) return "\u2013";
  if (n < 1000) return String(n);
  if (n < 1e6) return `${(n / 1000).toFixed(n < 1e4 ? 1 : 0)}k`;
  return `${(n / 1e6).toFixed(1)}M`;
}

export function bytes(n) {
  if (n < 1024) return `${n} B`;
  if (n < 1048576) return `${Math.round(n / 1024)} KB`;
  if (n < 1073741824) return `${(n / 1048576).toFixed(1)} MB`;
  return `${(n / 1073741824).toFixed(2)} GB`;
}

export function money(n) {
  if (n === null || n === undefined) return "";
  return n > 0 && n < 0.01 ? "< $0.01" : `$${n.toFixed(2)}`;
}

export function age(t, now = Date.now()) {
  const s = Math.max(0, Math.round((now - t) / 1000));
  if (s < 5) return "now";
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h`;
  if (s < 86400 * 14) return `${Math.floor(s / 86400)} d`;
  return date(t);
}

export const date = (t) =>
  (new Date(t).getFullYear() === new Date().getFullYear() ? DATE : DATE_YEAR).format(t);
export const full = (t) => FULL.format(t);
export const clock = (t) => CLOCK.format(t);
export const ago = (t) => { const said = age(t); return / (s|min|h|d)$/.test(said) ? `${said} ago` : said; };

export function length(ms) {
  const minutes = Math.round(ms / 60000);
  if (minutes < 1) return "under a minute";
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function day(t) {
  const midnight = (d) => new Date(d.getFullYear(), d.getMonth(), d.getDate()).getTime();
  const gone = Math.round((midnight(new Date()) - midnight(new Date(t))) / 86400000);
  if (gone === 0) return "Today";
  if (gone === 1) return "Yesterday";
  if (t < 86400000) return "Without a date";
  return new Date(t).getFullYear() === new Date().getFullYear() ? DAY.format(t) : `${DAY.format(t)} ${new Date(t).getFullYear()}`;
}

// `name-of-a-host` as a name.
const HOSTS = { "claude-code": "Claude Code", "codex": "Codex", "kimi": "Kimi Code", "gemini": "Gemini CLI",
  "qwen": "Qwen Code", "opencode": "OpenCode", "openclaw": "OpenClaw", "pi": "Pi", "copilot": "Copilot",
  "cursor": "Cursor", "qoder": "Qoder", "windsurf": "Windsurf", "antigravity": "Antigravity CLI", "manual": "by hand", "import": "imported" };
export const hostName = (name) => HOSTS[name] || name;

const TYPES = { bugfix: "Bug fix", feature: "Feature", refactor: "Refactor", discovery: "Discovery",
  decision: "Decision", change: "Change", summary: "Summary", security_alert: "Security alert",
  security_note: "Security note", sensitive: "Sensitive" };
export const typeName = (name) => TYPES[name] || String(name).replaceAll("_", " ");
export const knownType = (name) => (name in TYPES ? name : "change");
