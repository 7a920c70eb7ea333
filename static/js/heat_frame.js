// Draws one frame of the heat map: the visible part of the picture, owners, axes, the cursor, and
// what is selected or being dragged.
import { columnAt } from "./heat_data.js";
import { cellArea, crossHair, rowAxis, timeAxis, xOf, yOf } from "./heat_axes.js";
import { placeMarks } from "./heat_marks.js";
import { ownerLanes } from "./heat_owners.js";
import { isRead, part, state } from "./heat_state.js";
import { fitted, frames, outline } from "./pictures.js";
import { colors } from "./shard_colors.js";
/** @import { Area } from "./heat_axes.js" */
/** @import { Brush, Selection } from "./heat_state.js" */

/** draw requests a frame. */
export const draw = frames(() => {
  if (isRead()) frame();
});

function frame() {
  const { clientWidth: width, clientHeight: height } = part("canvas");
  const ctx = fitted(part("canvas"), width, height);
  ctx.clearRect(0, 0, width, height);
  const area = cellArea();
  ctx.fillStyle = colors.gap; // shows where there are no cells
  ctx.fillRect(area.x, area.y, area.w, area.h);
  state.picture.frame(ctx, state.view, area);
  incompleteMarks(ctx, area);
  ownerLanes(ctx, area);
  timeAxis(ctx, area);
  rowAxis(ctx, area);
  const { brush, cursor, selection } = state;
  const column = cursor && state.heat.columns[cursor.column];
  if (selection) outlineSelection(ctx, area, selection);
  if (column) outlineCells(ctx, area, column.from, column.to, cursor.row, cursor.row + 1);
  if (brush) outlineBrush(ctx, brush);
  crossHair(ctx, area);
  placeMarks(area);
}

// incompleteMarks draws a line above columns that were not counted completely.
/** @type {(ctx: CanvasRenderingContext2D, area: Area) => void} */
function incompleteMarks(ctx, area) {
  ctx.fillStyle = colors.soft;
  for (const c of state.heat.columns) {
    if (!(c.sampled || c.atLeast) || c.to < state.view.t0 || c.from > state.view.t1) continue;
    const x = Math.max(xOf(area, c.from), area.x);
    ctx.fillRect(x, 1, Math.max(Math.min(xOf(area, c.to), area.x + area.w) - x - 0.5, 0.5), c.atLeast ? 4 : 2);
  }
}

/** @type {(ctx: CanvasRenderingContext2D, area: Area, from: number, to: number, r0: number, r1: number) => void} */
function outlineCells(ctx, area, from, to, r0, r1) {
  const x = Math.max(xOf(area, from), area.x);
  const y = Math.max(yOf(area, r0), area.y);
  const w = Math.max(Math.min(xOf(area, to), area.x + area.w) - x, 4);
  const h = Math.max(Math.min(yOf(area, r1), area.y + area.h) - y, 4);
  if (xOf(area, to) < area.x || x > area.x + area.w || yOf(area, r1) < area.y || y > area.y + area.h) return;
  outline(ctx, { x: x - 1, y: y - 1, w: w + 2, h: h + 2 }, colors.ink, colors.accent, 2);
}

// outlineSelection draws around each run of selected rows: projects that are selected need not be
// beside each other any more after new data.
/** @type {(ctx: CanvasRenderingContext2D, area: Area, selection: Selection) => void} */
function outlineSelection(ctx, area, selection) {
  const { heat, picture } = state;
  const keys = new Set(selection.rows);
  const selected = (/** @type {number} */ r) => keys.has(heat.rows[picture.shown[r]]?.key);
  const first = columnAt(heat, selection.from);
  const last = columnAt(heat, selection.to - 1);
  const from = first >= 0 ? heat.columns[first].from : selection.from; // columns are merged as they age
  const to = last >= 0 ? heat.columns[last].to : selection.to;
  for (let r = 0; r < picture.shown.length; r++) {
    if (!selected(r)) continue;
    let end = r + 1;
    while (selected(end)) end++;
    outlineCells(ctx, area, from, to, r, end);
    r = end;
  }
}

/** @type {(ctx: CanvasRenderingContext2D, brush: Brush) => void} */
function outlineBrush(ctx, { x0, y0, x1, y1 }) {
  ctx.strokeStyle = colors.accent;
  ctx.lineWidth = 1.5;
  ctx.strokeRect(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0));
}
