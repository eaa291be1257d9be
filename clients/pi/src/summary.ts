// The few facts of a task or packet that a person wants to see at a glance. They are kept beside the message, and never
// reach the model.
import { clean, line } from "./text.ts";
import type { ContextFile } from "./wire.ts";

export type Summary = { title: string; facts: string[]; text: string };

const MOST_TEXT = 700;
const MOST_LINES = 8;

type Bag = Record<string, unknown>;
const bag = (value: unknown): Bag => (typeof value === "object" && value !== null ? (value as Bag) : {});
const word = (value: unknown): string | undefined => (typeof value === "string" && value.trim() !== "" ? line(value, 80) : undefined);
const list = (value: unknown): string[] => (Array.isArray(value) ? value.filter((item) => typeof item === "string") : []);

export function summaryOfTask(planner: unknown, context: readonly ContextFile[]): Summary {
  const task = bag(planner);
  const gate = word(task["gate"]);
  const scope = list(task["scope"]).map((path) => line(path, 60));
  const facts = [
    word(task["task_type"]),
    gate && gate !== "none" ? `gate ${gate}` : undefined,
    scope.length > 0 ? `scope ${some(scope)}` : undefined,
    context.length > 0 ? `with ${some(context.map((file) => line(file.path, 60)))}` : undefined,
  ];
  return {
    title: word(task["task_id"]) ?? "task",
    facts: facts.filter((fact): fact is string => fact !== undefined),
    text: shortened(task["instruction"]),
  };
}

export function summaryOfPacket(packet: unknown): Summary {
  const { packet_id, from_role, to_role, objective } = bag(packet);
  const way = [word(from_role), word(to_role)].filter((role) => role !== undefined).join(" to ");
  return { title: word(packet_id) ?? "packet", facts: way ? [way] : [], text: shortened(objective) };
}

function some(items: readonly string[]): string {
  const shown = items.slice(0, 3).join(", ");
  return items.length > 3 ? `${shown} and ${items.length - 3} more` : shown;
}

/** The beginning of a text, cut at a line where that is possible. */
function shortened(value: unknown): string {
  if (typeof value !== "string") return "";
  const lines = clean(value).trim().split("\n");
  const few = lines.slice(0, MOST_LINES).join("\n");
  const characters = [...few];
  const cut = characters.length > MOST_TEXT ? characters.slice(0, MOST_TEXT).join("") : few;
  return cut.length < lines.join("\n").length ? `${cut} …` : cut;
}

/** What the message in the transcript says while it is folded. */
export function headline(kind: "task" | "packet", summary: Summary): string {
  const name = kind === "packet" ? "Packet" : "Handoff";
  return [`${name} ${summary.title}`, ...summary.facts].join(" · ");
}
