// @ts-check
"use strict"

// Speaks to the worker of claude-mem over its private socket. No call outlives its deadline.

const { request } = require("node:http")
const { readFileSync, statSync } = require("node:fs")
const { homedir } = require("node:os")
const { isAbsolute, join } = require("node:path")

const CALL_MS = 5000
const SEARCH_MS = 10_000
const HEALTH_MS = 2000
const LONGEST_PATH = 100
const CLIENT = "vscode"

class Down extends Error {
  constructor() {
    super("The worker of claude-mem does not answer. `mem start` in a terminal starts it.")
  }
}

class Worker {
  /** @param {string} data the data directory; empty for the usual one */
  constructor(data) {
    this.data = isAbsolute(data) ? data : join(homedir(), ".claude-mem")
  }

  /** What `/api/health` says. @returns {Promise<Record<string, any>>} */
  health() {
    return this.ask("GET", "/api/health", undefined, HEALTH_MS)
  }

  /**
   * Tell of something that happened.
   * @param {"init" | "observations" | "summarize" | "complete"} what
   * @param {Record<string, unknown>} body
   */
  tell(what, body) {
    return this.ask("POST", `/api/sessions/${what}`, { ...body, platformSource: CLIENT }, CALL_MS)
  }

  /**
   * The text that one of the memory's tools answers, for the project of a folder.
   * @param {string} name
   * @param {Record<string, unknown>} given
   * @param {string} cwd
   * @returns {Promise<string>}
   */
  async tool(name, given, cwd) {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } }
    const target = `/mcp?client=${CLIENT}&cwd=${encodeURIComponent(cwd)}`
    const { result, error } = await this.ask("POST", target, message, SEARCH_MS)
    if (error) throw new Error(error.message)
    const text = result.content.map((/** @type {{ text: string }} */ part) => part.text).join("\n")
    if (result.isError) throw new Error(text)
    return text
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {unknown} body
   * @param {number} ms
   * @returns {Promise<any>}
   */
  ask(method, path, body, ms) {
    return new Promise((resolve, reject) => {
      const data = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
      const headers = {
        accept: "application/json, text/event-stream",
        ...(data ? { "content-type": "application/json", "content-length": data.length } : {}),
      }
      const call = request({ socketPath: this.socket(), path, method, headers }, (answer) => {
        /** @type {Buffer[]} */
        const parts = []
        answer.on("data", (part) => parts.push(part))
        answer.on("error", () => reject(new Down()))
        answer.on("end", () => {
          clearTimeout(end)
          try {
            const found = JSON.parse(Buffer.concat(parts).toString("utf8"))
            if (answer.statusCode === 200) resolve(found)
            else reject(new Error(String(found.error ?? answer.statusCode)))
          } catch {
            reject(new Down())
          }
        })
      })
      const end = setTimeout(() => {
        reject(new Down())
        call.destroy()
      }, ms)
      call.on("error", () => {
        clearTimeout(end)
        reject(new Down())
      })
      call.end(data)
    })
  }

  /** The worker's socket; one that is not our user's is not used. */
  socket() {
    try {
      let path = join(this.data, "w.sock")
      if (Buffer.byteLength(path) > LONGEST_PATH) {
        path = readFileSync(join(this.data, "w.sock.path"), "utf8").trim()
      }
      if (process.getuid && statSync(path).uid !== process.getuid()) throw new Down()
      return path
    } catch {
      throw new Down()
    }
  }
}

module.exports = { Worker, Down }
