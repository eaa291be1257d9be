#!/usr/bin/env node
// A scripted stand-in for a chat model: OpenAI chat-completions over HTTP, on the loopback interface only. The
// conversation itself says what the "model" does (script.mjs), so the server keeps no state and any number of sessions
// and sub-agents may talk to it. Every request is logged whole: tests look at what the model was really sent.
import { appendFileSync, existsSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fill, plan, textOf } from "./script.mjs";

const options = new Map();
for (let i = 2; i < process.argv.length; i += 2) options.set(process.argv[i].replace(/^--/, ""), process.argv[i + 1]);
const logFile = options.get("log");
const gates = options.get("gates");

const log = (record) => appendFileSync(logFile, `${JSON.stringify({ t: Date.now(), ...record })}\n`);
const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));
let serial = 0;

/** Does what must happen before the answer; false when there is none. */
async function before(actions, id, res) {
  for (const action of actions) {
    if (action.verb === "wait") await sleep(Number(action.text));
    // Holds the answer until the test opens the gate, or the client goes.
    while (action.verb === "until" && !existsSync(join(gates, action.text)) && !res.destroyed) await sleep(20);
    if (action.verb === "error") {
      const [status, ...words] = action.text.split(" ");
      res.writeHead(Number(status), { "content-type": "application/json" });
      res.end(JSON.stringify({ error: { message: words.join(" ") || "scripted failure", type: "mock" } }));
      log({ kind: "error", id, status });
      return false;
    }
  }
  return !res.destroyed;
}

function answer(actions, id, model, texts, res) {
  const created = Math.floor(Date.now() / 1000);
  const emit = (choices, extra = {}) =>
    res.write(`data: ${JSON.stringify({ id, object: "chat.completion.chunk", created, model, choices, ...extra })}\n\n`);
  const delta = (delta, finish_reason = null) => emit([{ index: 0, delta, finish_reason }]);
  res.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  delta({ role: "assistant", content: "" });
  let calls = 0;
  for (const action of actions) {
    if (action.verb === "say") for (const word of fill(action.text, texts).split(/(?<= )/)) delta({ content: word });
    if (action.verb !== "call") continue;
    const call = { index: calls, id: `call_${id}_${calls}`, type: "function", function: { name: action.name, arguments: "" } };
    delta({ tool_calls: [call] });
    delta({ tool_calls: [{ index: calls, function: { arguments: fill(action.args, texts) } }] });
    calls += 1;
  }
  delta({}, calls ? "tool_calls" : "stop");
  emit([], { usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } });
  res.end("data: [DONE]\n\n");
  log({ kind: "answer", id, actions: actions.map((action) => action.verb + (action.name ? `:${action.name}` : "")) });
}

async function complete(body, res) {
  const messages = body.messages.map((message) => ({ role: message.role, text: textOf(message.content) }));
  const { turn, source } = plan(messages);
  const id = `mock-${++serial}`;
  const actions = turn ?? [{ verb: "say", text: "ok" }];
  const gate = actions.find((action) => action.verb === "until")?.text;
  log({ kind: "request", id, model: body.model, tools: (body.tools ?? []).map((tool) => tool.function?.name), source, gate, messages });
  res.on("close", () => log({ kind: res.writableEnded ? "done" : "broken off", id }));
  if (await before(actions, id, res)) answer(actions, id, body.model, messages.map((message) => message.text), res);
}

const server = createServer((req, res) => {
  const chunks = [];
  req.on("data", (chunk) => chunks.push(chunk));
  req.on("end", () => {
    if (req.method !== "POST" || !req.url.endsWith("/chat/completions")) {
      log({ kind: "other", method: req.method, url: req.url });
      res.writeHead(404).end();
      return;
    }
    complete(JSON.parse(Buffer.concat(chunks).toString("utf8")), res).catch((error) => {
      log({ kind: "crash", error: String(error?.stack ?? error) });
      res.destroy();
    });
  });
});
server.listen(0, "127.0.0.1", () => {
  const file = options.get("port-file");
  writeFileSync(`${file}.new`, String(server.address().port));
  renameSync(`${file}.new`, file);
});
