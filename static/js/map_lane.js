// Paints the marks of one collection of the cluster map, and finds the tiles that it takes.
import { colors, fillOf } from "./shard_colors.js";
import { partOf } from "./map_layout.js";
import { scaleOf } from "./map_scale.js";
import { state } from "./map_state.js";
import { cached, markAt, tile } from "./map_tiles.js";
import { indexesOf, levelOf } from "./map_view.js";
/** @import { Fill } from "./shard_colors.js" */
/** @import { Box, Row, Span } from "./map_layout.js" */
/** @import { Tile } from "./map_tiles.js" */

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
/** @type {(ctx: CanvasRenderingContext2D, row: Row, tiles: Tile[], part: Span, box: Box, ratio: number) => void} */
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
/** @type {(ctx: CanvasRenderingContext2D, level: number | null, box: Box, fill: Fill, faint: boolean) => void} */
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

/** @type {(ctx: CanvasRenderingContext2D, row: Row, box: Box) => void} */
function paintUnsharded(ctx, row, box) {
  const shard = state.shards.get(row.band.unsharded ?? "");
  if (!shard) return; // not known, or its chunks are not read yet
  ctx.globalAlpha = state.view.only && shard.name !== state.view.only ? 0.2 : 1;
  ctx.fillStyle = fillOf(shard);
  ctx.fillRect(box.x, box.y, box.w, box.h);
  ctx.globalAlpha = 1;
}
