// Paints one collection of the cluster map, and finds the tiles that it takes: its marks; below them signs of jumbo
// chunks, chunks outside their zone and moving ones; above them zone borders, pins and names.
import { colors, fillOf } from "./shard_colors.js";
import { partOf } from "./map_layout.js";
import { scaleOf } from "./map_scale.js";
import { state } from "./map_state.js";
import { cached, JUMBO, markAt, MOVING, OUTSIDE, tile } from "./map_tiles.js";
import { indexesOf, levelOf } from "./map_view.js";
import { clamp } from "./pictures.js";
/** @import { MapZone } from "./api.js" */
/** @import { Fill } from "./shard_colors.js" */
/** @import { Box, Row, Span } from "./map_layout.js" */
/** @import { Tile } from "./map_tiles.js" */

/** @typedef {CanvasRenderingContext2D} Context */
/** @typedef {{tile: Tile, i: number, from: number, to: number}} Mark its tile, its index in it and its edges */

const coarse = 512; // marks of a tile that shows a whole collection
const fine = 1000; // and of one that is zoomed into
export const patterned = 14; // px that neighbours on one shard take at least to have its pattern: in fewer it is noise

/** @param {Row} row */
const marksFor = (row) => (row.focus && row.band.total > coarse ? fine : coarse);

// tilesOf are the tiles that show a row now: of the right level, or the best that has been read.
/** @type {(row: Row) => Tile[]} */
export function tilesOf(row) {
  if (row.band.total === 0) return [];
  const { from, to } = partOf(row, state.view);
  const marks = marksFor(row);
  const level = levelOf(from, to, row.band.total, marks);
  const found = indexesOf(from, to, level).map((i) => tile(row.band, level, i, marks) ?? above(row, level, i, marks));
  return found.filter((t) => t !== null);
}

/** wholeOf is the tile that shows all of a row's collection, or null. @type {(row: Row) => Tile | null} */
export const wholeOf = (row) => tile(row.band, 0, 0, coarse);

// above is a tile of a lower level that covers a tile.
/** @type {(row: Row, level: number, index: number, marks: number) => Tile | null} */
function above(row, level, index, marks) {
  for (let up = 1; up <= level; up++) {
    const have = cached(row.band.ns, level - up, index >> up, marks);
    if (have) return have;
  }
  return cached(row.band.ns, 0, 0, coarse);
}

// markOf is the mark of a row that holds a chunk, or null while not read.
/** @type {(row: Row, position: number) => Mark | null} */
export function markOf(row, position) {
  const tiles = tilesOf(row);
  const t = tiles.find((t) => position >= t.from && position < t.to) ?? tiles[tiles.length - 1];
  if (!t || t.at.length === 0) return null;
  const i = markAt(t, position);
  return { tile: t, i, from: t.at[i] / t.total, to: (t.at[i] + t.chunks[i]) / t.total };
}

// paintLane paints the marks of tiles into a lane; from and to are the part of the collection that it shows.
/** @type {(ctx: Context, row: Row, tiles: Tile[], part: Span, box: Box, ratio: number) => void} */
export function paintLane(ctx, row, tiles, { from, to }, box, ratio) {
  ctx.fillStyle = colors.track;
  ctx.fillRect(box.x, box.y, box.w, box.h);
  if (row.band.total === 0) return paintUnsharded(ctx, row, box);
  const scale = scaleOf();
  const snap = (/** @type {number} */ x) => Math.round(x * ratio) / ratio;
  for (const t of tiles) {
    const k = box.w / (to - from) / Math.max(t.total, 1);
    const shards = t.shards.map((name) => state.shards.get(name) ?? { name, label: "?", color: 0, pattern: 0 });
    const fills = shards.map(fillOf);
    const plain = shards.map((s) => fillOf({ ...s, pattern: 0 }));
    const faint = shards.map((s) => state.view.only !== "" && s.name !== state.view.only);
    const last = to * t.total;
    let run = 0; // where the neighbours on one shard end
    let wide = true; // enough for a pattern to be told from another
    for (let i = markAt(t, Math.floor(from * t.total)); i < t.at.length && t.at[i] < last; i++) {
      if (i >= run) {
        for (run = i + 1; run < t.at.length && t.shard[run] === t.shard[i]; ) run++;
        wide = ((run < t.at.length ? t.at[run] : t.to) - t.at[i]) * k >= patterned;
      }
      const x0 = Math.max(snap(box.x + (t.at[i] - from * t.total) * k), box.x);
      const x1 = Math.min(snap(box.x + (t.at[i] + t.chunks[i] - from * t.total) * k), box.x + box.w);
      const gap = t.chunks[i] === 1 && x1 - x0 >= 5 ? 1 : 0;
      const w = Math.max(x1 - x0 - gap, 1 / ratio);
      paintMark(ctx, scale(t, i), { x: x0, y: box.y, w, h: box.h }, (wide ? fills : plain)[t.shard[i]], faint[t.shard[i]]);
    }
  }
  ctx.globalAlpha = 1;
}

// paintMark fills a mark up to its level; the rest is pale. A level of null is unknown.
/** @type {(ctx: Context, level: number | null, box: Box, fill: Fill, faint: boolean) => void} */
function paintMark(ctx, level, { x, y, w, h }, fill, faint) {
  const strength = faint ? 0.2 : 1;
  ctx.fillStyle = fill;
  if (level === 1) {
    ctx.globalAlpha = strength;
    ctx.fillRect(x, y, w, h);
    return;
  }
  ctx.globalAlpha = 0.25 * strength;
  ctx.fillRect(x, y, w, h);
  ctx.globalAlpha = strength;
  if (level === null) {
    ctx.fillStyle = colors.hatch;
    ctx.fillRect(x, y, w, h);
  } else if (level > 0) {
    const high = Math.max(level * h, 1.5);
    ctx.fillRect(x, y + h - high, w, high);
  }
}

/** @type {(ctx: Context, row: Row, box: Box) => void} */
function paintUnsharded(ctx, row, box) {
  const shard = state.shards.get(row.band.unsharded ?? "");
  if (!shard) return; // not known, or its chunks are not read yet
  ctx.globalAlpha = state.view.only && shard.name !== state.view.only ? 0.2 : 1;
  ctx.fillStyle = fillOf(shard);
  ctx.fillRect(box.x, box.y, box.w, box.h);
  ctx.globalAlpha = 1;
}

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
