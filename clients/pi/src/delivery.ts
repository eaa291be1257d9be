// Putting a message into the conversation, and the proof that it is there: Pi tells nothing back but the message's start.
import type { Context, Pi } from "./host.ts";
import { guard } from "./host.ts";
import type { Details } from "./state/record.ts";

/** From when on a message that did not come is looked for. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 1_000;

type Open = { resolve(there: boolean): void; timer: NodeJS.Timeout | undefined };

export class Deliveries {
  private readonly pi: Pi;
  private readonly ctx: Context;
  private readonly open = new Map<string, Open[]>();
  private readonly patienceMs: number;

  constructor(pi: Pi, ctx: Context, patienceMs = PATIENCE_MS) {
    this.pi = pi;
    this.ctx = ctx;
    this.patienceMs = patienceMs;
  }

  /**
   * True once the message is in the conversation, false when it is proven that it never will be. While it may still
   * come there is no answer: a queued message cannot be taken back.
   */
  inject(customType: string, content: string, details: Details): Promise<boolean> {
    const key = keyOf(customType, details.dispatch_id);
    const result = this.wait(key);
    const sent = guard(() => {
      this.pi.sendMessage({ customType, content, display: true, details }, { triggerTurn: true, deliverAs: "followUp" });
      return true;
    });
    if (!sent) this.settle(key, false);
    else this.look(key, this.patienceMs);
    return result;
  }

  /** A message that starts nothing. */
  note(customType: string, content: string, details: Details): void {
    guard(() => this.pi.sendMessage({ customType, content, display: true, details }, { triggerTurn: false }));
  }

  /** Waits for a message that is already on its way. */
  wait(key: string): Promise<boolean> {
    return new Promise((resolve) => {
      this.open.set(key, [...(this.open.get(key) ?? []), { resolve, timer: undefined }]);
    });
  }

  seen(customType: string, dispatchId: string): void {
    this.settle(keyOf(customType, dispatchId), true);
  }

  cancel(customType: string, dispatchId: string): void {
    this.settle(keyOf(customType, dispatchId), false);
  }

  /** The session is left: nothing is known any more, so nothing is answered. */
  stop(): void {
    for (const waiting of this.open.values()) for (const { timer } of waiting) clearTimeout(timer);
    this.open.clear();
  }

  private settle(key: string, there: boolean): void {
    const waiting = this.open.get(key) ?? [];
    this.open.delete(key);
    for (const { resolve, timer } of waiting) {
      clearTimeout(timer);
      resolve(there);
    }
  }

  /** A message that Pi neither runs nor keeps in its queue is lost: the start of its turn has failed. */
  private look(key: string, after: number): void {
    const first = this.open.get(key)?.[0];
    if (!first) return;
    first.timer = setTimeout(() => {
      const lost = guard(() => this.ctx.isIdle() && !this.ctx.hasPendingMessages());
      if (lost !== false) this.settle(key, false);
      else this.look(key, LOOK_MS);
    }, after);
    first.timer.unref();
  }
}

export const keyOf = (customType: string, dispatchId: string): string => `${customType} ${dispatchId}`;
