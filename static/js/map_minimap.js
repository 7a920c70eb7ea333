// The minimap of the collection that is zoomed into: all of it in a strip, and a window around the part
// that is visible above.
import { colors } from "./map_colors.js";
import { state } from "./map_state.js";
import { within } from "./map_view.js";

const least = 6; // px that the window is wide at least, so that it can be seen and held

/** @typedef {import("./map_view.js").View} View */

/**
 * windowOf is the window's edges in a strip of a width.
 * @type {(view: View, x: number, w: number) => { left: number; right: number; }}
 */
export function windowOf({ from, to }, x, w) {
  const middle = x + ((from + to) / 2) * w;
  const half = Math.max(((to - from) * w) / 2, least / 2);
  return { left: Math.max(middle - half, x), right: Math.min(middle + half, x + w) };
}

/**
 * drawWindow draws it, with lines to the lane above so that it reads as enlarged.
 * @param {CanvasRenderingContext2D} ctx
 * @param {import("./map_layout.js").Layout} layout
 * @param {import("./map_layout.js").Row} row
 * @param {import("./map_layout.js").Strip} mini
 * @param {number} top
 */
export function drawWindow(ctx, layout, row, mini, top) {
  const { left, right } = windowOf(state.view, layout.x, layout.w);
  const y = mini.y + top;
  const foot = row.lane.y + row.lane.h + top;
  ctx.globalAlpha = 0.65;
  ctx.fillStyle = colors.paper;
  ctx.fillRect(layout.x, y, left - layout.x, mini.h);
  ctx.fillRect(right, y, layout.x + layout.w - right, mini.h);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = colors.strong;
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.moveTo(layout.x, foot);
  ctx.lineTo(left, y - 1);
  ctx.moveTo(layout.x + layout.w, foot);
  ctx.lineTo(right, y - 1);
  ctx.stroke();
  ctx.lineWidth = 2;
  ctx.strokeStyle = colors.ink;
  ctx.strokeRect(left, y - 1, right - left, mini.h + 2);
}

/**
 * centred is the view whose window is around a place of the strip, 0 to 1.
 * @type {(view: View, place: number, total: number) => View}
 */
export function centred(view, place, total) {
  const half = (view.to - view.from) / 2;
  return within({ ...view, from: place - half, to: place + half }, total);
}
