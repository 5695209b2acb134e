// Parts of the page tell each other what happened; nobody knows who listens.
const listeners = new Map();

export function on(name, fn) {
  if (!listeners.has(name)) listeners.set(name, new Set());
  listeners.get(name).add(fn);
  return () => listeners.get(name).delete(fn);
}

export function emit(name, data) {
  for (const fn of [...(listeners.get(name) || [])]) fn(data);
}
