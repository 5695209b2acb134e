// @ts-check
"use strict"

// What a save changed in a file, as the one stretch of lines that differs.

const LARGEST = 8000

/**
 * @param {string} before
 * @param {string} after
 * @returns {{ old_string: string, new_string: string } | undefined} undefined when nothing differs
 */
function change(before, after) {
  if (before === after) return undefined
  const [old, now] = [before.split("\n"), after.split("\n")]
  const most = Math.min(old.length, now.length)
  let head = 0
  while (head < most && old[head] === now[head]) head++
  let tail = 0
  while (tail < most - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++
  const part = (/** @type {string[]} */ lines) => shortened(lines.slice(head, lines.length - tail))
  return { old_string: part(old), new_string: part(now) }
}

/** @param {string[]} lines */
function shortened(lines) {
  const text = lines.join("\n")
  return text.length > LARGEST ? `${text.slice(0, LARGEST)}\n...` : text
}

module.exports = { change }
