"use strict"

// Drives the extension with a stand-in for VS Code's own module. Reads one step a line from
// stdin, and prints one line of JSON for each.

const Module = require("node:module")
const { createInterface } = require("node:readline")

const [, , extension, data, project] = process.argv
const handlers = {}
const registered = { tools: {}, commands: {}, participants: {} }
const shown = []
const uri = (path) => ({ scheme: "file", fsPath: path })
const root = { uri: uri(project) }
const event = (name) => (handler) => {
  handlers[name] = handler
  return { dispose() {} }
}
const settings = { dataDirectory: data, record: true, idleMinutes: 5 }

const vscode = {
  env: { sessionId: "window-1" },
  workspace: {
    textDocuments: [],
    workspaceFolders: [root],
    getConfiguration: () => ({ get: (name, otherwise) => settings[name] ?? otherwise }),
    getWorkspaceFolder: ({ fsPath }) => (fsPath.startsWith(project) ? root : undefined),
    onDidOpenTextDocument: event("open"),
    onDidCloseTextDocument: event("close"),
    onDidSaveTextDocument: event("save"),
  },
  window: {
    activeTextEditor: undefined,
    showInformationMessage: (text) => shown.push(text),
    showWarningMessage: (text) => shown.push(`! ${text}`),
  },
  chat: { createChatParticipant: (id, handler) => (registered.participants[id] = handler) },
  lm: { registerTool: (name, tool) => (registered.tools[name] = tool) },
  commands: { registerCommand: (name, run) => (registered.commands[name] = run) },
  LanguageModelChatMessage: { User: (content) => ({ role: "user", content }) },
  LanguageModelToolResult: class {
    constructor(parts) {
      this.parts = parts
    }
  },
  LanguageModelTextPart: class {
    constructor(value) {
      this.value = value
    }
  },
}

const load = Module._load
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest))
const { activate, deactivate } = require(extension)

const steps = {
  settings: (given) => Object.assign(settings, given),
  open: ({ path, text }) => handlers.open({ uri: uri(path), getText: () => text }),
  save: ({ path, text }) => handlers.save({ uri: uri(path), getText: () => text }),
  async search({ query }) {
    const { parts } = await registered.tools["claude-mem-search"].invoke({ input: { query } })
    return parts.map(({ value }) => value).join("")
  },
  async chat({ prompt, answer }) {
    const asked = []
    const written = []
    const sendRequest = async (messages) => {
      asked.push(...messages.map(({ content }) => content))
      if (answer === undefined) throw new Error("no model")
      return { text: [answer] }
    }
    const request = { prompt, model: { sendRequest } }
    const stream = { markdown: (text) => written.push(text) }
    await registered.participants["claude-mem.memory"](request, {}, stream, {})
    return { asked, written: written.join("") }
  },
  async command({ name, selection }) {
    const document = { uri: uri(`${project}/cart.py`), getText: () => selection }
    vscode.window.activeTextEditor = selection === undefined ? undefined : { document }
    shown.length = 0
    await registered.commands[`claude-mem.${name}`]()
    vscode.window.activeTextEditor = undefined
    return shown.join("\n")
  },
  end: () => deactivate(),
}

activate({ subscriptions: [] })
createInterface({ input: process.stdin }).on("line", async (line) => {
  const { step, ...given } = JSON.parse(line)
  let found
  try {
    found = { ok: (await steps[step](given)) ?? null }
  } catch (fault) {
    found = { fault: String(fault) }
  }
  process.stdout.write(`${JSON.stringify(found)}\n`)
})
