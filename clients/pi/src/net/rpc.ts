// JSON-RPC 2.0 over one connection: calls and their answers, requests of the other side. Knows no socket and no method.
import type { ErrorObject } from "../wire.ts";

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The other side refused, or could not do it. */
export class Refused extends Error {
  readonly code: number;
  readonly data: Record<string, unknown>;

  constructor(error: ErrorObject) {
    super(error.message);
    this.name = "Refused";
    this.code = error.code;
    this.data = isObject(error.data) ? error.data : {};
  }

  /** `data.code`, the stable word. */
  get word(): string {
    return typeof this.data["code"] === "string" ? this.data["code"] : "";
  }
}

/** The connection ended, or no answer came in time: whether the call was carried out is not known. */
export class Unanswered extends Error {
  readonly why: "closed" | "timeout";

  constructor(why: "closed" | "timeout", method: string) {
    super(why === "closed" ? `the connection ended before ${method} was answered` : `no answer to ${method}`);
    this.name = "Unanswered";
    this.why = why;
  }
}

export type Handlers = {
  /** Answers a request; what it throws becomes an error answer. */
  request(method: string, params: unknown): unknown;
  notification(method: string, params: unknown): void;
};

type Waiting = {
  method: string;
  resolve(result: unknown): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout | undefined;
};

export class Rpc {
  private readonly write: (line: string) => void;
  private readonly handlers: Handlers;
  private readonly waiting = new Map<number, Waiting>();
  private nextId = 1;
  private closed = false;

  constructor(write: (line: string) => void, handlers: Handlers) {
    this.write = write;
    this.handlers = handlers;
  }

  get isOpen(): boolean {
    return !this.closed;
  }

  /** Without `timeoutMs` it waits until the connection ends. */
  call<T>(method: string, params: object, timeoutMs?: number): Promise<T> {
    if (this.closed) return Promise.reject(new Unanswered("closed", method));
    const id = this.nextId++;
    return new Promise<T>((resolve, reject) => {
      const timer = timeoutMs === undefined ? undefined : setTimeout(() => {
        this.waiting.delete(id);
        reject(new Unanswered("timeout", method));
      }, timeoutMs);
      timer?.unref();
      this.waiting.set(id, { method, resolve: resolve as (result: unknown) => void, reject, timer });
      this.send({ jsonrpc: "2.0", id, method, params });
    });
  }

  notify(method: string, params: object): void {
    this.send({ jsonrpc: "2.0", method, params });
  }

  /** One line of the other side. What is not a message is dropped: the daemon is not ours to correct. */
  receive(line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    if (!isObject(message)) return;
    if (typeof message["method"] !== "string") {
      this.answered(message);
    } else if ("id" in message) {
      void this.answer(message["id"], message["method"], message["params"]);
    } else {
      this.handlers.notification(message["method"], message["params"]);
    }
  }

  /** The connection is gone: every waiting call ends. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    for (const { method, reject, timer } of this.waiting.values()) {
      clearTimeout(timer);
      reject(new Unanswered("closed", method));
    }
    this.waiting.clear();
  }

  private answered(message: Record<string, unknown>): void {
    const id = message["id"];
    const waiting = typeof id === "number" ? this.waiting.get(id) : undefined;
    if (!waiting) return;
    this.waiting.delete(id as number);
    clearTimeout(waiting.timer);
    if (isObject(message["error"])) waiting.reject(new Refused(message["error"] as unknown as ErrorObject));
    else waiting.resolve(message["result"]);
  }

  private async answer(id: unknown, method: string, params: unknown): Promise<void> {
    try {
      this.send({ jsonrpc: "2.0", id, result: await this.handlers.request(method, params) });
    } catch (error) {
      const code = error instanceof NoSuchMethod ? -32601 : -32603;
      this.send({ jsonrpc: "2.0", id, error: { code, message: error instanceof Error ? error.message : String(error) } });
    }
  }

  private send(message: object): void {
    if (!this.closed) this.write(JSON.stringify(message));
  }
}

/** Thrown by a handler for a method that it does not have. */
export class NoSuchMethod extends Error {
  constructor(method: string) {
    super(`no such method: ${method}`);
    this.name = "NoSuchMethod";
  }
}
