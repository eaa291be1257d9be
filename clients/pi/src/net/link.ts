// The connection to the daemon: found, opened, greeted, and opened again for as long as the session lives.
import { connect, type Socket } from "node:net";
import { LIMITS, PROTOCOL, type Hello, type HelloResult } from "../wire.ts";
import { LineSplitter } from "./lines.ts";
import { Refused, Rpc, Unanswered, type Handlers } from "./rpc.ts";

/** Why there is no connection. */
export type Fault =
  /** Nobody listens. */
  | { kind: "off" }
  /** Somebody listens and says nothing: stopped or stuck. */
  | { kind: "silent" }
  /** The socket is another user's. */
  | { kind: "denied" }
  /** The daemon was started for this session, could not go on, and said why. */
  | { kind: "unable"; text: string }
  /** The daemon speaks other protocols. */
  | { kind: "protocol"; text: string }
  /** Any other trouble, in the system's words. */
  | { kind: "broken"; text: string };

export type LinkOptions = {
  candidates(): string[];
  client: Hello["client"];
  handlers: Handlers;
  up(rpc: Rpc, hello: HelloResult): void;
  down(fault: Fault): void;
  /** Tests wait less. */
  timing?: { hello: number; first: number; longest: number };
};

const USUAL = { hello: 5_000, first: 50, longest: 5_000 };
/** A daemon that reads nothing while this much waits is given up. */
const MOST_UNREAD = 8 * 1024 * 1024;
const NO_PLACE = "no place for its socket is known: HOME must be set, or HANDOFFD_SOCKET to an absolute path";
/** How long the last words may take. */
const LAST_WORDS_MS = 300;

export class Link {
  private readonly options: LinkOptions;
  private readonly timing: { hello: number; first: number; longest: number };
  private delay: number;
  private socket: Socket | undefined;
  private rpc: Rpc | undefined;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  private dropped: Fault | undefined;

  constructor(options: LinkOptions) {
    this.options = options;
    this.timing = options.timing ?? USUAL;
    this.delay = this.timing.first;
  }

  start(): void {
    void this.attempt();
  }

  /** Gives the connection up, as if it had been lost, and tries again. */
  drop(fault: Fault): void {
    if (!this.rpc) return;
    this.dropped = fault;
    this.socket?.destroy();
  }

  /** Says `goodbye` if it can, and never connects again. */
  async stop(goodbye?: { method: string; params: object }): Promise<void> {
    if (this.stopped) return;
    this.stopped = true;
    clearTimeout(this.timer);
    const { socket, rpc } = this;
    if (!socket) return;
    if (rpc && goodbye) rpc.notify(goodbye.method, goodbye.params);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LAST_WORDS_MS);
      timer.unref();
      socket.end(() => {
        clearTimeout(timer);
        resolve();
      });
    });
    rpc?.close();
    socket.destroy();
  }

  private async attempt(): Promise<void> {
    let fault: Fault = { kind: "off" };
    try {
      const places = this.options.candidates();
      if (places.length === 0) fault = { kind: "broken", text: NO_PLACE };
      for (const path of places) {
        const met = await this.meet(path);
        if (this.stopped || met === "up") return;
        // A daemon that is there and silent says more than a place where nobody is.
        if (fault.kind === "off") fault = met;
      }
    } catch (error) {
      fault = { kind: "broken", text: String(error) };
    }
    if (this.stopped) return;
    this.options.down(fault);
    this.again();
  }

  private again(): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => void this.attempt(), this.delay);
    this.timer.unref();
    this.delay = Math.min(this.delay * 2, this.timing.longest);
  }

  /** Connects and says hello. Once it is up, the loss of the connection starts the next attempt. */
  private meet(path: string): Promise<"up" | Fault> {
    return new Promise((resolve) => {
      const socket = connect(path);
      this.socket = socket;
      socket.unref();
      let isUp = false;
      const rpc = new Rpc((line) => this.write(socket, line), this.options.handlers);
      const inbox = new Inbox(rpc);
      const lines = new LineSplitter(LIMITS.daemon_line, {
        line: (text) => inbox.put(text),
        tooLong: () => socket.destroy(),
      });
      const end = (fault: Fault): void => {
        lines.stop();
        inbox.flush();
        rpc.close();
        socket.destroy();
        if (this.socket === socket) this.socket = this.rpc = undefined;
        if (!isUp) resolve(fault);
        else if (!this.stopped) {
          isUp = false;
          const why = this.dropped ?? { kind: "off" };
          this.dropped = undefined;
          this.options.down(why);
          this.again();
        }
      };
      // A connection that hangs before it is open is the same trouble as one that says nothing.
      const opening = setTimeout(() => end({ kind: "silent" }), this.timing.hello);
      opening.unref();
      socket.on("data", (chunk: Buffer) => lines.push(chunk));
      socket.on("error", (error: NodeJS.ErrnoException) => {
        clearTimeout(opening);
        end(faultOf(error));
      });
      socket.on("close", () => {
        clearTimeout(opening);
        end({ kind: "off" });
      });
      socket.on("connect", () => {
        clearTimeout(opening);
        this.hello(rpc).then(
          (hello) => {
            if (this.stopped || !rpc.isOpen) return end({ kind: "off" });
            isUp = true;
            this.rpc = rpc;
            this.delay = this.timing.first;
            resolve("up");
            this.options.up(rpc, hello);
          },
          (error: unknown) => end(faultOfHello(error)),
        ).catch((error: unknown) => end({ kind: "broken", text: String(error) }));
      });
    });
  }

  private hello(rpc: Rpc): Promise<HelloResult> {
    const params: Hello = { protocol: PROTOCOL, client: this.options.client };
    return rpc.call<HelloResult>("hello", params, this.timing.hello);
  }

  private write(socket: Socket, line: string): void {
    if (socket.destroyed) return;
    socket.write(`${line}\n`);
    if (socket.writableLength > MOST_UNREAD) socket.destroy();
  }
}

/**
 * Lines one after the other, each in a turn of its own: what waits for an answer has seen it before the next line is
 * looked at. A dispatch may follow the answer to `session.attach` in the same packet.
 */
class Inbox {
  private readonly rpc: Rpc;
  private readonly lines: string[] = [];
  private running = false;

  constructor(rpc: Rpc) {
    this.rpc = rpc;
  }

  put(line: string): void {
    this.lines.push(line);
    if (this.running) return;
    this.running = true;
    this.next();
  }

  /** The connection has ended: what came before its end counts. */
  flush(): void {
    for (const line of this.lines.splice(0)) this.receive(line);
  }

  private next(): void {
    const line = this.lines.shift();
    if (line !== undefined) this.receive(line);
    this.running = line !== undefined;
    if (this.running) setImmediate(() => this.next());
  }

  private receive(line: string): void {
    try {
      this.rpc.receive(line);
    } catch {
      // Nothing may escape into the program that we are a guest of.
    }
  }
}

function faultOf(error: NodeJS.ErrnoException): Fault {
  switch (error.code) {
    case "ENOENT":
    case "ECONNREFUSED":
    case "ECONNRESET":
    case "EPIPE":
    case "ENOTDIR":
      return { kind: "off" };
    case "EACCES":
    case "EPERM":
      return { kind: "denied" };
    default:
      return { kind: "broken", text: error.message };
  }
}

function faultOfHello(error: unknown): Fault {
  if (error instanceof Unanswered) return { kind: error.why === "timeout" ? "silent" : "off" };
  if (error instanceof Refused && error.word === "not_permitted") return { kind: "denied" };
  if (error instanceof Refused && error.word === "unsupported_protocol") return { kind: "protocol", text: error.message };
  if (error instanceof Refused && error.word === "cannot_start") return { kind: "unable", text: error.message };
  return { kind: "broken", text: error instanceof Error ? error.message : String(error) };
}
