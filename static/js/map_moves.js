// Draws migrations over the cluster map: from the box of the source shard to the chunk and on to the box of
// the target shard, with a ring at the chunk and a dot on its way. Who prefers less motion sees arrows instead.
// A move that has ended has neither: an arrow shows its way and fades, because nothing moves any more.
import { colors, fillOf } from "./shard_colors.js";
import { railHeight, shardBoxes, xOf } from "./map_layout.js";
import { state } from "./map_state.js";
/** @import { Fill } from "./shard_colors.js" */
/** @import { Layout, Row } from "./map_layout.js" */

const trip = 2600; // ms of a dot's way
const lines = 24; // moves that are drawn with lines; of more only the chunks are marked

const still = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * @typedef {CanvasRenderingContext2D} Context
 * @typedef {{x: number, y: number}} Point
 * @typedef {{ns: string, position: number, from: string, to: string, arrived?: boolean}} Move
 */

/** @type {(Move & {until: number})[]} */
let finished = []; // moves that ended a moment ago

/** noteMoves remembers moves that have just ended, to show their way once. @type {(moves: Move[], now: number) => void} */
export function noteMoves(moves, now) {
  finished = [...finished.filter((m) => m.until > now), ...moves.map((m) => ({ ...m, until: now + trip }))].slice(-lines);
}

// drawMoves draws them for the rows that are visible and tells whether it should go on drawing.
/** @type {(ctx: Context, layout: Layout, rows: Row[], top: number, now: number) => boolean} */
export function drawMoves(ctx, layout, rows, top, now) {
  const moves = state.map.moving;
  const rowOf = new Map(rows.map((r) => [r.band.ns, r]));
  const boxes = new Map(shardBoxes(layout, state.map.shards).map((b) => [b.shard.name, b]));
  let alive = false;
  const one = (/** @type {Move} */ m, /** @type {number} */ part, over = false) => {
    const at = placeOf(layout, rowOf.get(m.ns), m, top);
    if (!at) return;
    if (!over) edged(ctx, circle(at, 6), fillOf(state.shards.get(m.to)), 3);
    const from = boxes.get(m.from);
    const to = boxes.get(m.to);
    if (!from || !to || moves.length > lines) return;
    const a = { x: from.x + from.w / 2, y: railHeight - 5 };
    const b = { x: to.x + to.w / 2, y: railHeight - 5 };
    edged(ctx, line(a, at), fillOf(from.shard), 2.5);
    edged(ctx, line(at, b), fillOf(to.shard), 2.5);
    alive = true;
    if (over || still.matches) arrow(ctx, at, b);
    else dot(ctx, part < 0.5 ? between(a, at, part * 2) : between(at, b, part * 2 - 1), fillOf(to.shard));
  };
  finished = finished.filter((m) => m.until > now);
  for (const m of finished) {
    ctx.globalAlpha = (m.until - now) / trip;
    one(m, 1, true);
  }
  ctx.globalAlpha = 1;
  moves.forEach((m, i) => one(m, ((now + i * 400) % trip) / trip, m.arrived));
  return alive && (finished.length > 0 || !still.matches);
}

// placeOf is where a moving chunk is in its row, or null when that is not visible.
/** @type {(layout: Layout, row: Row | undefined, move: Move, top: number) => Point | null} */
function placeOf(layout, row, move, top) {
  if (!row) return null;
  const x = xOf(layout, row, state.view, (move.position + 0.5) / Math.max(row.band.total, 1));
  if (x < layout.x || x > layout.x + layout.w) return null;
  return { x, y: railHeight + row.lane.y + row.lane.h / 2 - top };
}

/** @type {(a: Point, b: Point, t: number) => Point} */
const between = (a, b, t) => ({ x: a.x + (b.x - a.x) * t, y: a.y + (b.y - a.y) * t });

/** @type {(at: Point, radius: number) => Path2D} */
function circle({ x, y }, radius) {
  const path = new Path2D();
  path.arc(x, y, radius, 0, 7);
  return path;
}

/** @type {(a: Point, b: Point) => Path2D} */
const line = (a, b) => new Path2D(`M${a.x} ${a.y}L${b.x} ${b.y}`);

// edged strokes a path with an edge of paper, so that it is visible on any colour.
/** @type {(ctx: Context, path: Path2D, stroke: Fill, width: number) => void} */
function edged(ctx, path, stroke, width) {
  ctx.lineWidth = width + 2;
  ctx.strokeStyle = colors.paper;
  ctx.stroke(path);
  ctx.lineWidth = width;
  ctx.strokeStyle = stroke;
  ctx.stroke(path);
}

/** @type {(ctx: Context, at: Point, fill: Fill) => void} */
function dot(ctx, at, fill) {
  const path = circle(at, 4);
  ctx.fillStyle = fill;
  ctx.fill(path);
  ctx.lineWidth = 1.5;
  ctx.strokeStyle = colors.ink;
  ctx.stroke(path);
}

/** @type {(ctx: Context, a: Point, b: Point) => void} */
function arrow(ctx, a, b) {
  ctx.save();
  ctx.translate(b.x, b.y);
  ctx.rotate(Math.atan2(b.y - a.y, b.x - a.x));
  ctx.fillStyle = colors.ink;
  ctx.fill(new Path2D("M0 0L-8-4L-8 4Z"));
  ctx.restore();
}
