// The runs of sub-agents that were seen for the dispatch at hand. A run only goes forward: what has ended stays ended.
import type { Run } from "../wire.ts";
import type { RunRecord } from "./record.ts";

/** What the daemon is to be told. */
export type Change = { tell: "started" | "finished"; record: RunRecord };

const ENDED = new Set<string>(["complete", "failed", "stopped", "rejected"]);
export const hasEnded = (run: Run): boolean => ENDED.has(run.state);

/** More runs than any task has; a runaway script must not fill the memory. */
const MOST_RUNS = 500;
export const MOST_RESULT = 4_000;
/** Names come from files of strangers; all of a report's runs fit into one line. */
const MOST_ID = 256;
const MOST_NAME = 200;

export class RunBook {
  private runs = new Map<string, RunRecord>();
  private lost = false;

  restore(records: readonly RunRecord[]): void {
    this.runs = new Map(records.map((record) => [record.run.run_id, record]));
    this.lost = false;
  }

  /** True if runs were left out. */
  get isPartial(): boolean {
    return this.lost;
  }

  get all(): RunRecord[] {
    return [...this.runs.values()];
  }

  get live(): RunRecord[] {
    return this.all.filter(({ run }) => !hasEnded(run));
  }

  get(id: string): RunRecord | undefined {
    return this.runs.get(id);
  }

  /** What is new in it, if anything. */
  put(run: Run, dir?: string): Change | undefined {
    const old = this.runs.get(run.run_id);
    if (!old && (this.runs.size >= MOST_RUNS || run.run_id.length > MOST_ID)) {
      this.lost = true;
      return undefined;
    }
    const merged = old ? merge(old.run, run) : trimmed(run);
    const place = dir ?? old?.dir;
    const record: RunRecord = place === undefined ? { run: merged } : { run: merged, dir: place };
    this.runs.set(run.run_id, record);
    if (old && JSON.stringify(old) === JSON.stringify(record)) return undefined;
    return { tell: hasEnded(merged) ? "finished" : "started", record };
  }
}

/** What was known first is kept but for an end that comes, and blanks that get filled. */
function merge(old: Run, next: Run): Run {
  const over = hasEnded(old);
  const merged: Run = { ...trimmed(next), ...defined(old) };
  merged.state = over ? old.state : next.state;
  // The end knows better what ran: a launch tells only what was asked for.
  if (!over && hasEnded(next)) Object.assign(merged, defined({ model: next.model, thinking: next.thinking }));
  if (merged.agent === UNNAMED && next.agent !== UNNAMED) merged.agent = next.agent;
  return merged;
}

export const UNNAMED = "unknown";

function trimmed(run: Run): Run {
  const cut = (text: string | null | undefined, most: number): string | undefined =>
    typeof text === "string" ? [...text].slice(0, most).join("") : undefined;
  const { result, model, thinking, ...rest } = run;
  const texts = { result: cut(result, MOST_RESULT), model: cut(model, MOST_NAME), thinking: cut(thinking, MOST_NAME) };
  return { ...rest, agent: cut(run.agent, MOST_NAME) ?? UNNAMED, ...(defined(texts) as Pick<Run, "result" | "model" | "thinking">) };
}

const defined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined && member !== null)) as T;
