// What the session itself remembers: entries that Pi keeps in the session's file and never shows to the model.
import type { Run } from "../wire.ts";
import type { Summary } from "../summary.ts";
import type { Hand, Kind } from "./inbox.ts";

/** The types of our entries and of our messages. */
export const ENTRY = "handoffd";
export const TASK_MESSAGE = "handoff-task";
export const REMINDER_MESSAGE = "handoff-reminder";
export const CANCEL_MESSAGE = "handoff-cancelled";

/** `details` of our messages. The session's id stands in it because a fork copies everything. */
export type Details = { dispatch_id: string; task_id: string; kind: Kind; session_id: string; summary?: Summary };

/** A run as it is remembered: with the folder where its package tells how it is. */
export type RunRecord = { run: Run; dir?: string };

export type Note = { v: 1; session_id: string; dispatch_id: string } & (
  | { what: "delivered"; task_id: string; kind: Kind; at: number }
  | { what: "run"; run: Run; dir?: string }
  | { what: "ended" }
);

export type Remembered = { hand: Hand | undefined; runs: RunRecord[]; ended: string[] };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The dispatch at hand as the entries of this session's own branch tell it. */
export function recall(branch: readonly unknown[], sessionId: string): Remembered {
  let hand: Hand | undefined;
  let runs = new Map<string, RunRecord>();
  const ended = new Set<string>();
  const begin = (id: string, taskId: string, kind: Kind, since: number): void => {
    if (ended.has(id) || hand?.id === id) return;
    hand = { id, taskId, kind, phase: "delivered", since };
    runs = new Map();
  };
  for (const entry of branch) {
    if (!isObject(entry)) continue;
    const details = messageDetails(entry);
    if (details?.session_id === sessionId) begin(details.dispatch_id, details.task_id, details.kind, timeOf(entry));
    const note = noteOf(entry);
    if (note?.session_id !== sessionId) continue;
    if (note.what === "delivered") begin(note.dispatch_id, note.task_id, note.kind, note.at);
    if (note.what === "run" && note.dispatch_id === hand?.id) {
      const { run, dir } = note;
      runs.set(run.run_id, { run, ...(dir === undefined ? {} : { dir }) });
    }
    if (note.what === "ended") {
      ended.add(note.dispatch_id);
      if (hand?.id === note.dispatch_id) hand = undefined;
    }
  }
  return { hand, runs: hand ? [...runs.values()] : [], ended: [...ended] };
}

/** The details of a message of ours, if it is one. */
export function detailsOf(message: unknown, customType: string): Details | undefined {
  if (!isObject(message) || message["customType"] !== customType) return undefined;
  const details = message["details"];
  if (!isObject(details) || typeof details["dispatch_id"] !== "string") return undefined;
  const { dispatch_id, task_id, session_id, kind, summary } = details as Record<string, unknown>;
  return {
    dispatch_id: dispatch_id as string,
    task_id: String(task_id),
    session_id: String(session_id),
    kind: kind === "packet" ? "packet" : "task",
    ...(isSummary(summary) ? { summary } : {}),
  };
}

const isSummary = (value: unknown): value is Summary =>
  isObject(value) && typeof value["title"] === "string" && typeof value["text"] === "string" && Array.isArray(value["facts"]);

const messageDetails = (entry: Record<string, unknown>): Details | undefined =>
  entry["type"] === "custom_message" ? detailsOf(entry, TASK_MESSAGE) : undefined;

function noteOf(entry: Record<string, unknown>): Note | undefined {
  if (entry["type"] !== "custom" || entry["customType"] !== ENTRY || !isObject(entry["data"])) return undefined;
  const note = entry["data"];
  const known = note["v"] === 1 && typeof note["session_id"] === "string" && typeof note["dispatch_id"] === "string";
  if (!known) return undefined;
  if (note["what"] === "run" && !(isObject(note["run"]) && typeof note["run"]["run_id"] === "string")) return undefined;
  return note as unknown as Note;
}

function timeOf(entry: Record<string, unknown>): number {
  const time = typeof entry["timestamp"] === "string" ? Date.parse(entry["timestamp"]) : Number.NaN;
  return Number.isNaN(time) ? 0 : time;
}
