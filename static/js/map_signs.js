// Signs of the cluster map: jumbo chunks, chunks outside their zone and moving ones below a lane; zone
// borders, pins and names above it.
import { colors } from "./shard_colors.js";
import { JUMBO, markAt, MOVING, OUTSIDE } from "./map_tiles.js";
import { clamp } from "./pictures.js";
/** @import { MapZone } from "./api.js" */
/** @import { Box, Row, Span } from "./map_layout.js" */
/** @import { Tile } from "./map_tiles.js" */

/** @typedef {CanvasRenderingContext2D} Context */

const diamond = new Path2D("M-3.5 0L0-3.5 3.5 0 0 3.5Z");
const triangle = new Path2D("M-3.5 3L0-3.5 3.5 3Z");
const ring = new Path2D("M3 0A3 3 0 1 1-3 0 3 3 0 1 1 3 0Z");

// paintSigns draws the signs below a lane: jumbo chunks, chunks outside their zone, moving ones.
/** @type {(ctx: Context, tiles: Tile[], part: Span, box: Box) => void} */
export function paintSigns(ctx, tiles, { from, to }, box) {
  /** @type {Record<number, number>} */
  const last = { [JUMBO]: -99, [OUTSIDE]: -99, [MOVING]: -99 };
  for (const t of tiles) {
    const k = box.w / (to - from) / Math.max(t.total, 1);
    for (let i = markAt(t, Math.floor(from * t.total)); i < t.at.length && t.at[i] < to * t.total; i++) {
      if (!t.flags[i]) continue;
      let x = clamp(box.x + (t.at[i] + t.chunks[i] / 2 - from * t.total) * k, box.x + 4, box.x + box.w - 4);
      for (const flag of [JUMBO, OUTSIDE, MOVING]) {
        if (!(t.flags[i] & flag) || x - last[flag] < 8) continue;
        last[flag] = x;
        sign(ctx, flag, x, box.y + box.h + 6);
        x += 8;
      }
    }
  }
}

/** @type {(ctx: Context, flag: number, x: number, y: number) => void} */
function sign(ctx, flag, x, y) {
  ctx.translate(x, y);
  ctx.fillStyle = ctx.strokeStyle = flag === MOVING ? colors.accent : colors.ink;
  ctx.lineWidth = 1.3;
  if (flag === JUMBO) ctx.fill(triangle);
  else ctx.stroke(flag === MOVING ? ring : diamond);
  ctx.translate(-x, -y);
}

// paintZones draws the zones above a lane, with names where there is room, and pins.
/** @type {(ctx: Context, row: Row, tiles: Tile[], part: Span, box: Box) => void} */
export function paintZones(ctx, row, tiles, { from, to }, box) {
  let drawn = -99;
  let pinned = -99;
  let named = -99;
  for (const t of tiles) {
    const k = box.w / (to - from) / Math.max(t.total, 1);
    for (const z of t.zones) {
      const x0 = box.x + (Math.max(z.from, t.from) - from * t.total) * k;
      const x1 = box.x + (Math.min(z.to, t.to) - from * t.total) * k;
      if (x1 < box.x || x0 > box.x + box.w || x1 - drawn < 1) continue;
      const left = Math.max(x0, box.x);
      const right = Math.min(x1, box.x + box.w);
      drawn = right;
      const y = box.y - 4;
      ctx.fillStyle = colors.ink;
      ctx.fillRect(left, y, Math.max(right - left, 1), 1.5);
      if (x0 >= box.x) ctx.fillRect(left, y, 1, box.h + 4);
      if (x1 <= box.x + box.w) ctx.fillRect(Math.max(right - 1, left), y, 1, box.h + 4);
      if (z.pin && left - pinned >= 7) {
        pinned = left;
        pin(ctx, left + 0.5, y);
      }
      if (row.focus && left >= named) named = name(ctx, z, left, right, y);
    }
  }
}

/** @type {(ctx: Context, x: number, y: number) => void} */
function pin(ctx, x, y) {
  ctx.beginPath();
  ctx.arc(x, y, 3, 0, 7);
  ctx.fill();
}

// name writes a zone's name, or its project's, and returns where the next may begin.
/** @type {(ctx: Context, z: MapZone, left: number, right: number, y: number) => number} */
function name(ctx, z, left, right, y) {
  const text = z.pin || z.name;
  const room = Math.max(right - left, 60);
  const letters = Math.floor(room / 6.2);
  ctx.font = "11px system-ui, sans-serif";
  ctx.textBaseline = "alphabetic";
  ctx.fillText(text.length > letters ? `${text.slice(0, Math.max(letters - 1, 1))}…` : text, left + (z.pin ? 6 : 2), y - 4);
  return left + Math.min(room, text.length * 6.5 + 14);
}
