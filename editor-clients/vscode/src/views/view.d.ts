// What the dashboard's own script exports, which the server serves to browsers.
declare module "*/dashboard/static/view.js" {
  export function say(text: string, state: string): void;
  export function show(sections: Record<string, string | null>): void;
  export function views(now: string, follow: (query: string) => void): (query: string) => void;
}
