// Version comparison (PEP 440) of Python packages, as far as it is needed: numbers, and whether it is a final release.

/** The version in a wheel's name: `aurora_context-0.2.0-py3-none-any.whl`. */
export function versionOf(wheel: string): string {
  return wheel.split("-")[1] ?? "";
}

/** Whether `one` comes after `other`. */
export function newer(one: string, other: string): boolean {
  const [a, b] = [read(one), read(other)];
  for (let at = 0; at < Math.max(a.numbers.length, b.numbers.length); at++) {
    const difference = (a.numbers[at] ?? 0) - (b.numbers[at] ?? 0);
    if (difference) return difference > 0;
  }
  for (let at = 0; at < a.stage.length; at++) {
    const difference = (a.stage[at] ?? 0) - (b.stage[at] ?? 0);
    if (difference) return difference > 0;
  }
  return false;
}

const FINAL = 4;
const STAGES: Record<string, number> = { dev: 0, a: 1, b: 2, rc: 3, post: 5 };

function read(version: string): { numbers: number[]; stage: [number, number] } {
  const [, numbers = "0", , stage, count] = /^v?(\d+(?:\.\d+)*)([-_.]?(dev|a|b|rc|post)[-_.]?(\d*))?/i.exec(version.trim()) ?? [];
  return { numbers: numbers.split(".").map(Number), stage: [stage ? (STAGES[stage.toLowerCase()] ?? FINAL) : FINAL, Number(count || 0)] };
}
