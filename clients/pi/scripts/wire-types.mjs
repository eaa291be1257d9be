// Writes src/wire.ts from the JSON Schema that `handoff schema wire` prints, for the messages that this client uses.
//   node scripts/wire-types.mjs           writes the file
//   node scripts/wire-types.mjs --check   fails if the file is not what would be written
import { readFileSync, writeFileSync } from "node:fs";

const SCHEMA = new URL("../../../crates/wire/schemas/wire.json", import.meta.url);
const TARGET = new URL("../src/wire.ts", import.meta.url);

// The calls and notifications that this client sends or gets.
const METHODS = [
  "hello", "session.attach", "session.state", "session.settled", "session.leaving", "session.run_started",
  "session.run_finished", "session.take", "task.report", "task.submit", "task.dispatch", "task.remind", "task.cancel", "task.retry",
  "packet.dispatch", "session.notice", "session.ownership", "session.attach_again", "daemon.status", "project.add",
  "project.pause", "project.resume", "project.enable", "project.unlock", "events.subscribe", "event", "history.list",
];

const nameOf = (ref) => ref.replace("#/$defs/", "");

function typeOf(schema) {
  if (schema === true || schema === undefined) return "unknown";
  if (schema.$ref) return nameOf(schema.$ref);
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) {
    const rest = schema.properties ? [objectOf(schema)] : [];
    const one = union(choices.map(typeOf));
    return rest.length ? `${rest[0]} & (${one})` : one;
  }
  if (schema.allOf) return schema.allOf.map(typeOf).join(" & ");
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type })));
  switch (schema.type) {
    case "string": return "string";
    case "integer":
    case "number": return "number";
    case "boolean": return "boolean";
    case "null": return "null";
    case "array": return `Array<${typeOf(schema.items)}>`;
    case "object": return objectOf(schema);
    default: return "unknown";
  }
}

const union = (parts) => [...new Set(parts)].join(" | ") || "never";

function objectOf(schema) {
  const members = Object.entries(schema.properties ?? {});
  if (members.length === 0) return "Record<string, unknown>";
  const required = new Set(schema.required ?? []);
  const lines = members.map(([name, member]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    return `  ${key}${required.has(name) ? "" : "?"}: ${typeOf(member).replaceAll("\n", "\n  ")};`;
  });
  return `{\n${lines.join("\n")}\n}`;
}

function refsIn(schema, found) {
  if (Array.isArray(schema)) for (const part of schema) refsIn(part, found);
  else if (schema && typeof schema === "object") {
    if (typeof schema.$ref === "string") found.add(nameOf(schema.$ref));
    for (const part of Object.values(schema)) refsIn(part, found);
  }
}

export function generate() {
  const schema = JSON.parse(readFileSync(SCHEMA, "utf8"));
  const wanted = new Set(["ErrorObject", "Problem"]);
  for (const name of METHODS) {
    const known = schema.methods.filter((method) => method.method === name);
    if (known.length === 0) throw new Error(`the schema knows no method ${name}`);
    for (const method of known) refsIn([method.params, method.result], wanted);
  }
  for (const name of wanted) {
    const found = new Set();
    refsIn(schema.$defs[name], found);
    for (const other of found) wanted.add(other);
  }
  const types = [...wanted].sort().map((name) => {
    const text = (schema.$defs[name].description ?? "").replaceAll(/\[(`[^`]+`)\]/g, "$1").replaceAll(/\s*\n\s*/g, " ");
    return `${text ? `/** ${text} */\n` : ""}export type ${name} = ${typeOf(schema.$defs[name])};\n`;
  });
  return [
    "// The messages of the socket protocol that this client uses.",
    "// Made by scripts/wire-types.mjs from crates/wire/schemas/wire.json; `npm run wire` makes it again.",
    "",
    `export const PROTOCOL = ${schema.protocol};`,
    `export const LIMITS = ${JSON.stringify(schema.limits)} as const;`,
    "",
    types.join("\n"),
  ].join("\n");
}

if (import.meta.main ?? process.argv[1]?.endsWith("wire-types.mjs")) {
  const text = generate();
  if (!process.argv.includes("--check")) writeFileSync(TARGET, text);
  else if (readFileSync(TARGET, "utf8") !== text) {
    console.error("src/wire.ts is out of date: run `npm run wire`");
    process.exitCode = 1;
  }
}
