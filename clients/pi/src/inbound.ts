// What the daemon asks of a session, and what it says to it.
import { Deliveries, keyOf } from "./delivery.ts";
import { NoSuchMethod } from "./net/rpc.ts";
import type { Session } from "./session.ts";
import type { Offer } from "./state/inbox.ts";
import { CANCEL_MESSAGE, REMINDER_MESSAGE, TASK_MESSAGE, type Details } from "./state/record.ts";
import { summaryOfPacket, summaryOfTask, type Summary } from "./summary.ts";
import type {
  DispatchCancel, DispatchResult, Event, Notice, OwnershipChange, PacketDispatch, RemindResult, TaskDispatch, TaskRemind,
} from "./wire.ts";

export class Inbound {
  private readonly session: Session;
  private readonly deliveries: Deliveries;

  constructor(session: Session, deliveries: Deliveries) {
    this.session = session;
    this.deliveries = deliveries;
  }

  /** A request; what it throws becomes an error answer, which is proof that nothing was delivered. */
  request(method: string, params: unknown): unknown {
    switch (method) {
      case "task.dispatch": {
        const { dispatch_id, task_id, message, planner, context, expires_at } = texts<TaskDispatch>(params, "dispatch_id", "task_id", "message");
        const offer: Offer = { id: dispatch_id, taskId: task_id, kind: "task", expiresAt: expires_at };
        return this.dispatch(offer, message, summaryOfTask(planner, context));
      }
      case "packet.dispatch": {
        const { dispatch_id, packet, message, expires_at } = texts<PacketDispatch>(params, "dispatch_id", "message");
        const summary = summaryOfPacket(packet);
        const offer: Offer = { id: dispatch_id, taskId: summary.title, kind: "packet", expiresAt: expires_at ?? "" };
        return this.dispatch(offer, message, summary);
      }
      case "task.remind":
        return this.remind(texts<TaskRemind>(params, "dispatch_id", "text"));
      case "task.cancel":
        return this.cancel(texts<DispatchCancel>(params, "dispatch_id", "reason"));
      default:
        throw new NoSuchMethod(method);
    }
  }

  notification(method: string, params: unknown): void {
    const { session } = this;
    switch (method) {
      case "session.notice":
        return session.panel.notice(params as Notice);
      case "session.ownership":
        session.panel.moved(params as OwnershipChange);
        return session.show();
      case "session.attach_again":
        return session.attachment.again();
      case "event":
        return this.event(params as Event);
    }
  }

  private async dispatch(offer: Offer, message: string, summary: Summary): Promise<DispatchResult> {
    const { session } = this;
    const place = session.isAttached ? session.panel.place : undefined;
    const verdict = session.inbox.offer(offer, { time: Date.now(), place, idle: session.activity.isReady });
    if (verdict.do === "answer") {
      if (verdict.result.reason === "busy") session.activity.again();
      return verdict.result;
    }
    const { id, taskId, kind } = offer;
    const details: Details = { dispatch_id: id, task_id: taskId, kind, session_id: session.sessionId, summary };
    const isNew = verdict.do === "inject";
    const there = isNew
      ? await this.deliveries.inject(TASK_MESSAGE, message, details)
      : await this.deliveries.wait(keyOf(TASK_MESSAGE, id));
    if (there) return { accepted: true, ...(isNew ? {} : { duplicate: true }) };
    session.inbox.notDelivered(id);
    session.activity.again();
    return { accepted: false, reason: session.inbox.isOver(id) ? "expired" : "busy" };
  }

  /** A task's message has come into the conversation. */
  arrived(details: Details): void {
    const { session } = this;
    const { dispatch_id: id, task_id, kind } = details;
    const at = Date.now();
    const came = session.inbox.delivered(id, task_id, kind, at);
    if (came === "late") session.abort();
    if (came !== "first") return;
    session.observer.begin(at);
    session.append({ v: 1, session_id: session.sessionId, dispatch_id: id, what: "delivered", task_id, kind, at });
    this.deliveries.seen(TASK_MESSAGE, id);
    session.show();
    if (kind === "task") session.advise();
  }

  private async remind({ dispatch_id, text }: TaskRemind): Promise<RemindResult> {
    const { session } = this;
    const hand = session.inbox.hand;
    if (hand?.id !== dispatch_id || hand.phase !== "delivered") return { accepted: false };
    const details: Details = { dispatch_id, task_id: hand.taskId, kind: hand.kind, session_id: session.sessionId };
    session.panel.owes();
    return { accepted: await this.deliveries.inject(REMINDER_MESSAGE, text, details) };
  }

  private cancel({ dispatch_id, reason }: DispatchCancel): { aborted: boolean } {
    const { session } = this;
    const hand = session.inbox.hand;
    const wasAtHand = session.inbox.cancel(dispatch_id);
    this.deliveries.cancel(TASK_MESSAGE, dispatch_id);
    this.deliveries.cancel(REMINDER_MESSAGE, dispatch_id);
    if (!wasAtHand) return { aborted: false };
    const works = hand?.phase === "delivered" && session.activity.turn.isOfDispatch;
    session.observer.end(dispatch_id);
    session.append({ v: 1, session_id: session.sessionId, dispatch_id, what: "ended" });
    if (works) session.abort();
    // The model reads it with the next turn, whoever begins that; a run of the task may still wake it.
    const details: Details = { dispatch_id, task_id: hand?.taskId ?? "", kind: hand?.kind ?? "task", session_id: session.sessionId };
    this.deliveries.note(CANCEL_MESSAGE, reason, details);
    session.show();
    return { aborted: works };
  }

  private event(event: Event): void {
    const { session } = this;
    const hand = session.inbox.hand;
    const isOurs = event.kind === "task_ended" && event.dispatch_id === hand?.id && hand.phase === "delivered";
    // The daemon tells the person by a notice; the answer to a report tells the model.
    if (isOurs && session.reporting !== hand.id) session.ended(hand.id);
    if (event.kind === "gap") session.attachment.refresh();
    session.panel.event(event);
    session.show();
  }
}

/** What goes into the conversation must be text: Pi itself ends when it cannot draw a message. */
function texts<T>(params: unknown, ...names: Array<keyof T & string>): T {
  const given = (params ?? {}) as Record<string, unknown>;
  const wrong = names.find((name) => typeof given[name] !== "string");
  if (wrong !== undefined) throw new Error(`${wrong} must be text`);
  return params as T;
}
