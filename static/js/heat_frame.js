// Draws one frame of the heat map: the visible part of the picture, axes, the cursor and the
// rectangle that is being dragged.
import { keyText } from "./heat_data.js";
import { ticks } from "./heat_view.js";
import { part, state } from "./heat_state.js";

let requested = false;

/** draw requests a frame. Any number of requests before it make one. */
export function draw() {
  if (requested || !state.picture) return;
  requested = true;
  requestAnimationFrame(() => {
    requested = false;
    frame();
  });
}

const gutter = () => (part("canvas").clientWidth < 560 ? 64 : 168); // px for the names of rows

/** cellArea is where the cells are, in the canvas's CSS pixels. */
export function cellArea() {
  const c = part("canvas");
  return { x: gutter(), y: 8, w: Math.max(c.clientWidth - gutter(), 50), h: Math.max(c.clientHeight - 30, 50) };
}

/** rowName is a row's project, or the key at which it begins. */
export function rowName(row) {
  const r = state.heat.rows[row];
  if (!r) return "";
  return r.name || r.project || keyText(r.min);
}

function frame() {
  const canvas = part("canvas");
  const ratio = Math.min(devicePixelRatio || 1, 2);
  const wide = Math.round(canvas.clientWidth * ratio);
  const high = Math.round(canvas.clientHeight * ratio);
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  const ctx = canvas.getContext("2d");
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  const area = cellArea();
  ctx.fillStyle = state.colors.gap; // shows where there are no cells
  ctx.fillRect(area.x, area.y, area.w, area.h);
  state.picture.frame(ctx, state.view, area);
  incompleteMarks(ctx, area);
  timeAxis(ctx, area);
  rowAxis(ctx, area);
  if (state.cursor) outlineCursor(ctx, area);
  if (state.brush) outlineBrush(ctx);
}

const xOf = (area, time) => area.x + ((time - state.view.t0) / (state.view.t1 - state.view.t0)) * area.w;
const yOf = (area, row) => area.y + ((row - state.view.r0) / (state.view.r1 - state.view.r0)) * area.h;

// incompleteMarks draws a line above columns that were not counted completely.
function incompleteMarks(ctx, area) {
  ctx.fillStyle = state.colors.soft;
  for (const c of state.heat.columns) {
    if (!(c.sampled || c.atLeast) || c.to < state.view.t0 || c.from > state.view.t1) continue;
    const x = Math.max(xOf(area, c.from), area.x);
    ctx.fillRect(x, 1, Math.max(Math.min(xOf(area, c.to), area.x + area.w) - x - 0.5, 0.5), c.atLeast ? 4 : 2);
  }
}

function timeAxis(ctx, area) {
  ctx.font = "11px system-ui, sans-serif";
  ctx.fillStyle = state.colors.soft;
  ctx.textBaseline = "alphabetic";
  ctx.textAlign = "left";
  for (const { at, text } of ticks(state.view, area.w)) {
    const x = xOf(area, at);
    ctx.fillRect(x, area.y + area.h, 1, 4);
    if (x < area.x + area.w - 30) ctx.fillText(text, x + 3, area.y + area.h + 14);
  }
}

function rowAxis(ctx, area) {
  const { r0, r1 } = state.view;
  const step = Math.max(1, Math.ceil(((r1 - r0) / area.h) * 15));
  let before = "";
  for (let r = Math.ceil(r0 / step) * step; r < r1; r += step) {
    const label = rowName(state.picture.shown[r]);
    if (label === before) continue; // rows of the same project have one label
    before = label;
    ctx.fillText(clipped(label, area.x - 8), 0, Math.min(yOf(area, r) + 10, area.y + area.h));
  }
}

// clipped keeps the beginning. It assumes 6 px a letter: measuring text in every frame would cost
// more than the picture.
const clipped = (s, width) => (s.length * 6 > width ? `${s.slice(0, Math.max(Math.floor(width / 6) - 1, 3))}…` : s);

// outlineCursor draws two lines around the cell, so that it is visible on any colour.
function outlineCursor(ctx, area) {
  const c = state.heat.columns[state.cursor.column];
  if (!c) return;
  const x = xOf(area, c.from);
  const y = yOf(area, state.cursor.row);
  const w = Math.max(xOf(area, c.to) - x, 4);
  const h = Math.max(yOf(area, state.cursor.row + 1) - y, 4);
  if (x + w < area.x || x > area.x + area.w || y + h < area.y || y > area.y + area.h) return;
  ctx.lineWidth = 2;
  ctx.strokeStyle = state.colors.ink;
  ctx.strokeRect(x - 2, y - 2, w + 4, h + 4);
  ctx.strokeStyle = state.colors.accent;
  ctx.strokeRect(x, y, w, h);
}

function outlineBrush(ctx) {
  const { x0, y0, x1, y1 } = state.brush;
  ctx.strokeStyle = state.colors.accent;
  ctx.lineWidth = 1.5;
  ctx.strokeRect(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0));
}
