// A scripted stand-in for the Messages API, on the loopback interface: what the "model" does stands in the last prompt that a
// person wrote, so the server keeps no state.
//
//   do> TOOL {"json": "arguments"}    one step each; the next one follows when its result is there
//   say> some text                    the end of the turn
//
// TOOL is matched by its end, so that `handoff_wait` finds `mcp__plugin_handoff_planner__handoff_wait`. Each request is appended
// to the log as one line of JSON.
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";

const textOf = (content) =>
  typeof content === "string"
    ? content
    : (content ?? []).map((part) => (part.type === "text" ? part.text : "")).join("\n");

const isScript = (message) => message.role === "user" && /^\s*(do|say)> /m.test(textOf(message.content));

/** The steps of the last script, and how many of them have a result already. */
const progress = (messages) => {
  const at = messages.findLastIndex(isScript);
  if (at < 0) return { steps: [], done: 0 };
  const lines = textOf(messages[at].content).split("\n").map((line) => line.trim());
  const steps = lines.filter((line) => /^(do|say)> /.test(line));
  const results = messages.slice(at + 1).flatMap((message) => (Array.isArray(message.content) ? message.content : []));
  return { steps, done: results.filter((part) => part.type === "tool_result").length };
};

const answer = (request) => {
  const { steps, done } = progress(request.messages ?? []);
  const step = steps[done] ?? "say> done";
  if (step.startsWith("say> ")) return { stop: "end_turn", block: { type: "text", text: step.slice(5) } };
  const [name, ...rest] = step.slice(4).split(" ");
  const tool = (request.tools ?? []).find((one) => one.name === name || one.name.endsWith(`__${name}`));
  if (!tool) {
    const names = (request.tools ?? []).map((one) => one.name).join(", ");
    return { stop: "end_turn", block: { type: "text", text: `no tool ${name} among: ${names}` } };
  }
  const input = JSON.parse(rest.join(" ") || "{}");
  return { stop: "tool_use", block: { type: "tool_use", id: `toolu_${done}_${Date.now()}`, name: tool.name, input } };
};

const usage = { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };

const streamed = (response, model, { stop, block }) => {
  const send = (event, data) => response.write(`event: ${event}\ndata: ${JSON.stringify({ type: event, ...data })}\n\n`);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const message = { id: "msg_1", type: "message", role: "assistant", model, content: [], stop_reason: null, stop_sequence: null, usage };
  send("message_start", { message });
  const empty = block.type === "text" ? { type: "text", text: "" } : { ...block, input: {} };
  send("content_block_start", { index: 0, content_block: empty });
  const delta =
    block.type === "text"
      ? { type: "text_delta", text: block.text }
      : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
  send("content_block_delta", { index: 0, delta });
  send("content_block_stop", { index: 0 });
  send("message_delta", { delta: { stop_reason: stop, stop_sequence: null }, usage });
  send("message_stop", {});
  response.end();
};

const whole = (response, model, { stop, block }) => {
  response.writeHead(200, { "content-type": "application/json" });
  const message = { id: "msg_1", type: "message", role: "assistant", model, content: [block], stop_reason: stop, stop_sequence: null, usage };
  response.end(JSON.stringify(message));
};

/** Starts the server; gives its address and a way to end it. */
export const startMock = async (log) => {
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      let body = {};
      try {
        body = JSON.parse(Buffer.concat(chunks).toString("utf8") || "{}");
      } catch {
        // Not for the model; answered as unknown below.
      }
      appendFileSync(log, `${JSON.stringify({ method: request.method, url: request.url, body })}\n`);
      if (request.url.includes("count_tokens")) {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ input_tokens: 1 }));
      } else if (request.url.startsWith("/v1/messages")) {
        (body.stream ? streamed : whole)(response, body.model ?? "mock", answer(body));
      } else {
        response.writeHead(404).end("{}");
      }
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
};
