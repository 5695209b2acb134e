
// The feed: each new observation as one message to a channel of OpenClaw's. It follows the
// worker's stream, comes back by itself when that ends, and sends nothing that was there before.

import { sendDurableMessageBatch } from "openclaw/plugin-sdk/channel-outbound"

const CHANNELS = ["telegram", "discord", "slack", "signal", "whatsapp", "line"]
const SOON_MS = 1000
const LATE_MS = 30_000

class Feed {
  /** @param {import("openclaw/plugin-sdk/plugin-entry").OpenClawPluginApi} api */
  constructor(api) {
    this.api = api
    const given = /** @type {Record<string, any>} */ (api.pluginConfig ?? {}).observationFeed ?? {}
    this.channel = String(given.channel ?? "")
    this.to = String(given.to ?? "")
    this.enabled = given.enabled === true
    this.connection = "not connected"
    this.wait = SOON_MS
    this.sent = 0
    /** @type {NodeJS.Timeout | undefined} */
    this.again = undefined
    /** @type {import("node:http").ClientRequest | undefined} */
    this.call = undefined
  }

  /** Why nothing can be sent; "" when all is well. */
  fault() {
    if (!this.channel || !this.to) {
      return "misconfigured: observationFeed needs both channel and to"
    }
    const known = CHANNELS.includes(this.channel)
    return known ? "" : `unknown channel type: ${this.channel} (known: ${CHANNELS.join(", ")})`
  }

  start() {
    const fault = this.fault()
    if (!this.enabled) return this.note("the feed is off")
    if (fault) return this.note(`the feed is ${fault}`)
    if (!this.call) this.connect()
  }

  stop() {
    clearTimeout(this.again)
    const call = this.call
    this.call = undefined
    this.connection = "not connected"
    call?.destroy()
  }

  connect() {
    try {
      const call = request({ socketPath: socket(), path: "/stream" }, (answer) => {
        if (answer.statusCode !== 200) return void answer.destroy()
        this.connection = "connected"
        this.wait = SOON_MS
        let text = ""
        answer.setEncoding("utf8")
        answer.on("data", (part) => {
          const events = (text + part).split("\n\n")
          text = events.pop() ?? ""
          for (const event of events) void this.heard(event)
        })
        answer.on("error", () => undefined)
      })
      this.call = call
      call.on("error", () => undefined)
      call.on("close", () => this.call === call && this.retry())
      call.end()
    } catch {
      this.retry() // no worker yet
    }
  }

  retry() {
    this.call = undefined
    this.connection = `no worker answers; next try in ${this.wait / 1000} s`
    this.again = setTimeout(() => this.connect(), this.wait)
    this.again.unref()
    this.wait = Math.min(2 * this.wait, LATE_MS)
  }

  /** @param {string} event */
  async heard(event) {
    const line = event.split("\n").find((one) => one.startsWith("data: "))
    try {
      const { type, id } = JSON.parse(line?.slice(6) ?? "{}")
      if (type !== "new_observation" || !this.enabled) return
      await this.send(await row(Number(id)))
    } catch (fault) {
      this.note(`the feed could not send: ${fault instanceof Error ? fault.message : fault}`)
    }
  }

  /** @param {{ title?: string, subtitle?: string, project?: string }} observation */
  async send({ title, subtitle, project }) {
    const lines = [`\u{1F9E0} claude-mem, ${project ?? ""}`, `**${title ?? "Untitled"}**`, subtitle]
    const payloads = [{ text: lines.filter(Boolean).join("\n") }]
    const to = { channel: this.channel, to: this.to }
    const done = await sendDurableMessageBatch({
      cfg: this.api.config, ...to, payloads, durability: "best_effort",
    })
    if (done.status !== "sent") throw new Error(done.status)
    this.sent += 1
  }

  /** What the chat command says. @param {string} word */
  told(word) {
    if (word === "on" || word === "off") {
      this.enabled = word === "on"
      if (this.enabled) this.start()
      else this.stop()
    } else if (word) {
      return "Use `/claude_mem_feed`, `/claude_mem_feed on` or `/claude_mem_feed off`."
    }
    return [
      `Enabled: ${this.enabled ? "yes" : "no"}`,
      `Channel: ${this.channel || "none"}`,
      `Target: ${this.to || "none"}`,
      `Connection: ${(this.enabled && this.fault()) || this.connection}`,
      `Sent: ${this.sent}`,
      ...(word ? ["Until the gateway restarts; `observationFeed.enabled` in its config keeps it."] : []),
    ].join("\n")
  }

  /** @param {string} text */
  note(text) {
    this.api.logger.info(`claude-mem: ${text}`)
  }
}

/**
 * An observation by its id.
 * @param {number} id
 */
async function row(id) {
  const found = JSON.parse(await ask(`/api/observation/${id}`))
  if (found.error) throw new Error(found.error)
  return found
}
