// Where the rows of the cluster map are: one for each collection, taller for the one that is zoomed into.
// Pure: from a width and a view to numbers in CSS pixels.
import { isZoomed } from "./map_view.js";
import { clamp } from "./pictures.js";
/** @import { Band, Shard } from "./map_state.js" */
/** @import { View } from "./map_view.js" */

/**
 * @typedef {{x: number, y: number, w: number, h: number}} Box
 * @typedef {{from: number, to: number}} Span a part of a collection, as fractions of its chunks
 * @typedef {{y: number, h: number}} Strip
 * @typedef {{band: Band, y: number, h: number, lane: Strip, mini: Strip | null, focus: boolean}} Row
 * @typedef {{rows: Row[], height: number, x: number, w: number, narrow: boolean}} Layout x and w are where the lanes begin and how wide they are
 */

export const railHeight = 30; // of the shards above the rows
const gutter = 208; // of the names beside the rows
const nameHeight = 18; // of a name above its row, on narrow screens
const above = 7; // for zone borders
const below = 11; // for jumbo and the other marks
const labels = 15; // for zone names in the focused row
const miniHeight = 12;
const least = 24; // of a row: its name

// layout places the rows, from y = 0 below the rail. tallest is how high the rows should be together, if that is
// possible with readable ones.
/** @type {(bands: Band[], view: View, width: number, tallest: number) => Layout} */
export function layout(bands, view, width, tallest) {
  const narrow = width < 620;
  const x = narrow ? 0 : gutter;
  const head = above + (narrow ? nameHeight : 0);
  const thick = bands.filter((b) => b.total > 0).length;
  const fair = Math.floor((tallest - (bands.length - thick) * least) / Math.max(thick, 1)) - head - below;
  const lane = clamp(fair, 18, 34);
  /** @type {Row[]} */
  const rows = [];
  let y = 0;
  for (const band of bands) {
    const focus = band.ns === view.ns && band.total > 0 && isZoomed(view);
    const top = y + head + (focus ? labels : 0);
    const high = focus ? 72 : band.total > 0 ? lane : 4;
    const mini = focus ? { y: top + high + below + 2, h: miniHeight } : null;
    const bottom = mini ? mini.y + mini.h + 8 : Math.max(top + high + below, y + least);
    rows.push({ band, y, h: bottom - y, lane: { y: top, h: high }, mini, focus });
    y = bottom;
  }
  return { rows, height: y, x, w: Math.max(width - x, 40), narrow };
}

/** partOf is the part of a collection that a row's lane shows. @type {(row: Row, view: View) => Span} */
export const partOf = (row, view) => (row.focus ? { from: view.from, to: view.to } : { from: 0, to: 1 });

// placeAt is where in its collection a point of a row's lane is, as a fraction.
/** @type {(lane: Pick<Layout, "x" | "w">, row: Row, view: View, px: number) => number} */
export function placeAt({ x, w }, row, view, px) {
  const { from, to } = partOf(row, view);
  return clamp(from + ((px - x) / w) * (to - from), 0, 1);
}

// xOf is where a fraction of a collection is in its row.
/** @type {(lane: Pick<Layout, "x" | "w">, row: Row, view: View, fraction: number) => number} */
export function xOf({ x, w }, row, view, fraction) {
  const { from, to } = partOf(row, view);
  return x + ((fraction - from) / (to - from)) * w;
}

// shardBoxes are where the shards of the rail are: equal boxes over the width of the rows.
/** @type {(lane: Pick<Layout, "x" | "w">, shards: Shard[]) => {shard: Shard, x: number, w: number}[]} */
export function shardBoxes({ x, w }, shards) {
  const each = Math.min(w / Math.max(shards.length, 1), 64);
  return shards.map((shard, i) => ({ shard, x: x + i * each, w: each }));
}
