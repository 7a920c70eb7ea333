// The visible part of a heat map: times and rows, zoom and pan, always within the data.
import { shifted, zoneName } from "./zone.js";

/** @typedef {{t0: number, t1: number, r0: number, r1: number}} View times in ms, rows counted in those shown */

const minTime = 5 * 60_000; // ms that are visible at least
const minRows = 4; // rows that are visible at least

/** whole is all of a picture. @type {(heat: {from: number, to: number}, rows: number) => View} */
export const whole = (heat, rows) => ({ t0: heat.from, t1: heat.to, r0: 0, r1: Math.max(rows, 1) });

// within keeps a view inside of another without making it smaller than can be seen.
/** @type {(view: View, all: View) => View} */
export function within(view, all) {
  const span = Math.min(Math.max(view.t1 - view.t0, Math.min(minTime, all.t1 - all.t0)), all.t1 - all.t0);
  const rows = Math.min(Math.max(view.r1 - view.r0, Math.min(minRows, all.r1 - all.r0)), all.r1 - all.r0);
  const t0 = Math.min(Math.max(view.t0, all.t0), all.t1 - span);
  const r0 = Math.min(Math.max(view.r0, all.r0), all.r1 - rows);
  return { t0, t1: t0 + span, r0, r1: r0 + rows };
}

// zoomed makes a view smaller (by < 1) or larger around a place.
/** @type {(view: View, by: number, time: number, row: number) => View} */
export function zoomed(view, by, time, row) {
  return {
    t0: time - (time - view.t0) * by,
    t1: time + (view.t1 - time) * by,
    r0: row - (row - view.r0) * by,
    r1: row + (view.r1 - row) * by,
  };
}

/** moved shifts a view by times and rows. @type {(view: View, time: number, rows: number) => View} */
export const moved = (view, time, rows) => ({ t0: view.t0 + time, t1: view.t1 + time, r0: view.r0 + rows, r1: view.r1 + rows });

// ticks are round times to write at an axis, about one for every so many pixels.
/** @type {(view: View, width: number, every?: number) => { at: number; text: string; }[]} */
export function ticks(view, width, every = 90) {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080].map((m) => m * 60_000);
  const wanted = ((view.t1 - view.t0) / width) * every;
  const step = steps.find((s) => s >= wanted) ?? steps[steps.length - 1];
  const out = [];
  const shift = shifted(view.t0).getTime() - view.t0;
  for (let t = Math.ceil((view.t0 + shift) / step) * step - shift; t < view.t1; t += step) out.push({ at: t, text: clock(t, step) });
  return out;
}

/** @type {(t: number, step: number) => string} */
const clock = (t, step) => (step >= 86_400_000 || timeText(t) === "00:00" ? dayText(t) : timeText(t));

/** timeText writes a time of day: 12:00. @param {number} t */
export const timeText = (t) => shifted(t).toISOString().slice(11, 16);

/** @param {number} t */
const dayText = (t) => shifted(t).toISOString().slice(5, 10);

/** spanText writes a column's time: 03-01 12:00–12:01 GMT+2. @param {{from: number, to: number}} c */
export const spanText = ({ from, to }) => `${dayText(from)} ${timeText(from)}–${timeText(to)} ${zoneName(from)}`;
