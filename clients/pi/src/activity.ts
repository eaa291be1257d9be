// Whether a task could be taken in this very moment, and what keeps the session from it.
import { guard, type Context } from "./host.ts";
import { Turn } from "./state/turn.ts";
import type { Hint } from "./wire.ts";

const LOOK_MS = 1_000;

type Host = Pick<Context, "isIdle" | "hasPendingMessages" | "model" | "modelRegistry">;

export class Activity {
  readonly turn = new Turn();
  private readonly ctx: Host;
  private readonly tell: (ready: boolean, hint: Hint | undefined) => boolean;
  private dialogs = 0;
  private compacting = false;
  /** The provider of the last model that answered. */
  private proven: string | undefined;
  private told: Hint | "idle" | "busy" | undefined;
  private timer: NodeJS.Timeout | undefined;
  private over = false;

  /** `tell` answers whether it was told. */
  constructor(ctx: Host, tell: (ready: boolean, hint: Hint | undefined) => boolean) {
    this.ctx = ctx;
    this.tell = tell;
  }

  /** A message given now would start a turn at once, and disturb nobody. */
  get isReady(): boolean {
    const isFree = this.dialogs === 0 && !this.turn.isRunning && this.hasModel;
    return isFree && (guard(() => this.ctx.isIdle() && !this.ctx.hasPendingMessages()) ?? false);
  }

  /**
   * Pi has a model, and credentials for it. A message of ours would start a turn all the same, and fail. What has answered
   * works, whatever is said of it; and where Pi cannot say, there is one.
   */
  private get hasModel(): boolean {
    return guard(() => {
      const { model, modelRegistry } = this.ctx;
      return model !== undefined && (model.provider === this.proven || modelRegistry.hasConfiguredAuth(model));
    }) ?? true;
  }

  answered(): void {
    this.proven = guard(() => this.ctx.model?.provider);
  }

  dialog(change: 1 | -1): void {
    this.dialogs = Math.max(0, this.dialogs + change);
    this.update();
  }

  compaction(isRunning: boolean): void {
    this.compacting = isRunning;
    this.update();
  }

  /** What the daemon was told while attaching. */
  assume(ready: boolean): void {
    this.told = ready ? "idle" : "busy";
  }

  /** Tells what has changed. */
  update(): void {
    if (this.over) return;
    const ready = this.isReady;
    this.watch(ready);
    const hint = ready ? undefined : this.hint();
    const now = ready ? "idle" : (hint ?? "busy");
    if (now !== this.told && this.tell(ready, hint)) this.told = now;
  }

  /** A dispatch that was declined is sent again at the next idle: that has to be told even if nothing seems to change. */
  again(): void {
    this.told = undefined;
    setImmediate(() => void guard(() => this.update()));
  }

  stop(): void {
    this.over = true;
    clearInterval(this.timer);
  }

  private hint(): Hint | undefined {
    if (this.compacting) return "compaction";
    if (this.dialogs > 0) return "dialog";
    return this.turn.isRunning || this.hasModel ? undefined : "model";
  }

  /** Some ends are not told (a compaction's, a queued message's): while busy without a turn, it is looked at. */
  private watch(ready: boolean): void {
    if (ready || this.turn.isRunning) {
      clearInterval(this.timer);
      this.timer = undefined;
    } else if (!this.timer) {
      this.timer = setInterval(() => void guard(() => this.update()), LOOK_MS);
      this.timer.unref();
    }
  }
}
