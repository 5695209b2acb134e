/** @typedef {{ id: string, parentID?: string, directory?: string }} SessionInfo */

/** @type {import("@opencode-ai/plugin").Plugin} */
export const ClaudeMem = async ({ directory }) => {
  /** @type {Map<string, SessionInfo>} */
  const sessions = new Map()
  /** @type {Map<string, string>} */
  const agents = new Map()
  /** @type {Map<string, string>} */
  const answers = new Map()

  /** @param {string} id */
  const about = (id) => ({
    sessionID: id,
    cwd: sessions.get(id)?.directory || directory,
    parentID: sessions.get(id)?.parentID,
    agent: agents.get(id),
  })

  /** @param {import("@opencode-ai/sdk").Event} event */
  const happened = async (event) => {
    if (event.type === "session.created") {
      const info = event.properties.info
      sessions.set(info.id, info)
      await tell(event.type, () => about(info.id))
    } else if (event.type === "session.idle") {
      const id = event.properties.sessionID
      const answer = answers.get(id)
      answers.delete(id)
      await tell(event.type, () => ({ ...about(id), answer, at: Date.now() }))
    } else if (event.type === "session.compacted") {
      await tell(event.type, () => about(event.properties.sessionID))
    } else if (event.type === "session.error" && event.properties.sessionID) {
      const { sessionID, error } = event.properties
      await tell(event.type, () => ({ ...about(sessionID), error }))
    } else if (event.type === "message.part.updated") {
      const part = event.properties.part
      if (part.type !== "tool" || part.state.status !== "error") return
      await tell("tool.error", () => ({ ...about(part.sessionID), part }))
    }
  }

  return {
    event: safe(({ event }) => happened(event)),

    "chat.message": safe(async (input, output) => {
      const id = input.sessionID
      agents.set(id, output.message.agent)
      answers.delete(id)
      const given = await tell("chat.message", () => ({ ...about(id), input, output }), true)
      if (!given) return
      const number = crypto.randomUUID().replaceAll("-", "").slice(0, 14)
      output.parts.unshift({
        id: `prt_${Date.now().toString(16).padStart(12, "0")}${number}`,
        sessionID: id,
        messageID: output.message.id,
        type: "text",
        text: given,
        synthetic: true,
      })
    }),

    "tool.execute.after": safe(async (input, output) => {
      await tell("tool.execute.after", () => ({ ...about(input.sessionID), input, output }))
    }),

    "experimental.text.complete": safe(async (input, output) => {
      answers.set(input.sessionID, output.text)
    }),

    dispose: safe(settled),
  }
}
