// Watches the sub-agents of the dispatch at hand: the bus of pi-subagents, results of its tool, and, for runs that
// outlived an earlier process of Pi, their status files.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { guard, type Bus } from "./host.ts";
import type { RunRecord } from "./state/record.ts";
import { RunBook, hasEnded, type Change } from "./state/runs.ts";
import {
  fromComplete, fromSnapshot, fromStarted, fromStatusFile, fromToolResult, type Sighting, type Snapshot, type ToolResult,
} from "./state/subagents.ts";
import type { Run } from "./wire.ts";

const REQUEST = "subagents:rpc:v1:request";
const REPLY = "subagents:rpc:v1:reply:";
/** How long the bus may take; it answers in the same tick when it is there. */
const STATUS_MS = 3_000;
const LOOK_MS = 2_000;
const MOST_STATUS_BYTES = 1024 * 1024;
/** Ids of the person's own runs that are remembered. */
const MOST_FOREIGN = 2_000;
/** Looks at a run whose process is gone before it counts as failed: the last write may still be on its way. */
const LOOKS_AT_A_DEAD_RUN = 3;

export type ObserverOptions = {
  bus: Bus;
  changed(change: Change): void;
  /** A run of a dispatch that is over has ended: until then the daemon hands over nothing (D66). */
  late?(run: Run, dispatchId: string): void;
  /** The package is there, by its tool. */
  isInstalled(): boolean;
  /** No other package delegates here. */
  isOnly?(): boolean;
  statusMs?: number;
  lookMs?: number;
  isAlive?(pid: number): boolean;
};

export class Observer {
  readonly book = new RunBook();
  private readonly options: ObserverOptions;
  private readonly unsubscribe: Array<() => void> = [];
  /** Runs of before the dispatch came: the person's own. */
  private readonly foreign = new Set<string>();
  /** Runs that outlived their dispatch, with its id. */
  private readonly outliving = new Map<string, { run: Run; dispatchId: string }>();
  private readonly deadLooks = new Map<string, number>();
  private since: number | undefined;
  /** False when a part of the task went by unseen: after a reload or a restart. */
  private unbroken = false;
  private timer: NodeJS.Timeout | undefined;
  private serial = 0;

  constructor(options: ObserverOptions) {
    this.options = options;
    this.listen("subagent:async-started", (payload) => this.saw(fromStarted(payload)));
    this.listen("subagent:async-complete", (payload) => this.completed(payload));
  }

  /** A dispatch came into the conversation. */
  begin(since: number): void {
    this.book.restore([]);
    this.since = since;
    this.unbroken = true;
    this.deadLooks.clear();
    this.stopLooking();
  }

  /** The session came back with a dispatch; what it remembers of runs is where to go on from. */
  resume(since: number, records: readonly RunRecord[]): void {
    this.book.restore(records);
    this.since = since;
    this.unbroken = false;
    this.lookAndGoOn();
  }

  /** The dispatch is over; what still runs is nobody's evidence. */
  end(dispatchId: string): void {
    for (const { run } of this.book.all) this.notOurs(run.run_id);
    for (const { run } of this.book.live) this.outliving.set(run.run_id, { run, dispatchId });
    this.book.restore([]);
    this.since = undefined;
    this.stopLooking();
  }

  stop(): void {
    this.since = undefined;
    this.stopLooking();
    for (const off of this.unsubscribe.splice(0)) guard(off);
  }

  toolResult(result: ToolResult): Sighting[] {
    const seen = fromToolResult(result);
    for (const one of seen) this.saw(one);
    return seen;
  }

  /** Everything that was seen, after asking the bus. `all` is claimed only if nothing can have been missed. */
  async observed(): Promise<{ all: boolean; runs: Run[] }> {
    const snapshot = this.options.isInstalled() ? await this.status() : undefined;
    if (snapshot) this.take(snapshot);
    await this.lookNow();
    const isOnly = this.options.isOnly?.() ?? true;
    const all = this.unbroken && isOnly && snapshot !== undefined && !snapshot.omitted && !this.book.isPartial;
    // Results were told when the runs ended; here they would only make the report's line too long.
    const runs = this.book.all.map(({ run }) => ({ ...run, result: undefined }));
    return { all, runs: JSON.parse(JSON.stringify(runs)) as Run[] };
  }

  private listen(channel: string, handler: (payload: unknown) => void): void {
    const off = guard(() => this.options.bus.on(channel, (payload: unknown) => guard(() => handler(payload))));
    if (typeof off === "function") this.unsubscribe.push(off);
  }

  private saw(seen: Sighting | undefined): void {
    if (!seen) return;
    const outliving = this.outliving.get(seen.run.run_id);
    if (outliving && hasEnded(seen.run)) {
      this.outliving.delete(seen.run.run_id);
      this.options.late?.({ ...outliving.run, ...seen.run }, outliving.dispatchId);
    }
    if (this.since === undefined) {
      this.notOurs(seen.run.run_id);
      return;
    }
    if (this.foreign.has(seen.run.run_id)) return;
    const change = this.book.put(seen.run, seen.dir);
    if (change) this.options.changed(change);
  }

  private notOurs(id: string): void {
    this.foreign.add(id);
    const oldest = this.foreign.values().next().value;
    if (this.foreign.size > MOST_FOREIGN && oldest !== undefined) this.foreign.delete(oldest);
  }

  private completed(payload: unknown): void {
    const seen = fromComplete(payload);
    for (const one of seen) this.saw(one);
    const own = seen[0]?.run;
    if (!own || !hasEnded(own)) return;
    // Children of a workflow tell no end of their own: one that its end does not name was given up with it.
    const open = [...this.book.live, ...this.outliving.values()];
    for (const { run } of open) {
      if (run.parent_run_id === own.run_id) this.saw({ run: { ...run, state: "stopped" } });
    }
  }

  private take(snapshot: Snapshot): void {
    for (const { run, dir, startedAt } of snapshot.runs) {
      const isKnown = this.book.get(run.run_id) !== undefined;
      if (!isKnown && (this.since === undefined || startedAt < this.since)) continue;
      this.saw(dir === undefined ? { run } : { run, dir });
    }
  }

  private status(): Promise<Snapshot | undefined> {
    return new Promise((resolve) => {
      const requestId = `handoffd-${process.pid}-${Date.now()}-${++this.serial}`;
      let off: unknown;
      const done = (snapshot: Snapshot | undefined): void => {
        clearTimeout(timer);
        if (typeof off === "function") guard(off as () => void);
        resolve(snapshot);
      };
      const timer = setTimeout(() => done(undefined), this.options.statusMs ?? STATUS_MS);
      const asked = guard(() => {
        const { bus } = this.options;
        off = bus.on(REPLY + requestId, (reply: unknown) => done(guard(() => fromSnapshot(reply))));
        bus.emit(REQUEST, { version: 1, requestId, method: "status", params: {} });
        return true;
      });
      if (!asked) done(undefined);
    });
  }

  /** Nobody tells a new process that runs of the old one have ended: their status files do. */
  private look(): void {
    this.stopLooking();
    if (this.since === undefined || this.unbroken || this.book.live.length === 0) return;
    this.timer = setTimeout(() => this.lookAndGoOn(), this.options.lookMs ?? LOOK_MS);
    this.timer.unref();
  }

  private lookAndGoOn(): void {
    void this.lookNow().catch(() => undefined).finally(() => this.look());
  }

  private stopLooking(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private async lookNow(): Promise<void> {
    for (const { run, dir } of this.book.live) {
      if (dir === undefined || this.unbroken) continue;
      const now = await readStatus(dir, run);
      if (now && hasEnded(now)) this.saw({ run: now, dir });
      else this.lookAtProcess(run, now?.pid ?? run.pid);
    }
  }

  /** A run without a live process and without an end has failed: nothing will ever tell more of it. */
  private lookAtProcess(run: Run, pid: number | null | undefined): void {
    if (typeof pid !== "number" || (this.options.isAlive ?? isAlive)(pid)) {
      this.deadLooks.delete(run.run_id);
      return;
    }
    const looks = (this.deadLooks.get(run.run_id) ?? 0) + 1;
    this.deadLooks.set(run.run_id, looks);
    if (looks < LOOKS_AT_A_DEAD_RUN) return;
    this.saw({ run: { ...run, state: "failed", result: "its process ended without a result" } });
  }
}

async function readStatus(dir: string, run: Run): Promise<Run | undefined> {
  try {
    const text = await readFile(join(dir, "status.json"), "utf8");
    return text.length > MOST_STATUS_BYTES ? undefined : fromStatusFile(JSON.parse(text), run);
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
