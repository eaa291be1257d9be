// Bytes of a stream, cut into lines. A line is text only when it is whole, so that no character is cut in two.

export type LineSink = {
  line(text: string): void;
  /** A line is longer than the limit: the stream means nothing from here on. */
  tooLong(): void;
};

export class LineSplitter {
  private readonly limit: number;
  private readonly sink: LineSink;
  private parts: Buffer[] = [];
  private length = 0;
  private dead = false;

  constructor(limit: number, sink: LineSink) {
    this.limit = limit;
    this.sink = sink;
  }

  push(chunk: Buffer): void {
    let from = 0;
    while (!this.dead) {
      const end = chunk.indexOf(0x0a, from);
      const part = chunk.subarray(from, end < 0 ? chunk.length : end);
      if (this.length + part.length > this.limit) {
        this.dead = true;
        this.parts = [];
        this.sink.tooLong();
        return;
      }
      if (part.length > 0) this.parts.push(part);
      this.length += part.length;
      if (end < 0) return;
      const line = Buffer.concat(this.parts, this.length).toString("utf8");
      this.parts = [];
      this.length = 0;
      from = end + 1;
      this.sink.line(line);
    }
  }

  /** Nothing more is told. */
  stop(): void {
    this.dead = true;
    this.parts = [];
  }
}
