// Draws migrations over the cluster map: from the box of the source shard to the chunk and on to the box of
// the target shard, with a ring at the chunk and a dot on its way. Who prefers less motion sees arrows instead.
// A move that has ended has neither: an arrow shows its way and fades, because nothing moves any more.
import { colors, fillOf } from "./map_colors.js";
import { railHeight, shardBoxes, xOf } from "./map_layout.js";
import { state } from "./map_state.js";

const trip = 2600; // ms of a dot's way
const lines = 24; // moves that are drawn with lines; of more only the chunks are marked

const still = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * @typedef {import("./map_layout.js").Row} Row
 * @typedef {import("./map_layout.js").Layout} Layout
 * @typedef {import("./map_colors.js").Fill} Fill
 * @typedef {CanvasRenderingContext2D} Context
 * @typedef {{x: number, y: number}} Point
 * @typedef {{ns: string, position: number, from: string, to: string, arrived?: boolean}} Move
 */

/** @type {(Move & {until: number})[]} */
let finished = []; // moves that ended a moment ago

/**
 * noteMoves remembers moves that have just ended, to show their way once.
 * @type {(moves: Move[], now: number) => void}
 */
export function noteMoves(moves, now) {
  finished = [...finished.filter((m) => m.until > now), ...moves.map((m) => ({ ...m, until: now + trip }))].slice(-lines);
}

/**
 * drawMoves draws them for the rows that are visible and tells whether it should go on drawing.
 * @type {(ctx: Context, layout: Layout, rows: Row[], top: number, now: number) => boolean}
 */
export function drawMoves(ctx, layout, rows, top, now) {
  const moves = state.map.moving;
  const rowOf = new Map(rows.map((r) => [r.band.ns, r]));
  const boxes = new Map(shardBoxes(layout, state.map.shards).map((b) => [b.shard.name, b]));
  let alive = false;
  const one = (/** @type {Move} */ m, /** @type {number} */ part, over = false) => {
    const at = placeOf(layout, rowOf.get(m.ns), m, top);
    if (!at) return;
    if (!over) ring(ctx, at, 6, fillOf(state.shards.get(m.to)));
    const from = boxes.get(m.from);
    const to = boxes.get(m.to);
    if (!from || !to || moves.length > lines) return;
    const a = { x: from.x + from.w / 2, y: railHeight - 5 };
    const b = { x: to.x + to.w / 2, y: railHeight - 5 };
    way(ctx, a, at, fillOf(from.shard));
    way(ctx, at, b, fillOf(to.shard));
    alive = true;
    if (over || still.matches) arrow(ctx, at, b);
    else dot(ctx, a, at, b, part, fillOf(to.shard));
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
/** @type {(layout: Layout, row: Row | undefined, move: Move, top: number) => { x: number; y: number; } | null} */
function placeOf(layout, row, move, top) {
  if (!row) return null;
  const x = xOf(layout, row, state.view, (move.position + 0.5) / Math.max(row.band.total, 1));
  if (x < layout.x || x > layout.x + layout.w) return null;
  return { x, y: railHeight + row.lane.y + row.lane.h / 2 - top };
}

/** @type {(ctx: Context, at: Point, radius: number, fill: Fill) => void} */
function ring(ctx, { x, y }, radius, fill) {
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 7);
  ctx.lineWidth = 5;
  ctx.strokeStyle = colors.paper;
  ctx.stroke();
  ctx.lineWidth = 3;
  ctx.strokeStyle = fill;
  ctx.stroke();
}

/** @type {(ctx: Context, a: Point, b: Point, stroke: Fill) => void} */
function way(ctx, a, b, stroke) {
  ctx.beginPath();
  ctx.moveTo(a.x, a.y);
  ctx.lineTo(b.x, b.y);
  ctx.lineWidth = 4.5;
  ctx.strokeStyle = colors.paper;
  ctx.stroke();
  ctx.lineWidth = 2.5;
  ctx.strokeStyle = stroke;
  ctx.stroke();
}

// dot is on its way from a by the chunk to b; part is 0 to 1.
/** @type {(ctx: Context, a: Point, chunk: Point, b: Point, part: number, fill: Fill) => void} */
function dot(ctx, a, chunk, b, part, fill) {
  const [p, q] = part < 0.5 ? [a, chunk] : [chunk, b];
  const t = (part % 0.5) * 2;
  ctx.beginPath();
  ctx.arc(p.x + (q.x - p.x) * t, p.y + (q.y - p.y) * t, 4, 0, 7);
  ctx.fillStyle = fill;
  ctx.fill();
  ctx.lineWidth = 1.5;
  ctx.strokeStyle = colors.ink;
  ctx.stroke();
}

/** @type {(ctx: Context, a: Point, b: Point) => void} */
function arrow(ctx, a, b) {
  const turn = Math.atan2(b.y - a.y, b.x - a.x);
  ctx.save();
  ctx.translate(b.x, b.y);
  ctx.rotate(turn);
  ctx.beginPath();
  ctx.moveTo(0, 0);
  ctx.lineTo(-8, -4);
  ctx.lineTo(-8, 4);
  ctx.closePath();
  ctx.fillStyle = colors.ink;
  ctx.fill();
  ctx.restore();
}
