// What a frame of the cluster map draws over its rows and above them.
import { colors, fillOf, textOf } from "./map_colors.js";
import { markOf, patterned } from "./map_lane.js";
import { railHeight, shardBoxes, xOf } from "./map_layout.js";
import { drawWindow } from "./map_minimap.js";
import { screen, state } from "./map_state.js";

/** @typedef {import("./map_layout.js").Row} Row */

/**
 * drawRail draws the shards' boxes above the rows, over what was scrolled below them.
 * @param {CanvasRenderingContext2D} ctx
 */
export function drawRail(ctx) {
  ctx.fillStyle = colors.paper;
  ctx.fillRect(0, 0, screen.width, railHeight - 4);
  ctx.textBaseline = "middle";
  ctx.textAlign = "center";
  ctx.font = "600 11px system-ui, sans-serif";
  for (const { shard, x, w } of shardBoxes(screen.layout, state.map.shards)) {
    ctx.globalAlpha = state.view.only && state.view.only !== shard.name ? 0.25 : 1;
    ctx.fillStyle = w < patterned ? colors.shards[shard.color] : fillOf(shard);
    ctx.fillRect(x, 3, Math.max(w - 2, 1.5), 19);
    if (w < 8 + shard.label.length * 7) continue;
    if (shard.pattern) {
      ctx.fillStyle = colors.shards[shard.color];
      ctx.fillRect(x + w / 2 - 1 - shard.label.length * 4 - 2, 5, shard.label.length * 8 + 4, 15);
    }
    ctx.fillStyle = textOf(shard);
    ctx.fillText(shard.label, x + w / 2 - 1, 13);
  }
  ctx.globalAlpha = 1;
  ctx.textAlign = "left";
}

/**
 * drawOverlays draws what is over the rows: the minimap's window, the marks that are pointed at or chosen,
 * and the range that is being dragged.
 * @type {(ctx: CanvasRenderingContext2D, rows: Row[]) => void}
 */
export function drawOverlays(ctx, rows) {
  const top = railHeight - screen.top;
  for (const row of rows) {
    if (row.mini) drawWindow(ctx, screen.layout, row, row.mini, top);
    for (const [at, color, width] of /** @type {const} */ ([[state.hover, colors.ink, 1.5], [state.cursor, colors.accent, 3]])) {
      if (at?.ns === row.band.ns) outline(ctx, row, at.position, top, color, width);
    }
    if (state.brush?.ns === row.band.ns) {
      const x0 = xOf(screen.layout, row, state.view, Math.min(state.brush.from, state.brush.to));
      const x1 = xOf(screen.layout, row, state.view, Math.max(state.brush.from, state.brush.to));
      ctx.strokeStyle = colors.accent;
      ctx.lineWidth = 2;
      ctx.strokeRect(x0, row.lane.y + top - 3, Math.max(x1 - x0, 1), row.lane.h + 6);
    }
  }
}

/**
 * outline draws two lines around a mark, so that it is visible on any colour.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Row} row
 * @param {number} position
 * @param {number} top
 * @param {string} color
 * @param {number} width
 */
function outline(ctx, row, position, top, color, width) {
  const mark = markOf(row, position);
  if (!mark) return;
  const { x: left, w } = screen.layout;
  const x0 = Math.max(xOf(screen.layout, row, state.view, mark.from), left);
  const x1 = Math.min(xOf(screen.layout, row, state.view, mark.to), left + w);
  if (x1 < left || x0 > left + w) return;
  const wide = Math.max(x1 - x0, 3);
  ctx.lineWidth = width + 2;
  ctx.strokeStyle = colors.paper;
  ctx.strokeRect(x0 - 1, row.lane.y + top - 1, wide + 2, row.lane.h + 2);
  ctx.lineWidth = width;
  ctx.strokeStyle = color;
  ctx.strokeRect(x0 - 1, row.lane.y + top - 1, wide + 2, row.lane.h + 2);
}
