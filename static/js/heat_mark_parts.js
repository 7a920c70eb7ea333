// What the marks above the heat map's time axis are at a zoom: a mark that stands for several things is divided as
// soon as these are far enough apart to be told from each other.
import { say, state } from "./heat_state.js";
import { shifted, zoneName } from "./zone.js";

const signs = /** @type {Record<string, string>} */ ({ move: "→", split: "÷", merge: "∪", run: "▸", alert: "!" });

/**
 * @typedef {{key: string, kind: string, at: number, sign: string, text: string, url: string, failed: boolean}} Mark
 * @typedef {import("./api.js").HeatMark} HeatMark
 */

/**
 * marksAt are the marks where two of them need so much time between them, oldest first.
 * @param {number} apart ms
 * @returns {Mark[]}
 */
export const marksAt = (apart) => state.heat.marks.flatMap((m) => divided(m, apart)).sort((a, b) => a.at - b.at);

/** divided is a mark, or the marks that it becomes. @type {(m: HeatMark, apart: number) => Mark[]} */
function divided(m, apart) {
  const parts = m.parts ?? [];
  const long = parts.length ? Date.parse(parts[parts.length - 1].at) - Date.parse(parts[0].at) : 0;
  if (long < 2 * apart) return [shown(m)];
  /** @type {(typeof parts)[]} */
  const near = [];
  for (const p of parts) {
    const last = near[near.length - 1];
    if (last && Date.parse(p.at) - Date.parse(last[0].at) < apart) last.push(p);
    else near.push([p]);
  }
  return near.map((some) => {
    if (some.length === 1) return shown({ ...some[0], kind: m.kind, count: 1 });
    const { at, to } = some[some.length - 1];
    const text = say("some", { n: some.length, all: m.text });
    return shown({ at: some[0].at, to: to ?? at, kind: m.kind, count: some.length, text, url: m.url, failed: some.some((p) => p.failed) });
  });
}

/** shown is a mark as the page writes it: web/heat. @type {(m: HeatMark) => Mark} */
function shown({ at, to, kind, count, text, url, failed = false }) {
  const n = count > 99 ? "99+" : count > 1 ? String(count) : "";
  const begin = Date.parse(at);
  return { key: kind + begin, kind, at: begin, sign: signs[kind] + n, text: `${times(begin, Date.parse(to ?? at))} · ${text}`, url, failed };
}

/** @type {(from: number, to: number) => string} */
function times(from, to) {
  const clock = (/** @type {number} */ t) => shifted(t).toISOString().slice(11, 19);
  return `${clock(from)}\u202f${zoneName(from)}${to - from >= 1000 ? `–${clock(to)}` : ""}`;
}
