// `/handoff` against what the daemon does not know, or not yet.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { statusText } from "../src/command/status.ts";
import type { ProjectStatus, Status } from "../src/wire.ts";
import { attachedAs } from "./support/daemon.ts";
import { until } from "./support/until.ts";
import { world } from "./support/world.ts";

const PROJECT = {
  path: "/p", name: "app", state: "idle", reason: null, since: "2026-11-30T08:00:00.000Z", why: null, next: null,
  queue: { status: "COMPLETE", task_id: "T-1", problems: [] }, task: null, session: null, standby: 0,
};
const daemon = { version: "0.1.0", pid: 4711, outdated: false };

test("cancel means the task that stands in the file, also where the daemon has not looked yet", async (t) => {
  const path = mkdtempSync(join(tmpdir(), "pi-handoffd-"));
  t.after(() => rmSync(path, { recursive: true }));
  const project = { path, state: "idle", why: null };
  const made = await world(t, (method) => {
    if (method === "session.attach") return attachedAs("owner", { project });
    if (method === "task.cancel") return { result: { was: "PENDING", now: "ERROR", session: null, live_runs: [] } };
    return method === "daemon.status" ? { result: { daemon, projects: [{ ...PROJECT, path }] } } : undefined;
  });
  await until("attached", () => made.pi.footer === "handoff: owner, ready");
  const queue = (text: string): void => writeFileSync(join(path, "tasks.json"), text);
  const ended = "There is no task to cancel: T-1 has ended as COMPLETE.";
  assert.equal(await made.pi.command("cancel"), ended, "no file");
  for (const text of ["{", "null", '{"status":"ERROR","task_id":"T-1"}', '{"status":"PENDING","task_id":7}']) {
    queue(text);
    assert.equal(await made.pi.command("cancel"), ended, text);
  }
  queue('{"status":"PENDING","task_id":"T-2"}');
  assert.equal(await made.pi.command("cancel not now"), "T-2 was PENDING and is ERROR now.");
  assert.deepEqual(made.daemon.told("task.cancel"), [{ project: path, task_id: "T-2", reason: "not now" }]);
});

test("the status says that the session has no model", () => {
  const session = { session_id: "me", pid: 1, host: "pi 1.6.0", idle: false, last_seen: "2026-11-30T08:00:00.000Z" };
  const text = (hint?: "model" | "dialog"): string =>
    statusText({ daemon, projects: [] } as unknown as Status, { ...PROJECT, session } as unknown as ProjectStatus, { sessionId: "me", runs: [], now: 0, hint });
  assert.match(text("model"), /^session {2}this one gets the tasks; it has no model yet, so nothing comes: \/login or \/model$/m);
  assert.match(text("dialog"), /^session {2}this one gets the tasks$/m);
});
