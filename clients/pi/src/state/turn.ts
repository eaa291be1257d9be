// Whose turn it is: a turn that the daemon may stop, or one that the person began.

export type Author = "dispatch" | "person";

/** What is learned from the messages of one run of the agent, from its start until it has settled. */
export class Turn {
  private author: Author | undefined;
  private outcome: "good" | "aborted" = "good";
  private error: string | undefined;
  private running = false;

  get isRunning(): boolean {
    return this.running;
  }

  /** The turn that works on the dispatch; not one that the person began. */
  get isOfDispatch(): boolean {
    return this.running && this.author === "dispatch";
  }

  /** A retry begins again without settling in between. */
  begin(): void {
    if (!this.running) {
      this.author = undefined;
      this.outcome = "good";
    }
    this.running = true;
  }

  /** The first message says who began it; ours takes over a turn that somebody else began. */
  message(from: "ours" | "wake" | "other" | undefined): void {
    if (from === "ours") this.author = "dispatch";
    else if (from !== undefined) this.author ??= from === "wake" ? "dispatch" : "person";
  }

  /** The end of one attempt: the last one counts. */
  attempt(stopReason: string | undefined, error?: string): void {
    this.error = stopReason === "error" ? error : undefined;
    this.outcome = stopReason === "aborted" || stopReason === "error" ? "aborted" : "good";
  }

  /** It is over with everything that follows. */
  settle(aborted: boolean | undefined): { author: Author; aborted: boolean; error?: string } {
    const author = this.author ?? "person";
    const error = this.error === undefined ? {} : { error: this.error };
    const ended = { author, aborted: aborted === true || this.outcome === "aborted", ...error };
    this.error = undefined;
    this.running = false;
    this.author = undefined;
    this.outcome = "good";
    return ended;
  }
}
