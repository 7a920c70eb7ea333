// What a frame of the cluster map draws over its rows and above them.
import { colors, drawBadge, fillOf } from "./shard_colors.js";
import { markOf, patterned } from "./map_lane.js";
import { railHeight, shardBoxes, xOf } from "./map_layout.js";
import { screen, state } from "./map_state.js";
import { outline } from "./pictures.js";
/** @import { Row, Strip } from "./map_layout.js" */

const leastWindow = 6; // px that the minimap's window is wide at least, so that it can be seen and held

/** @typedef {CanvasRenderingContext2D} Context */

/** drawRail draws the shards' boxes above the rows, over what was scrolled below them. @param {Context} ctx */
export function drawRail(ctx) {
  ctx.fillStyle = colors.paper;
  ctx.fillRect(0, 0, screen.width, railHeight - 4);
  ctx.font = "600 11px system-ui, sans-serif";
  for (const { shard, x, w } of shardBoxes(screen.layout, state.map.shards)) {
    ctx.globalAlpha = state.view.only && state.view.only !== shard.name ? 0.25 : 1;
    const fill = w < patterned ? colors.shards[shard.color] : fillOf(shard);
    drawBadge(ctx, shard, fill, { x, y: 3, w: Math.max(w - 2, 1.5), h: 19 }, w >= 8 + shard.label.length * 7);
  }
  ctx.globalAlpha = 1;
  ctx.textAlign = "left";
}

// drawOverlays draws what is over the rows: the minimap's window, the marks that are pointed at or chosen,
// and the range that is being dragged.
/** @type {(ctx: Context, rows: Row[]) => void} */
export function drawOverlays(ctx, rows) {
  const { brush, cursor, hover, view } = state;
  const top = railHeight - screen.top;
  for (const row of rows) {
    const { ns } = row.band;
    if (row.mini) drawWindow(ctx, row, row.mini, top);
    if (hover?.ns === ns) outlineMark(ctx, row, hover.position, top, colors.ink, 1.5);
    if (cursor?.ns === ns) outlineMark(ctx, row, cursor.position, top, colors.accent, 3);
    if (brush?.ns !== ns) continue;
    const [x0, x1] = [brush.from, brush.to].map((at) => xOf(screen.layout, row, view, at)).sort((a, b) => a - b);
    ctx.strokeStyle = colors.accent;
    ctx.lineWidth = 2;
    ctx.strokeRect(x0, row.lane.y + top - 3, Math.max(x1 - x0, 1), row.lane.h + 6);
  }
}

// drawWindow draws the window around the part of the collection that is visible above its minimap, with lines to the
// lane above so that it reads as enlarged.
/** @type {(ctx: Context, row: Row, mini: Strip, top: number) => void} */
function drawWindow(ctx, row, mini, top) {
  const { x, w } = screen.layout;
  const { from, to } = state.view;
  const middle = x + ((from + to) / 2) * w;
  const half = Math.max(((to - from) * w) / 2, leastWindow / 2);
  const left = Math.max(middle - half, x);
  const right = Math.min(middle + half, x + w);
  const y = mini.y + top;
  const foot = row.lane.y + row.lane.h + top;
  ctx.globalAlpha = 0.65;
  ctx.fillStyle = colors.paper;
  ctx.fillRect(x, y, left - x, mini.h);
  ctx.fillRect(right, y, x + w - right, mini.h);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = colors.strong;
  ctx.lineWidth = 1;
  ctx.stroke(new Path2D(`M${x} ${foot}L${left} ${y - 1}M${x + w} ${foot}L${right} ${y - 1}`));
  ctx.lineWidth = 2;
  ctx.strokeStyle = colors.ink;
  ctx.strokeRect(left, y - 1, right - left, mini.h + 2);
}

/** @type {(ctx: Context, row: Row, position: number, top: number, color: string, width: number) => void} */
function outlineMark(ctx, row, position, top, color, width) {
  const mark = markOf(row, position);
  if (!mark) return;
  const { x: left, w } = screen.layout;
  const x0 = Math.max(xOf(screen.layout, row, state.view, mark.from), left);
  const x1 = Math.min(xOf(screen.layout, row, state.view, mark.to), left + w);
  if (x1 < left || x0 > left + w) return;
  outline(ctx, { x: x0 - 1, y: row.lane.y + top - 1, w: Math.max(x1 - x0, 3) + 2, h: row.lane.h + 2 }, colors.paper, color, width);
}
