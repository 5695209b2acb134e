import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry"

/**
 * What the agent said last in a conversation, after its user's last words.
 * @param {unknown[]} messages
 */
function lastWords(messages) {
  for (const message of [...messages].reverse()) {
    const { role, content } = /** @type {{ role?: string, content?: unknown }} */ (message ?? {})
    if (role === "user") return ""
    if (role !== "assistant") continue
    const parts = typeof content === "string" ? [{ type: "text", text: content }] : content
    const texts = Array.isArray(parts) ? parts.filter((part) => part?.type === "text") : []
    const said = texts.map((part) => part.text).join("\n").trim()
    if (said) return said
  }
  return ""
}

export default definePluginEntry({
  id: "claude-mem",
  name: "claude-mem",
  description: "A memory for agents: what was done in one session is there in the next",
  register(api) {
    /** @typedef {{ sessionId?: string, sessionKey?: string, workspaceDir?: string }} Context */
    /** @type {Map<string, string>} */
    const places = new Map()

    /** @param {Context} ctx */
    const about = (ctx) => {
      const id = ctx.sessionId ?? ctx.sessionKey ?? ""
      if (ctx.workspaceDir) places.set(id, ctx.workspaceDir)
      return { sessionId: id, sessionKey: ctx.sessionKey, cwd: places.get(id) }
    }

    api.on("before_prompt_build", async (event, ctx) => {
      const sent = () => ({ ...about(ctx), prompt: event.prompt, at: ctx.runId })
      const given = await tell("before_prompt_build", sent, true)
      return given ? { prependContext: given } : undefined
    })
    api.on("after_tool_call", async (event, ctx) => {
      await tell("after_tool_call", () => ({ ...about(ctx), event }))
    })
    api.on("agent_end", async (event, ctx) => {
      const { success, error, messages } = event
      const end = () => ({ ...about(ctx), at: ctx.runId, success, error, answer: lastWords(messages) })
      await tell("agent_end", end)
    })
    api.on("after_compaction", async (_, ctx) => {
      await tell("after_compaction", () => about(ctx))
    })
    api.on("session_end", async (event, ctx) => {
      await tell("session_end", () => ({ ...about(ctx), reason: event.reason }))
    })
    api.on("gateway_stop", async () => {
      await settled()
    })
    api.registerCommand({
      name: "claude_mem_status",
      description: "What the memory does: whether it records, and how much it holds",
      handler: async () => ({ text: `${await status()}\n${feed.told("")}` }),
    })
    const feed = new Feed(api)
    api.registerService({
      id: "claude-mem-feed",
      start: () => feed.start(),
      stop: () => feed.stop(),
    })
    api.registerCommand({
      name: "claude_mem_feed",
      description: "New observations as messages to a channel: how it stands, on, off",
      acceptsArgs: true,
      handler: async ({ args }) => ({ text: feed.told((args ?? "").trim().toLowerCase()) }),
    })
  },
})

/** One line on the worker, for people. */
async function status() {
  try {
    const found = JSON.parse(await ask("/health"))
    const state = found.recording === false ? "recording is stopped" : "recording"
    return `claude-mem ${found.version}: ${state}. \`mem status\` says more.`
  } catch {
    return "claude-mem: the worker is not running. `mem start` starts it."
  }
}

/**
 * @param {string} path
 * @returns {Promise<string>}
 */
function ask(path) {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath: socket(), path }, (answer) => {
      let said = ""
      answer.on("data", (part) => (said += part))
      answer.on("end", () => resolve(said))
    })
    call.on("error", reject)
    setTimeout(() => {
      reject(new Error("late"))
      call.destroy()
    }, PATIENT_MS).unref()
    call.end()
  })
}
