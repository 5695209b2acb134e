// What follows hands events to the worker of claude-mem. It never throws into the host,
// and never keeps it waiting for longer than a deadline: without a worker, the event goes
// to our hook client, which keeps it on disk and starts one.

import { spawn } from "node:child_process"
import { readFileSync, statSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"

const QUICK_MS = 250
const PATIENT_MS = 3000
const MUTE_MS = 60_000
const LARGEST = 8 * 1024 * 1024
const LONGEST_PATH = 100
const PASSED = ["TOOL_HOOKS", "OBSERVATION", "FILE_CONTEXT", "SUMMARY"].map(
  (name) => `CLAUDE_MEM_DISABLE_${name}`,
)

class Late extends Error {}

/** @type {Promise<unknown>} */
let last = Promise.resolve()

/**
 * Tell the worker of an event; what it answers, "" for nothing. Events stay in order.
 * @param {string} event the host's own name of it
 * @param {() => unknown} payload makes what the adapter reads
 * @param {boolean} [patient] whether the answer is worth waiting for a starting worker
 * @returns {Promise<string>}
 */
function tell(event, payload, patient = false) {
  const told = last.then(() => deliver(event, payload, patient)).catch(() => "")
  last = told
  return told
}

/**
 * @param {string} event
 * @param {() => unknown} payload
 * @param {boolean} patient
 */
async function deliver(event, payload, patient) {
  const body = Buffer.from(JSON.stringify(payload()) ?? "")
  patient = patient && !isMute()
  if (body.length <= LARGEST) {
    try {
      return await post(event, body, patient ? PATIENT_MS : QUICK_MS)
    } catch (fault) {
      // The client does what is left to do: keep it, and start a worker. Nobody waits twice.
      patient = patient && !(fault instanceof Late)
    }
  }
  return await handOver(event, body, patient)
}

/**
 * @param {string} event
 * @param {Buffer} body
 * @param {number} ms
 * @returns {Promise<string>}
 */
function post(event, body, ms) {
  return new Promise((resolve, reject) => {
    const call = request(
      { socketPath: socket(), path: "/hook", method: "POST", headers: headers(event, body) },
      (answer) => {
        /** @type {Buffer[]} */
        const parts = []
        answer.on("data", (part) => parts.push(part))
        answer.on("error", reject)
        answer.on("end", () => {
          if (answer.statusCode !== 200) return reject(new Error("refused"))
          resolve(Buffer.concat(parts).toString("utf8"))
        })
      },
    )
    // Not every runtime tells of a call that is destroyed: the deadline is our own.
    const end = setTimeout(() => {
      reject(new Late())
      call.destroy()
    }, ms)
    call.on("error", reject)
    call.on("close", () => clearTimeout(end))
    call.end(body)
  })
}

/**
 * @param {string} event
 * @param {Buffer} body
 */
function headers(event, body) {
  const env = PASSED.filter((name) => process.env[name])
    .map((name) => `${name}=${encodeURIComponent(process.env[name] ?? "")}`)
    .join(";")
  return {
    "x-mem-host": HOST,
    "x-mem-event": encodeURIComponent(event),
    "x-mem-at": String(Date.now()),
    "content-type": "application/json",
    "content-length": String(body.length),
    connection: "close",
    ...(env ? { "x-mem-env": env } : {}),
  }
}

/** Whether a worker took a connection and said nothing a short while ago. */
function isMute() {
  try {
    return Date.now() - statSync(join(DATA, "mute")).mtimeMs < MUTE_MS
  } catch {
    return false
  }
}

/** The worker's socket; one that is not our user's is not used. */
function socket() {
  let path = join(DATA, "w.sock")
  if (Buffer.byteLength(path) > LONGEST_PATH) {
    path = readFileSync(join(DATA, "w.sock.path"), "utf8").trim()
  }
  if (process.getuid && statSync(path).uid !== process.getuid()) throw new Error("a stranger's")
  return path
}

/**
 * Give an event to our hook client, as a process of its own that outlives the host.
 * @param {string} event
 * @param {Buffer} body
 * @param {boolean} patient
 * @returns {Promise<string>}
 */
function handOver(event, body, patient) {
  return new Promise((resolve) => {
    const wait = patient ? ["--wait", String(PATIENT_MS / 1000)] : []
    const client = spawn(CLIENT[0], [...CLIENT.slice(1), HOST, event, ...wait], {
      stdio: ["pipe", patient ? "pipe" : "ignore", "ignore"],
      detached: true,
    })
    let said = ""
    const end = setTimeout(() => resolve(""), 2 * PATIENT_MS)
    const done = () => {
      clearTimeout(end)
      resolve(said)
    }
    client.on("error", done)
    client.on("close", done)
    client.stdout?.on("data", (part) => (said += part))
    client.stdin?.on("error", done)
    client.stdin?.end(body, () => patient || done())
    if (!patient) client.unref()
  })
}

/**
 * A handler that never throws and never answers anything else than what it means to.
 * @template {unknown[]} A
 * @template R
 * @param {(...args: A) => Promise<R> | R} work
 * @returns {(...args: A) => Promise<R | undefined>}
 */
function safe(work) {
  return async (...args) => {
    try {
      return await work(...args)
    } catch {
      return undefined
    }
  }
}

/** Wait until everything is told; every part of it has a deadline. */
async function settled() {
  await last.catch(() => "")
}

// What follows is the host's own part.

