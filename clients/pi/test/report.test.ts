// The report tool: one refusal names everything, an answer that was lost is asked for again, nothing is claimed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { coerced, faultsOf } from "../src/report/check.ts";
import { REPORT_SCHEMA } from "../src/report/schema.ts";
import { checked } from "../src/report/tool.ts";
import { attachedAs, refused, type Answer } from "./support/daemon.ts";
import type { FakePi } from "./support/pi.ts";
import { until } from "./support/until.ts";
import { handOver, world, type World } from "./support/world.ts";

const REPORT = { status: "ERROR", error: "gave up" };
const recorded: Answer = { result: { status: "COMPLETE", work_log: "appended" } };

/** Nobody has to be asked for runs. */
const WITHOUT_PACKAGE = (pi: FakePi): void => { pi.toolNames = ["read"]; };

/** A session with a task; `reports` are the answers to its reports, one after the other. */
async function withTask(t: Parameters<typeof world>[0], ...reports: Answer[]): Promise<World & { id: string }> {
  const queue = [...reports];
  const made = await world(t, (method, params) => {
    if (method === "task.report") return queue.shift() ?? recorded;
    if (method !== "session.attach" || !params.known_dispatch) return undefined;
    return attachedAs("owner", { task: { dispatch_id: params.known_dispatch.dispatch_id, task_id: "T-1", started_at: "2026-11-30T08:00:00.000Z" } });
  }, WITHOUT_PACKAGE);
  return { ...made, id: await handOver(made) };
}

test("a report goes out with what was observed, and its answer ends the task", async (t) => {
  const { pi, daemon, id } = await withTask(t);
  assert.match(await pi.report(REPORT), /Recorded: the task ended as COMPLETE/);
  assert.deepEqual(daemon.told("task.report"), [{ dispatch_id: id, report: REPORT, observed: { all: false, runs: [] } }]);
  assert.equal(pi.branch.at(-1)?.data.what, "ended");
  assert.equal(pi.footer, "handoff: owner", "the turn goes on");
  pi.settle();
  assert.equal(pi.footer, "handoff: owner, ready");
  await assert.rejects(pi.report(REPORT), /no handed-over task/);
});

test("a line that could not be logged is told", async (t) => {
  const { pi } = await withTask(t, { result: { status: "ERROR", work_log: "failed" } });
  assert.match(await pi.report(REPORT), /could not be written to the work log, so the task ended as ERROR/);
});

test("a refusal names every problem, and the task goes on", async (t) => {
  const problems = [
    { field: "worker.agent", code: "unknown_agent", message: "`worker.agent` names no agent profile: \"bilder\"" },
    { field: null, code: "x", message: "as a whole it is wrong" },
    { field: "result", code: "blank_field", message: "must not be blank\u001b[31m" },
  ];
  const { pi } = await withTask(t, refused("report_refused", { problems }));
  await assert.rejects(pi.report(REPORT), (error: Error) => {
    assert.equal(error.message.split("\n").filter((line) => line.startsWith("- ")).length, 3);
    assert.match(error.message, /3 faults/);
    assert.match(error.message, /- `result`: must not be blank$/m);
    assert.match(error.message, /call handoff_task_report again/);
    return true;
  });
  assert.match(await pi.report(REPORT), /Recorded/);
});

test("what cannot be recorded now can be sent again; what is over is over", async (t) => {
  const check = async (code: string, words: RegExp, goesOn: boolean): Promise<void> => {
    const { pi } = await withTask(t, refused(code));
    await assert.rejects(pi.report(REPORT), words, code);
    if (goesOn) assert.match(await pi.report(REPORT), /Recorded/, code);
    else await assert.rejects(pi.report(REPORT), /no handed-over task/, code);
  };
  await check("queue_unreadable", /still open.*same report/, true);
  await check("cannot_write", /still open.*same report/, true);
  await check("report_too_large", /Shorten/, true);
  await check("queue_changed", /Stop working on it/, true);
  await check("cancelled", /Stop working on it/, false);
  await check("no_such_dispatch", /Stop working on it/, false);
});

test("an answer that was lost: the same report again, and its end is a success", async (t) => {
  const { pi, daemon } = await withTask(t, "hang up", refused("dispatch_ended", { status: "COMPLETE", work_log: "appended" }));
  assert.match(await pi.report(REPORT), /Recorded before: the task ended as COMPLETE/);
  const [first, second] = daemon.told("task.report");
  assert.deepEqual(first, second);
});

test("an answer that was lost, and a report that had not come: it is recorded now", async (t) => {
  const { pi } = await withTask(t, "hang up", recorded);
  assert.match(await pi.report(REPORT), /Recorded: the task ended as COMPLETE/);
});

test("an end without this report is not called its success", async (t) => {
  const { pi } = await withTask(t, refused("dispatch_ended", { status: "ERROR", work_log: "appended" }));
  assert.match(await pi.report(REPORT), /already ended as ERROR; this report changed nothing/);
});

test("without a daemon it waits, then says that nothing was recorded", async (t) => {
  const made = await world(t, undefined, WITHOUT_PACKAGE, { waitMs: 50 });
  const { pi, daemon } = made;
  await handOver(made);
  await daemon.stop();
  await until("off", () => /off$/.test(pi.footer ?? ""));
  await assert.rejects(pi.report(REPORT), /not running.*Nothing was recorded.*call handoff_task_report again/s);
});

test("a daemon that comes while the report waits gets it", async (t) => {
  const { pi, daemon } = await withTask(t);
  await daemon.stop();
  await until("off", () => /off$/.test(pi.footer ?? ""));
  const late = pi.report(REPORT);
  await daemon.start();
  assert.match(await late, /Recorded/);
});

test("a daemon that goes with the report in its hands: it is not known, and that is what is said", async (t) => {
  const made = await world(t, (method, _params, daemon) => {
    if (method !== "task.report") return undefined;
    void daemon.stop();
    return "silence";
  }, WITHOUT_PACKAGE, { waitMs: 50 });
  await handOver(made);
  await assert.rejects(made.pi.report(REPORT), /not known whether the report was recorded.*safe to send it twice/s);
});

test("a report whose answer was lost, and whose end was learned since, is answered with that end", async (t) => {
  let ended = false;
  const made = await world(t, (method, params, daemon) => {
    if (method === "task.report" && ended) return refused("dispatch_ended", { status: "COMPLETE", work_log: "appended" });
    if (method === "task.report") {
      ended = true;
      void daemon.stop();
      return "silence";
    }
    const id = params?.known_dispatch?.dispatch_id;
    return method === "session.attach" && id ? attachedAs("owner", { ended: { dispatch_id: id, status: "COMPLETE", error: null } }) : undefined;
  }, WITHOUT_PACKAGE, { waitMs: 50 });
  const { pi, daemon } = made;
  await handOver(made);
  await assert.rejects(pi.report(REPORT), /not known whether/);
  await daemon.start();
  await until("the end is learned", () => pi.branch.some((entry) => entry.data?.what === "ended"));
  assert.match(await pi.report(REPORT), /Recorded before: the task ended as COMPLETE/);
  await assert.rejects(pi.report(REPORT), /no handed-over task/);
});

test("an interrupted wait ends at once", async (t) => {
  const { pi, daemon } = await withTask(t);
  await daemon.stop();
  await until("off", () => /off$/.test(pi.footer ?? ""));
  const stop = new AbortController();
  const waiting = assert.rejects(pi.report(REPORT, stop.signal), /interrupted/);
  stop.abort();
  await waiting;
});

test("the end of the task that its own report brought is told once, whichever line comes first", async (t) => {
  const { pi } = await (async () => {
    const made = await world(t, (method, params, daemon) => {
      if (method !== "task.report") return undefined;
      daemon.notify("event", { seq: 1, at: "x", project: "/p", kind: "task_ended", task_id: "T-1", dispatch_id: params.dispatch_id, status: "COMPLETE", error: null });
      return recorded;
    }, WITHOUT_PACKAGE);
    await handOver(made);
    return made;
  })();
  assert.match(await pi.report(REPORT), /Recorded: the task ended as COMPLETE/);
  assert.deepEqual(pi.branch.filter((entry) => entry.data?.what === "ended").length, 1);
});

test("faults of form are told with everything else, in one refusal", async (t) => {
  const problems = [
    { field: "files_changed[1]", code: "wrong_type", message: "`files_changed[1]` is a number; it must be a string" },
    { field: "worker.run_id", code: "missing_field", message: "`worker.run_id` is missing" },
  ];
  const { pi, daemon } = await withTask(t, refused("report_refused", { problems }));
  const bad = { status: "COMPLETE", worker: { agent: "builder", run: "x" }, files_changed: ["a", {}], filesChanged: [], error: null };
  await assert.rejects(pi.report(bad), (error: Error) => {
    assert.match(error.message, /4 faults/);
    for (const field of ["files_changed[1]", "worker.run_id", "worker.run", "filesChanged"]) {
      assert.equal(error.message.split(`\`${field}\``).length - 1, 1, `${field} once`);
    }
    return true;
  });
  assert.deepEqual(daemon.told("task.report").map(({ report }) => report), [bad]);
});

test("a member that is not known is a fault, though the daemon would ignore it: nothing is sent", async (t) => {
  const { pi, daemon } = await withTask(t);
  await assert.rejects(pi.report({ ...REPORT, filesChanged: [] }), /refused before it was sent.*`filesChanged` is not known here/s);
  await assert.rejects(pi.report({ ...REPORT, worker: { agent: "builder", status: "DONE" } }), /`worker.status` must be one of COMPLETE, ERROR/);
  for (const nothing of [null, "x", 7, []]) await assert.rejects(pi.report(nothing as unknown as object), /must be an object/);
  assert.equal(daemon.told("task.report").length, 0);
});

test("what models commonly get wrong is put right", () => {
  const given = { status: "ERROR", worker: { agent: 7, model: null, status: null }, async_status: { checked: "true" }, tests_run: [1], files_changed: null, result: null, error: true };
  const report = coerced(given, REPORT_SCHEMA);
  assert.deepEqual(report, { status: "ERROR", worker: { agent: "7" }, async_status: { checked: true }, tests_run: ["1"], result: null, error: "true" });
  assert.deepEqual(faultsOf(report, REPORT_SCHEMA), []);
});

test("what the daemon would take is taken", () => {
  const check = (report: object): void => assert.deepEqual(checked(report), { report, faults: [] });
  check({ status: "ERROR", error: "x" });
  check({ status: "ERROR", worker: null, gate_evidence: [], async_status: null, files_changed: [], tests_run: [], result: null, error: "x" });
  check({ status: "ERROR", worker: { agent: "builder" }, error: "x" });
  check({ status: "COMPLETE" });
});

test("a report of 512 KiB is sent, one byte more is not", () => {
  const sized = (bytes: number): object => {
    const empty = JSON.stringify({ status: "ERROR", error: "" }).length;
    return { status: "ERROR", error: "x".repeat(bytes - empty) };
  };
  assert.equal(JSON.stringify(checked(sized(524_288)).report).length, 524_288);
  assert.throws(() => checked(sized(524_289)), /524289 bytes, the limit is 524288/);
  assert.throws(() => checked({ status: "ERROR", error: "ä".repeat(300_000) }), /the limit is 524288/, "bytes count, not characters");
});
