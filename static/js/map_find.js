// Finds what is at a point of the cluster map.
import { markOf } from "./map_lane.js";
import { placeAt, railHeight, rowAt, shardBoxes } from "./map_layout.js";
import { part, screen, state } from "./map_state.js";

/**
 * @typedef {import("./map_layout.js").Row} Row
 * @typedef {import("./map_state.js").Shard} Shard
 * @typedef {{clientX: number, clientY: number}} Client a pointer, in CSS pixels of the window
 * @typedef {{x: number, y: number, row?: Row, shard?: Shard, place: number, mini: boolean}} Found
 * x and y are in the canvas; place is where in the row's collection, 0 to 1; mini if it is on the minimap
 */

const strip = 4; // px around the minimap where a press still holds it

/**
 * find is what is at a point: a row and the place of its collection there, or a shard.
 * @type {(e: Client) => Found}
 */
export function find(e) {
  const canvas = part("canvas").getBoundingClientRect();
  const p = { x: e.clientX - canvas.left, y: e.clientY - canvas.top };
  if (p.y < railHeight) {
    const shard = shardBoxes(screen.layout, state.map.shards).find((b) => p.x >= b.x && p.x < b.x + b.w)?.shard;
    return { ...p, shard, place: 0, mini: false };
  }
  const y = p.y - railHeight + screen.top;
  const row = rowAt(screen.layout, y);
  const mini = Boolean(row?.mini && y > row.mini.y - strip);
  const place = !row ? 0 : mini ? (p.x - screen.layout.x) / screen.layout.w : placeAt(screen.layout, row, state.view, p.x);
  return { ...p, row, place: Math.min(Math.max(place, 0), 1), mini };
}

/** chunkAt is the chunk at a place of a row. @type {(row: Row, place: number) => number} */
export const chunkAt = (row, place) => Math.min(Math.floor(place * row.band.total), Math.max(row.band.total - 1, 0));

/**
 * cursorAt is the first chunk of the mark at a place of a row.
 * @type {(row: Row, place: number) => { ns: string; position: number; }}
 */
export function cursorAt(row, place) {
  const position = chunkAt(row, place);
  const mark = row.band.total ? markOf(row, position) : null;
  return { ns: row.band.ns, position: mark ? mark.tile.at[mark.i] : position };
}
