// Lines, JSON-RPC and the way to the socket.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LineSplitter } from "../src/net/lines.ts";
import { hostPart, socketCandidates, type Machine } from "../src/net/places.ts";
import { NoSuchMethod, Refused, Rpc, Unanswered } from "../src/net/rpc.ts";
import { readDaemonTable } from "../src/net/toml.ts";

function split(limit: number, chunks: Buffer[]): { lines: string[]; tooLong: boolean } {
  const seen = { lines: [] as string[], tooLong: false };
  const splitter = new LineSplitter(limit, { line: (text) => seen.lines.push(text), tooLong: () => { seen.tooLong = true; } });
  for (const chunk of chunks) splitter.push(chunk);
  return seen;
}

test("lines are the same however the bytes arrive", () => {
  const bytes = Buffer.from("äöü\n\n{\"a\":\"\u2028😀\"}\nrest");
  for (let size = 1; size <= bytes.length; size++) {
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
    assert.deepEqual(split(100, chunks), { lines: ["äöü", "", "{\"a\":\"\u2028😀\"}"], tooLong: false }, `chunks of ${size}`);
  }
});

test("a line at the limit is taken, one byte more ends the stream", () => {
  assert.deepEqual(split(4, [Buffer.from("abcd\nab")]), { lines: ["abcd"], tooLong: false });
  assert.deepEqual(split(4, [Buffer.from("ab"), Buffer.from("cde\nok\n")]), { lines: [], tooLong: true });
});

function pair(): { rpc: Rpc; wrote: any[] } {
  const wrote: any[] = [];
  const rpc = new Rpc((line) => wrote.push(JSON.parse(line)), {
    request: (method, params) => {
      if (method === "fail") throw new Error("broken");
      if (method !== "echo") throw new NoSuchMethod(method);
      return params;
    },
    notification: () => {},
  });
  return { rpc, wrote };
}

test("an answer goes to its call, in any order, and an unknown one to nobody", async () => {
  const { rpc, wrote } = pair();
  const first = rpc.call("a", {});
  const second = rpc.call("b", {});
  rpc.receive('{"jsonrpc":"2.0","id":99,"result":0}');
  rpc.receive("not json");
  rpc.receive("[1]");
  rpc.receive(`{"jsonrpc":"2.0","id":${wrote[1].id},"result":"b"}`);
  rpc.receive(`{"jsonrpc":"2.0","id":${wrote[0].id},"error":{"code":-32000,"message":"no","data":{"code":"queue_busy"}}}`);
  assert.equal(await second, "b");
  await assert.rejects(first, (error) => error instanceof Refused && error.word === "queue_busy");
});

test("a request is answered with its own id, also when it fails or is not known", async () => {
  const { rpc, wrote } = pair();
  rpc.receive('{"jsonrpc":"2.0","id":"x","method":"echo","params":{"a":1}}');
  rpc.receive('{"jsonrpc":"2.0","id":7,"method":"fail"}');
  rpc.receive('{"jsonrpc":"2.0","id":8,"method":"what"}');
  await new Promise((resolve) => setImmediate(resolve));
  const answers = new Map(wrote.map((message) => [message.id, message]));
  assert.deepEqual(answers.get("x").result, { a: 1 });
  assert.equal(answers.get(7).error.code, -32603);
  assert.equal(answers.get(8).error.code, -32601);
});

test("a call ends when the connection does, and when its time is over", async () => {
  const { rpc } = pair();
  await assert.rejects(rpc.call("slow", {}, 5), (error) => error instanceof Unanswered && error.why === "timeout");
  const open = rpc.call("open", {});
  rpc.close();
  await assert.rejects(open, (error) => error instanceof Unanswered && error.why === "closed");
  await assert.rejects(rpc.call("late", {}), Unanswered);
});

function machine(env: Machine["env"], files: Record<string, string> = {}, more: Partial<Machine> = {}): Machine {
  return { env, platform: "linux", host: "Node.One", uid: 7, home: env["HOME"], read: (path) => files[path], ...more };
}

test("the socket is looked for where the daemon puts it", () => {
  const check = (env: Machine["env"], files: Record<string, string>, expected: string[], more: Partial<Machine> = {}): void =>
    assert.deepEqual(socketCandidates(machine(env, files, more)), expected, JSON.stringify(env));
  const config = { "/h/.config/handoffd/config.toml": '[daemon]\nsocket = "/c/s.sock"\n' };
  const state = "/h/.local/state/handoffd/run-node.one/handoffd.sock";
  check({ HOME: "/h", HANDOFFD_SOCKET: "/v/s.sock", XDG_RUNTIME_DIR: "/r" }, config, ["/v/s.sock"]);
  check({ HOME: "/h", HANDOFFD_SOCKET: "relative.sock" }, config, []);
  check({ HOME: "/h", XDG_RUNTIME_DIR: "/r" }, config, ["/c/s.sock"]);
  check({ HOME: "/h", XDG_RUNTIME_DIR: "/r" }, {}, ["/r/handoffd/handoffd.sock", state]);
  check({ HOME: "/h", HANDOFFD_SOCKET: "" }, {}, [state, "/run/user/7/handoffd/handoffd.sock"]);
  check({ HOME: "/h", XDG_RUNTIME_DIR: "relative" }, {}, [state, "/run/user/7/handoffd/handoffd.sock"]);
  check({ HOME: "/h" }, {}, ["/h/Library/Application Support/handoffd/run-node/handoffd.sock"], { platform: "darwin" });
  check({ XDG_STATE_HOME: "/s", XDG_CONFIG_HOME: "/c" }, { "/c/handoffd/config.toml": 'daemon = { state_dir = "/x" }' },
    ["/x/run-node.one/handoffd.sock", "/run/user/7/handoffd/handoffd.sock"]);
  check({ HOME: "/h" }, { "/h/.config/handoffd/config.toml": 'daemon.socket = "~/my.sock"' }, ["/h/my.sock"]);
  const lock = { "/h/.local/state/handoffd/handoffd-node.one.lock": '{"pid":1,"socket":"/else/h.sock"}\n' };
  check({ HOME: "/h", XDG_RUNTIME_DIR: "/r" }, lock, ["/r/handoffd/handoffd.sock", "/else/h.sock", state]);
  check({}, {}, [], { platform: "darwin" });
});

test("a host's name becomes one harmless part of a path, as the daemon makes it", () => {
  const check = (host: string, expected: string): void => assert.equal(hostPart({ host, platform: "linux" }), expected, host);
  check("node-1", "node-1");
  check("Node_1", "node_1");
  check("../../etc", ".._.._etc");
  check("", "localhost");
  check("..", "localhost");
  check("büro pc", "b_ro_pc");
  check("x".repeat(300), "x".repeat(64));
});

test("of the configuration two keys are read, however they are written", () => {
  const check = (text: string, socket: string | undefined): void => assert.equal(readDaemonTable(text).socket, socket, text);
  check('[daemon]\nsocket = "/a"', "/a");
  check("\uFEFF[daemon]\r\nsocket = '/a b' # why\r\n", "/a b");
  check('[ daemon ] # here\n"socket" = "/a\\u0020b"', "/a b");
  check('daemon.socket="/a"', "/a");
  check('daemon = { state_dir = "/x", socket = "/a" }', "/a");
  check('[watch]\nsocket = "/no"', undefined);
  check('[[project]]\ndaemon.socket = "/no"', undefined);
  check('[daemon.more]\nsocket = "/no"', undefined);
  check('# [daemon]\n# socket = "/no"', undefined);
  check('[watch]\ntext = """\n[daemon]\nsocket = "/no"\n"""\n', undefined);
  check("[daemon]\nsocket = 7", undefined);
  check('[daemon]\nsocket = "/open', undefined);
  check("", undefined);
});
