// What is known of dispatches, without Pi and without a socket: which one is at hand, and what to answer when one comes.
import type { Delivery, DispatchResult, Ownership } from "../wire.ts";

export type Kind = "task" | "packet";

/** What came from the daemon. */
export type Offer = { id: string; taskId: string; kind: Kind; expiresAt: string };

/** The dispatch that this session works on. */
export type Hand = {
  id: string;
  taskId: string;
  kind: Kind;
  /** `injecting`: given to Pi, not yet seen in the conversation. */
  phase: "injecting" | "delivered";
  /** When its message came into the conversation, in milliseconds since 1970. */
  since: number;
};

export type Now = { time: number; place: Ownership | undefined; idle: boolean };

export type Verdict =
  | { do: "answer"; result: DispatchResult }
  | { do: "inject" }
  /** It is on its way into the conversation: answer when it is there. */
  | { do: "wait" };

const MOST_REMEMBERED = 64;
const refuse = (reason: string): Verdict => ({ do: "answer", result: { accepted: false, reason } as DispatchResult });

export class Inbox {
  private current: Hand | undefined;
  /** Dispatches that are over, oldest first. */
  private readonly over = new Map<string, "ended" | "cancelled">();

  get hand(): Hand | undefined {
    return this.current;
  }

  /** What is said of it when the session attaches. Never left out: this client keeps records. */
  get known(): Delivery | null {
    return this.current ? { dispatch_id: this.current.id, delivered: this.current.phase === "delivered" } : null;
  }

  /** What the session's own records say, at its start. */
  restore(hand: Hand | undefined, ended: Iterable<string>): void {
    for (const id of ended) this.remember(id, "ended");
    this.current = hand;
  }

  offer(offer: Offer, now: Now): Verdict {
    const over = this.over.get(offer.id);
    if (over === "cancelled") return refuse("expired");
    if (over === "ended" || (this.current?.id === offer.id && this.current.phase === "delivered")) {
      return { do: "answer", result: { accepted: true, duplicate: true } as DispatchResult };
    }
    if (this.current?.id === offer.id) return { do: "wait" };
    if (Date.parse(offer.expiresAt) <= now.time) return refuse("expired");
    if (now.place !== (offer.kind === "packet" ? "member" : "owner")) return refuse("not_owner");
    if (!now.idle || this.current?.phase === "injecting") return refuse("busy");
    if (this.current) this.remember(this.current.id, "ended");
    this.current = { id: offer.id, taskId: offer.taskId, kind: offer.kind, phase: "injecting", since: now.time };
    return { do: "inject" };
  }

  /**
   * Its message is in the conversation. `first`: from now on it is at hand. `late`: it was cancelled on its way. One that
   * was declined and came all the same is at hand, too: it must not come twice.
   */
  delivered(id: string, taskId: string, kind: Kind, time: number): "first" | "again" | "late" {
    const over = this.over.get(id);
    if (over !== undefined) return over === "cancelled" ? "late" : "again";
    if (this.current?.phase === "delivered") return "again";
    this.current = { id, taskId, kind, phase: "delivered", since: time };
    return "first";
  }

  /** Proven: it never came into the conversation, and it may be sent again. */
  notDelivered(id: string): void {
    if (this.current?.id === id && this.current.phase === "injecting") this.current = undefined;
  }

  end(id: string): void {
    this.remember(id, "ended");
    if (this.current?.id === id) this.current = undefined;
  }

  /** True if it was at hand. One that is not known is cancelled all the same. */
  cancel(id: string): boolean {
    const had = this.current?.id === id;
    this.remember(id, "cancelled");
    if (had) this.current = undefined;
    return had;
  }

  isOver(id: string): boolean {
    return this.over.has(id);
  }

  private remember(id: string, how: "ended" | "cancelled"): void {
    if (!this.over.has(id)) this.over.set(id, how);
    const oldest = this.over.keys().next().value;
    if (this.over.size > MOST_REMEMBERED && oldest !== undefined) this.over.delete(oldest);
  }
}
