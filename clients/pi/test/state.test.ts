// The rules without Pi and without a socket.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Inbox, type Offer } from "../src/state/inbox.ts";
import { ENTRY, TASK_MESSAGE, recall } from "../src/state/record.ts";
import { RunBook } from "../src/state/runs.ts";
import { Turn } from "../src/state/turn.ts";

const offer = (id: string, more: Partial<Offer> = {}): Offer => ({ id, taskId: "T", kind: "task", expiresAt: "2026-11-30T10:00:00.000Z", ...more });
const at = (time: string): number => Date.parse(`2026-11-30T${time}.000Z`);
const now = (more: object = {}) => ({ time: at("09:00:00"), place: "owner" as const, idle: true, ...more });

test("a dispatch is judged in the order of the protocol", () => {
  const check = (inbox: Inbox, offered: Offer, when: object, expected: object): void =>
    assert.deepEqual(inbox.offer(offered, now(when) as never), expected, JSON.stringify({ offered, when }));
  const refused = (reason: string) => ({ do: "answer", result: { accepted: false, reason } });
  const duplicate = { do: "answer", result: { accepted: true, duplicate: true } };
  check(new Inbox(), offer("a"), {}, { do: "inject" });
  check(new Inbox(), offer("a"), { time: at("10:00:00"), place: "standby", idle: false }, refused("expired"));
  check(new Inbox(), offer("a"), { place: "standby", idle: false }, refused("not_owner"));
  check(new Inbox(), offer("a"), { place: undefined }, refused("not_owner"));
  check(new Inbox(), offer("a"), { place: "member" }, refused("not_owner"));
  check(new Inbox(), offer("a", { kind: "packet" }), { place: "owner" }, refused("not_owner"));
  check(new Inbox(), offer("a", { kind: "packet", expiresAt: "" }), { place: "member" }, { do: "inject" });
  check(new Inbox(), offer("a"), { idle: false }, refused("busy"));
  const known = new Inbox();
  known.offer(offer("a"), now());
  check(known, offer("a"), { idle: false }, { do: "wait" });
  check(known, offer("b"), {}, refused("busy"));
  known.delivered("a", "T", "task", 1);
  check(known, offer("a"), { time: at("11:00:00"), place: "standby", idle: false }, duplicate);
  known.end("a");
  check(known, offer("a"), {}, duplicate);
});

test("what is cancelled before it comes is never injected", () => {
  const inbox = new Inbox();
  assert.equal(inbox.cancel("a"), false);
  assert.deepEqual(inbox.offer(offer("a"), now()), { do: "answer", result: { accepted: false, reason: "expired" } });
  inbox.offer(offer("b"), now());
  assert.equal(inbox.cancel("b"), true);
  assert.equal(inbox.delivered("b", "T", "task", 1), "late", "its message comes too late");
});

test("a message that was declined and comes all the same is not given twice", () => {
  const inbox = new Inbox();
  inbox.offer(offer("a"), now());
  inbox.notDelivered("a");
  assert.equal(inbox.delivered("a", "T", "task", 1), "first");
  assert.deepEqual(inbox.offer(offer("a"), now()), { do: "answer", result: { accepted: true, duplicate: true } });
  inbox.end("a");
  assert.equal(inbox.delivered("a", "T", "task", 1), "again", "an ended one stops nobody's turn");
});

test("what is known of a dispatch is said as it is", () => {
  const inbox = new Inbox();
  assert.equal(inbox.known, null);
  inbox.offer(offer("a"), now());
  assert.deepEqual(inbox.known, { dispatch_id: "a", delivered: false });
  assert.equal(inbox.delivered("a", "T", "task", 1), "first");
  assert.equal(inbox.delivered("a", "T", "task", 1), "again");
  assert.deepEqual(inbox.known, { dispatch_id: "a", delivered: true });
  inbox.notDelivered("a");
  assert.deepEqual(inbox.known, { dispatch_id: "a", delivered: true }, "a delivered one cannot be taken back");
  inbox.end("a");
  assert.equal(inbox.known, null);
});

test("the memory of old dispatches is bounded", () => {
  const inbox = new Inbox();
  for (let n = 0; n < 1000; n++) inbox.end(`id-${n}`);
  assert.equal(inbox.isOver("id-999"), true);
  assert.equal(inbox.isOver("id-0"), false);
});

const message = (session: string, id: string): object => ({
  type: "custom_message", customType: TASK_MESSAGE, timestamp: "2026-11-30T09:00:00.000Z",
  details: { dispatch_id: id, task_id: "T", kind: "task", session_id: session },
});
const note = (session: string, id: string, more: object): object => ({
  type: "custom", customType: ENTRY, data: { v: 1, session_id: session, dispatch_id: id, ...more },
});

test("a session remembers its own dispatch, by its message or by its entry, until it has ended", () => {
  const hand = (...branch: object[]): string | undefined => recall(branch, "s").hand?.id;
  assert.equal(hand(), undefined);
  assert.equal(hand(message("s", "a")), "a", "killed between the message and the entry");
  assert.equal(hand(note("s", "a", { what: "delivered", task_id: "T", kind: "task", at: 1 })), "a");
  assert.equal(hand(message("s", "a"), note("s", "a", { what: "ended" })), undefined);
  assert.equal(hand(note("s", "a", { what: "ended" }), message("s", "a")), undefined, "an end is final");
  assert.equal(hand(message("s", "a"), note("s", "a", { what: "ended" }), message("s", "b")), "b");
  assert.equal(hand(message("s", "a"), message("s", "b")), "b");
});

test("a fork inherits nothing, though it has a copy of every entry", () => {
  const branch = [message("s", "a"), note("s", "a", { what: "delivered", task_id: "T", kind: "task", at: 1 })];
  assert.deepEqual(recall(branch, "fork"), { hand: undefined, runs: [], ended: [] });
});

test("runs are remembered with the dispatch that they belong to", () => {
  const run = (state: string): object => ({ run_id: "r", agent: "x", background: true, state });
  const branch = [
    message("s", "a"), note("s", "a", { what: "run", run: run("running"), dir: "/d" }), note("s", "b", { what: "run", run: run("failed") }),
  ];
  assert.deepEqual(recall(branch, "s").runs, [{ run: run("running"), dir: "/d" }]);
  assert.deepEqual(recall([...branch, note("s", "a", { what: "run", run: run("complete"), dir: "/d" })], "s").runs, [{ run: run("complete"), dir: "/d" }]);
  assert.deepEqual(recall([...branch, message("s", "c")], "s").runs, []);
});

test("entries of any form are survived", () => {
  const strange = [null, 7, "x", [], {}, { type: "custom", customType: ENTRY }, { type: "custom", customType: ENTRY, data: { v: 2 } },
    { type: "custom", customType: ENTRY, data: { v: 1, session_id: "s", dispatch_id: "a", what: "run" } },
    { type: "custom_message", customType: TASK_MESSAGE, details: null }, { type: "custom_message", customType: TASK_MESSAGE, details: { dispatch_id: 7 } }];
  assert.deepEqual(recall(strange, "s"), { hand: undefined, runs: [], ended: [] });
});

test("a run only goes forward, and its blanks are filled", () => {
  const book = new RunBook();
  const run = { run_id: "r", agent: "x", background: true, state: "running" as const };
  assert.equal(book.put(run)?.tell, "started");
  assert.equal(book.put({ ...run }), undefined, "nothing new");
  assert.equal(book.put({ ...run, state: "failed", model: "m/x" })?.tell, "finished");
  assert.equal(book.put({ ...run, state: "complete" }), undefined, "an end stays");
  assert.equal(book.put({ ...run, thinking: "low" })?.record.run.thinking, "low");
  assert.deepEqual(book.all[0]?.run, { run_id: "r", agent: "x", background: true, state: "failed", model: "m/x", thinking: "low" });
});

test("what a run says is cut at 4,000 characters, not within one", () => {
  const book = new RunBook();
  book.put({ run_id: "r", agent: "x", state: "complete", result: "😀".repeat(5000) });
  assert.equal(book.all[0]?.run.result, "😀".repeat(4000));
});

test("names of any length fit into a line", () => {
  const book = new RunBook();
  book.put({ run_id: "r", agent: "x".repeat(9_999), model: "y".repeat(9_999), state: "running" });
  assert.ok(JSON.stringify(book.all).length < 600);
  assert.equal(book.put({ run_id: "r".repeat(300), agent: "x", state: "running" }), undefined);
  assert.equal(book.isPartial, true, "it is missing, and that is said");
});

test("runs beyond the most that are kept are counted as missing", () => {
  const book = new RunBook();
  for (let n = 0; n <= 500; n++) book.put({ run_id: `r${n}`, agent: "x", state: "running" });
  assert.equal(book.all.length, 500);
  assert.equal(book.isPartial, true);
});

test("whose turn it is", () => {
  const turn = (...from: Array<"ours" | "wake" | "other" | undefined>): Turn => {
    const one = new Turn();
    one.begin();
    for (const who of from) one.message(who);
    return one;
  };
  assert.equal(turn("ours").isOfDispatch, true);
  assert.equal(turn("other").isOfDispatch, false);
  assert.equal(turn("wake").isOfDispatch, true);
  assert.equal(turn("ours", "other").isOfDispatch, true, "a person who steers it does not own it");
  assert.equal(turn("other", "ours").isOfDispatch, true, "a lost race: ours came into a person's turn");
  assert.equal(turn(undefined).isOfDispatch, false);
  const retried = turn("ours");
  retried.attempt("error", "503 busy");
  retried.begin();
  assert.equal(retried.isOfDispatch, true, "a retry begins again without settling");
  retried.attempt("stop");
  assert.deepEqual(retried.settle(undefined), { author: "dispatch", aborted: false }, "the last attempt counts");
  assert.equal(retried.isOfDispatch, false);
});

test("an aborted turn is known on every version of Pi", () => {
  const settled = (stop: string | undefined, told: boolean | undefined): boolean => {
    const turn = new Turn();
    turn.begin();
    turn.attempt(stop);
    return turn.settle(told).aborted;
  };
  const failed = new Turn();
  failed.begin();
  failed.attempt("error", "400 out of credit");
  assert.equal(failed.settle(undefined).error, "400 out of credit");
  assert.equal(settled("aborted", undefined), true, "before 1.1");
  assert.equal(settled(undefined, true), true);
  assert.equal(settled("error", false), true, "an error is no end that a reminder mends");
  assert.equal(settled("stop", false), false);
});
