// What the copies of this extension in one process know of each other.
import type { LeaveReason } from "./wire.ts";

/** The session that tasks come to. */
export type Main = { sessionId: string; leave(reason: LeaveReason): Promise<void> };

type Known = {
  /** Installed twice, the extension is loaded twice: only one of the two serves a session, known by its manager. */
  served: WeakSet<object>;
  main: Main | undefined;
};

export function ofThisProcess(): Known {
  const key = Symbol.for("pi-handoffd.process");
  const all = globalThis as { [key]?: Known };
  return (all[key] ??= { served: new WeakSet(), main: undefined });
}

/**
 * Pi has one main session at a time. Where a program changes sessions before the last change is done, one is left behind
 * that Pi never ends: no task may go to a session that nobody sees. Resolves when it has left, if there was one.
 */
export function takePlace(main: Main): Promise<void> | undefined {
  const known = ofThisProcess();
  const left = known.main;
  known.main = main;
  return left?.leave(left.sessionId === main.sessionId ? "reload" : "new").catch(() => undefined);
}
