// A session and a daemon that know each other.
import type { TestContext } from "node:test";
import type { Overrides } from "../../src/extension.ts";
import { Daemon, type Answers } from "./daemon.ts";
import { FakePi } from "./pi.ts";

export type World = { pi: FakePi; daemon: Daemon };

/** Attempts come quickly; what has to be answered may take its time on a busy machine. */
export const QUICK = { hello: 20_000, first: 5, longest: 20 };

/** Starts both; `with_` changes the session before it begins. */
export async function world(t: TestContext, answers: Answers = () => undefined, with_: (pi: FakePi) => void = () => {}, overrides: Overrides = {}): Promise<World> {
  const daemon = await new Daemon(answers).start();
  const pi = new FakePi();
  with_(pi);
  t.after(async () => {
    pi.stale = false;
    await pi.shutdown();
    await daemon.end();
  });
  pi.load({ candidates: () => [daemon.path], timing: QUICK, patienceMs: 50, waitMs: 20_000, ...overrides }).start();
  return { pi, daemon };
}

let serial = 0;
export const dispatchId = (): string => `${String(++serial).padStart(4, "0")}${"0".repeat(28)}`;

export function task(id: string, more: object = {}): object {
  return {
    dispatch_id: id,
    task_id: "T-1",
    message: "# Handoff T-1\n\nappend one line",
    planner: { task_id: "T-1", task_type: "IMPLEMENT", instruction: "append one line", scope: ["notes.txt"], gate: "none" },
    context: [],
    expires_at: new Date(Date.now() + 60_000).toISOString(),
    ...more,
  };
}

/** Hands a task over and waits until it was taken. */
export async function handOver({ daemon, pi }: World, id = dispatchId()): Promise<string> {
  await daemon.heard("session.attach");
  const answer = await daemon.ask("task.dispatch", task(id));
  if (answer.result?.accepted !== true) throw new Error(`not taken: ${JSON.stringify(answer)}`);
  if (pi.idle) throw new Error("no turn was started");
  return id;
}
