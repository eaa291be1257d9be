// A daemon for tests: a real Unix socket that answers as a test says, and remembers every line.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "./until.ts";

export type Message = { id?: unknown; method?: string; params?: any; result?: any; error?: any };
export type Answer = { result: unknown } | { error: { code: number; message: string; data?: unknown } } | "silence" | "hang up";
export type Answers = (method: string, params: any, daemon: Daemon) => Answer | undefined;

export const refused = (code: string, more: object = {}): Answer => ({
  error: { code: -32000, message: `refused: ${code}`, data: { code, ...more } },
});

export const attachedAs = (ownership: string, more: object = {}): Answer => ({
  result: { project: { path: "/p", state: "idle", why: null }, ownership, task: null, ended: null, ...more },
});

export class Daemon {
  readonly folder = mkdtempSync(join(tmpdir(), "pi-handoffd-"));
  readonly path = join(this.folder, "d.sock");
  /** Everything the client sent, in order, over all connections. */
  readonly got: Message[] = [];
  connections = 0;
  peers: Socket[] = [];
  private server: Server | undefined;
  private readonly answers: Answers;
  private nextId = 1;

  constructor(answers: Answers = () => undefined) {
    this.answers = answers;
  }

  async start(): Promise<this> {
    const server = createServer((peer) => this.accept(peer));
    this.server = server;
    await new Promise<void>((resolve) => server.listen(this.path, () => resolve()));
    return this;
  }

  /** The process ends: connections close, the socket is gone. */
  async stop(): Promise<void> {
    for (const peer of this.peers.splice(0)) peer.destroy();
    const server = this.server;
    this.server = undefined;
    if (server) await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  async end(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Ends the connections; the daemon goes on. */
  hangUp(): void {
    for (const peer of this.peers.splice(0)) peer.destroy();
  }

  write(...messages: object[]): void {
    this.peers.at(-1)?.write(messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join(""));
  }

  notify(method: string, params: object): void {
    this.write({ method, params });
  }

  /** Asks the client, and gives its answer. */
  async ask(method: string, params: object): Promise<Message> {
    const id = `d${this.nextId++}`;
    this.write({ id, method, params });
    return until(`an answer to ${method}`, () => this.got.find((message) => message.id === id && !message.method));
  }

  told(method: string): any[] {
    return this.got.filter((message) => message.method === method).map((message) => message.params);
  }

  async heard(method: string, fits: (params: any) => boolean = () => true): Promise<any> {
    return until(method, () => this.told(method).find(fits));
  }

  private accept(peer: Socket): void {
    this.connections++;
    this.peers.push(peer);
    let buffer = "";
    peer.setEncoding("utf8");
    peer.on("error", () => {});
    peer.on("data", (chunk: string) => {
      buffer += chunk;
      for (let end = buffer.indexOf("\n"); end >= 0; end = buffer.indexOf("\n")) {
        const line = buffer.slice(0, end);
        buffer = buffer.slice(end + 1);
        this.take(peer, JSON.parse(line));
      }
    });
  }

  private take(peer: Socket, message: Message): void {
    this.got.push(message);
    if (!message.method || message.id === undefined) return;
    const answer = this.answers(message.method, message.params, this) ?? usual(message.method);
    if (answer === "silence") return;
    if (answer === "hang up") peer.destroy();
    else peer.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, ...answer })}\n`);
  }
}

function usual(method: string): Answer {
  switch (method) {
    case "hello":
      return { result: { protocol: 1, daemon: { version: "0.1.0", pid: 1, instance: "0".repeat(32), started_at: "2026-11-30T08:00:00.000Z" } } };
    case "session.attach":
      return attachedAs("owner");
    case "events.subscribe":
      return { result: { seq: 0 } };
    default:
      return { error: { code: -32601, message: `no such method: ${method}` } };
  }
}
