// A report on its way: waits for the daemon, sends, and sends again when the answer was lost.
import type { Session } from "./session.ts";
import { Refused, Unanswered } from "./net/rpc.ts";
import { CONNECTION_ENDED, NO_TASK, TOO_SLOW, alreadyEnded, notAnswering, notAttached, notRunning, recorded, refusal } from "./report/outcome.ts";
import type { FormFault } from "./report/check.ts";
import type { Reporter } from "./report/tool.ts";
import type { TaskReport, TaskReportResult } from "./wire.ts";

const WAIT_MS = 20_000;
/** The answer comes after the file and the log were written; a slow disk is no reason to say that it did not. */
const ANSWER_MS = 60_000;

export class Reporting implements Reporter {
  private readonly session: Session;
  private readonly waitMs: number;
  /** Dispatches of which a report was sent without an answer. */
  private readonly sent = new Set<string>();

  constructor(session: Session, waitMs = WAIT_MS) {
    this.session = session;
    this.waitMs = waitMs;
  }

  async report(report: object, signal: AbortSignal | undefined, faults: readonly FormFault[] = []): Promise<string> {
    const hand = this.session.inbox.hand;
    // A task whose report got no answer may have ended by it since; the same report again asks how.
    const id = hand?.kind === "task" ? hand.id : [...this.sent].at(-1);
    if (id === undefined) throw new Error(NO_TASK);
    this.session.reporting = id;
    try {
      // The second round is for a connection that ended before the answer.
      for (let round = 0; round < 2; round++) {
        await this.untilAttached(signal, id);
        const observed = await this.session.observer.observed();
        const answer = await this.send({ dispatch_id: id, report, observed }, faults);
        if (answer !== undefined) return answer;
      }
      throw new Error(CONNECTION_ENDED);
    } finally {
      this.session.reporting = undefined;
    }
  }

  /** The text for the model; undefined: the answer was lost. */
  private async send(params: TaskReport, faults: readonly FormFault[]): Promise<string | undefined> {
    const { session } = this;
    const id = params.dispatch_id;
    const sentBefore = this.sent.has(id);
    try {
      if (!session.rpc) return undefined;
      this.sent.add(id);
      const result = await session.rpc.call<TaskReportResult>("task.report", params, ANSWER_MS);
      this.over(id);
      return recorded(result);
    } catch (error) {
      if (error instanceof Unanswered) {
        if (error.why === "timeout") {
          session.unanswered();
          throw new Error(TOO_SLOW);
        }
        return undefined;
      }
      if (!(error instanceof Refused)) throw error;
      if (error.word === "dispatch_ended") {
        this.over(id);
        return alreadyEnded(String(error.data["status"]), sentBefore);
      }
      // A refusal is an answer: what is sent next is a new report.
      this.sent.delete(id);
      if (["no_such_dispatch", "queue_changed", "cancelled"].includes(error.word)) session.gone(id, error.word);
      throw new Error(refusal(error, faults));
    }
  }

  private over(id: string): void {
    this.sent.delete(id);
    if (!this.session.inbox.isOver(id)) this.session.ended(id);
  }

  private async untilAttached(signal: AbortSignal | undefined, id: string): Promise<void> {
    const end = Date.now() + this.waitMs;
    const { session } = this;
    while (!session.isAttached) {
      if (signal?.aborted || session.isOver) throw new Error("The report was interrupted before it was sent; nothing was recorded.");
      const left = end - Date.now();
      if (left <= 0) throw new Error(this.sent.has(id) ? CONNECTION_ENDED : this.whyNot());
      await session.changed(left, signal);
    }
  }

  private whyNot(): string {
    const seconds = Math.round(this.waitMs / 1000);
    const { fault } = this.session;
    if (fault?.kind === "silent") return notAnswering(seconds);
    if (!fault) return notAttached(this.session.panel.state.refusal?.text ?? "it did not answer in time");
    if (fault.kind === "off") return notRunning(seconds);
    return notAttached(fault.kind === "denied" ? "its socket belongs to another user" : fault.text);
  }
}
