/** Areas. */
import fs = require("fs");

const pi: number = 3.14;
export const area = <T extends Shape>(shape: T): number => pi * shape.r ** 2;
export async function* walk(root: Node): AsyncGenerator<Node> {
  try { yield root; } catch (error) { report(error as Error); }
}
abstract class Repo<T> { protected abstract find(id: string): T; save = async (x: T) => { await db.put<T>(x); }; }
