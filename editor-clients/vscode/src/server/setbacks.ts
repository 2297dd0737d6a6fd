// Setbacks (exponential backoff, crash loop): how long to wait after a session that ended by itself, and when to give
// up.

const FIRST_MS = 300;
const LONGEST_MS = 15_000;
const WITHIN_MS = 3 * 60_000;

/** Exponential backoff of restarts; after too many crashes in a while there is none. */
export class Setbacks {
  readonly most = 6;
  private times: number[] = [];

  /** Milliseconds until the next try; undefined where there were too many in a short while. */
  next(now: number): number | undefined {
    this.times = this.times.filter((time) => now - time < WITHIN_MS);
    this.times.push(now);
    if (this.times.length >= this.most) return undefined;
    return Math.min(LONGEST_MS, FIRST_MS * 3 ** (this.times.length - 1));
  }

  forget(): void {
    this.times = [];
  }
}
