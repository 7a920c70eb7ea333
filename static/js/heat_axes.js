// Where the cells of the heat map are, and what is written beside them: names of rows, times, and
// the line that shows what the pointer or a mark is at.
import { ticks, timeText } from "./heat_view.js";
import { isOfProjects, part, state } from "./heat_state.js";
import { colors } from "./shard_colors.js";
/** @import { Point } from "./heat_state.js" */

/** @typedef {{x: number, y: number, w: number, h: number}} Area */
/** @typedef {{time: number, row: number, inside: boolean}} Place */

const narrow = () => part("canvas").clientWidth < 560;

/** laneWidth is the width of a lane of owners beside the cells, in px: rows of projects have none. */
export const laneWidth = () => (isOfProjects() ? 0 : narrow() ? 9 : 22);

const gutter = () => (narrow() ? 92 : 180); // px for the names of rows, with a lane

/** cellArea is where the cells are, in the canvas's CSS pixels. @type {() => Area} */
export function cellArea() {
  const c = part("canvas");
  return { x: gutter(), y: 8, w: Math.max(c.clientWidth - gutter() - laneWidth() - 2, 50), h: Math.max(c.clientHeight - 30, 50) };
}

/** @type {(area: Area, time: number) => number} */
export const xOf = (area, time) => area.x + ((time - state.view.t0) / (state.view.t1 - state.view.t0)) * area.w;

/** @type {(area: Area, row: number) => number} */
export const yOf = (area, row) => area.y + ((row - state.view.r0) / (state.view.r1 - state.view.r0)) * area.h;

/** timeAndRow is what a point stands for; inside tells whether it is on the cells. @type {(point: Point) => Place} */
export function timeAndRow({ x, y }) {
  const area = cellArea();
  const { t0, t1, r0, r1 } = state.view;
  return {
    time: t0 + ((x - area.x) / area.w) * (t1 - t0),
    row: r0 + ((y - area.y) / area.h) * (r1 - r0),
    inside: x >= area.x && x <= area.x + area.w && y >= area.y && y <= area.y + area.h,
  };
}

/** rowName is what a row is called. @param {number} row */
export const rowName = (row) => state.heat.rows[row]?.label ?? "";

/** shareText is a row's share of the writes of the picture; "" for less than a percent. @param {number} row */
export function shareText(row) {
  const n = Math.round((state.heat.rows[row]?.share ?? 0) * 100);
  return n ? `≈ ${n} %` : "";
}

/** axisLabel adds the share to a chunk's number, which alone says nothing: a hash has no name. @param {number} row */
function axisLabel(row) {
  const share = !narrow() && state.heat.rows[row]?.hashed && shareText(row);
  return share ? `${rowName(row)} · ${share}` : rowName(row);
}

/** timeAxis writes the times below the cells. @type {(ctx: CanvasRenderingContext2D, area: Area) => void} */
export function timeAxis(ctx, area) {
  ctx.font = "11px system-ui, sans-serif";
  ctx.fillStyle = colors.soft;
  ctx.textBaseline = "alphabetic";
  ctx.textAlign = "left";
  for (const { at, text } of ticks(state.view, area.w)) {
    const x = xOf(area, at);
    ctx.fillRect(x, area.y + area.h, 1, 4);
    if (x < area.x + area.w - 30) ctx.fillText(text, x + 3, area.y + area.h + 14);
  }
}

/** rowAxis writes the names of rows beside the cells. @type {(ctx: CanvasRenderingContext2D, area: Area) => void} */
export function rowAxis(ctx, area) {
  const { r0, r1 } = state.view;
  const step = Math.max(1, Math.ceil(((r1 - r0) / area.h) * 15));
  let before = "";
  for (let r = Math.ceil(r0 / step) * step; r < r1; r += step) {
    const label = axisLabel(state.picture.shown[r]);
    if (label === before) continue; // rows of the same project have one label
    before = label;
    const high = yOf(area, r + 1) - yOf(area, r);
    ctx.fillText(clipped(label, area.x - laneWidth() - 8), 0, Math.min(yOf(area, r) + Math.max(high / 2 + 4, 10), area.y + area.h));
  }
}

// clipped keeps the beginning. It assumes 6 px a letter: measuring text in every frame would cost
// more than the picture.
/** @type {(s: string, width: number) => string} */
const clipped = (s, width) => (s.length * 6 > width ? `${s.slice(0, Math.max(Math.floor(width / 6) - 1, 3))}…` : s);

// crossHair draws lines through the pointer, with the time and the row's name at their ends.
/** @type {(ctx: CanvasRenderingContext2D, area: Area) => void} */
export function crossHair(ctx, area) {
  const { hover, mark } = state;
  const x = hover ? hover.x : mark && xOf(area, mark);
  if (!x || x < area.x || x > area.x + area.w) return;
  ctx.fillStyle = colors.ink;
  ctx.globalAlpha = 0.55;
  ctx.fillRect(x, area.y, 1, area.h);
  if (hover) ctx.fillRect(area.x, hover.y, area.w, 1);
  ctx.globalAlpha = 1;
  if (!hover) return;
  const { time, row } = timeAndRow(hover);
  tag(ctx, timeText(time), Math.min(x + 3, area.x + area.w - 36), area.y + area.h + 14);
  const name = rowName(state.picture.shown[Math.floor(row)]);
  tag(ctx, clipped(name, area.x - laneWidth() - 8), 0, Math.min(Math.max(hover.y + 4, 12), area.y + area.h));
}

// tag writes a text over the one that is there.
/** @type {(ctx: CanvasRenderingContext2D, text: string, x: number, y: number) => void} */
function tag(ctx, text, x, y) {
  ctx.fillStyle = colors.ink;
  ctx.fillRect(x - 2, y - 11, text.length * 6.4 + 4, 14);
  ctx.fillStyle = colors.paper;
  ctx.fillText(text, x, y);
}
