import React, { useState as use, type FC } from "react";
import * as shapes from "./shapes";
import type { Theme } from '../theme';
export { Legend } from "./legend";
export * from "./axis";

const size = 3;

/** Draws the board. */
export const Board: FC<Props> = ({ theme }) => {
  const [state, setState] = use(0);
  // Handles a click.
  const handle = async (event: Event) => {
    await shapes.draw(event);
  };
  items.map((item) => item.render());
  return state ? <shapes.Grid onClick={handle}><Cell /></shapes.Grid> : <div />;
};

const Cell = memo(() => <td />);
export const Input = React.memo(
  forwardRef<HTMLElement, Props>(function Inner(props, ref) {
    return <input ref={ref} />;
  }),
);

export const action = register({
  name: "action",
  perform: (elements, app) => ({ elements }),
  nested: { deep() { return 1; } },
});

// Picks.
function pick(a: string): string;
function pick(a: any): any {
  switch (a) { case 1: return new Map(); default: return a; }
}

@Component({ selector: "x" })
export class Panel<T> extends Widget<T> implements Closable, ui.Sized {
  @Input() title = "";
  private onKey = (event: Event): void => { this.close(); };

  constructor(private readonly app: App) { super(); }

  /** Closes it. */
  @HostListener("close")
  async close(): Promise<void> { for (const x of this.xs) { x?.stop(); } }

  get open(): boolean { return true; }
}

export abstract class Shape { abstract area(): number; }
export interface Closable extends Base, ui.Item<T> { close(): void }
export type Mode = "a" | "b";
export enum Level { Low }
namespace Geo.Plane { export function rotate() {} }
declare module "virtual" { export interface Config { x: number } }

export default function () { return pick("x"); }
