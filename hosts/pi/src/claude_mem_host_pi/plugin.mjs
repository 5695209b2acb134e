/** @param {import("@oh-my-pi/pi-coding-agent/extensibility/extensions").ExtensionAPI} pi */
export default function claudeMem(pi) {
  /** @typedef {import("@oh-my-pi/pi-coding-agent/extensibility/extensions").ExtensionContext} Context */

  /** @param {Context} ctx */
  const about = (ctx) => ({ sid: ctx.sessionManager.getSessionId(), cwd: ctx.cwd })

  pi.on(
    "session_start",
    safe(async (event, /** @type {Context} */ ctx) => {
      await tell(event.type, () => ({ ...about(ctx), event }))
    }),
  )
  pi.on(
    "before_agent_start",
    safe(async (event, /** @type {Context} */ ctx) => {
      const sent = () => ({ ...about(ctx), event: { type: event.type, prompt: event.prompt } })
      const given = await tell(event.type, sent, true)
      if (!given) return undefined
      return { message: { customType: "claude-mem", content: given, display: false } }
    }),
  )
  pi.on(
    "tool_result",
    safe(async (event, /** @type {Context} */ ctx) => {
      await tell(event.type, () => ({ ...about(ctx), event }))
      return undefined
    }),
  )
  pi.on(
    "session_stop",
    safe(async (event, /** @type {Context} */ ctx) => {
      const { last_assistant_message: last, turn_id, stop_hook_active } = event
      const end = { type: event.type, turn_id, stop_hook_active, last_assistant_message: last }
      await tell(event.type, () => ({ ...about(ctx), event: end }))
      return undefined
    }),
  )
  pi.on(
    "session_compact",
    safe(async (event, /** @type {Context} */ ctx) => {
      await tell(event.type, () => about(ctx))
    }),
  )
  pi.on(
    "session_shutdown",
    safe(async (event, /** @type {Context} */ ctx) => {
      await tell(event.type, () => about(ctx))
      await settled()
    }),
  )
}
