// Text of others on this person's screen: nothing in it may move the cursor, hide itself or turn the line around.

/** Control characters (with C1 and escape sequences), line separators, direction marks, and what is invisible. */
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
const UNSEEN = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const TAGS = /[\u{e0000}-\u{e007f}]/gu;

/** Several lines stay several lines. */
export function clean(text: string): string {
  return text.replace(/\r\n?/g, "\n").replaceAll("\t", " ").replace(SEQUENCES, "").replace(UNSEEN, "").replace(TAGS, "");
}

/** One line of at most `most` characters; what is cut is marked. */
export function line(text: string, most = 300): string {
  const one = clean(text).replace(/\s+/g, " ").trim();
  const characters = [...one];
  return characters.length <= most ? one : `${characters.slice(0, most - 1).join("")}…`;
}

/** `42 s`, `3 min`, `1 h 05 min` */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}
