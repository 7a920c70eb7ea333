// The cluster map in words: the names of its rows, and what a mark is, for its live text.
import { partOf } from "./map_layout.js";
import { say, state } from "./map_state.js";
import { JUMBO, MOVING, OUTSIDE } from "./map_tiles.js";
import { bytes, count, joined, rate } from "./numbers.js";
import { span } from "./relative_times.js";
/** @import { MapChunk, MapZone } from "./api.js" */
/** @import { Mark } from "./map_lane.js" */
/** @import { Row } from "./map_layout.js" */
/** @import { Tile } from "./map_tiles.js" */

// rowText is a row's name and the lines below it: how many chunks, how large, which part is visible.
/** @type {(row: Row) => string[]} */
export function rowText(row) {
  const { ns, total, unsharded, sharded } = row.band;
  const size = row.band.bytes.value === null ? "" : bytes(row.band.bytes.value);
  if (unsharded || !sharded) return [ns, joined(say("unsharded"), size)];
  const all = joined(total === 1 ? say("chunk1") : say("chunks", { n: count(total) }), size);
  if (!row.focus) return [ns, all];
  return [ns, rangeText(row), all];
}

/** rangeText says which chunks of a row are visible; people count from 1. @param {Row} row */
function rangeText(row) {
  const { from, to } = partOf(row, state.view);
  const { total } = row.band;
  const first = Math.floor(from * total + 1e-6);
  const last = Math.max(Math.ceil(to * total - 1e-6), first + 1);
  return last - first === 1 ? say("one", { n: count(last) }) : say("range", { from: count(first + 1), to: count(last) });
}

/** bandText is a collection in words. @param {Row} row */
export function bandText(row) {
  const [ns, ...more] = rowText(row);
  const { unsharded, jumbo } = row.band;
  return joined(ns, ...more.reverse(), unsharded, jumbo ? say("jumbos", { n: count(jumbo) }) : "");
}

// markText is a mark in words: collection, shard, chunks, size, heat, age, what is unusual.
/** @type {(row: Row, mark: Mark) => string} */
export function markText(row, { tile: t, i }) {
  const shard = t.shards[t.shard[i]];
  const n = t.chunks[i];
  const mixed = t.share[i] < 100;
  const place = n === 1 ? say("one", { n: count(t.at[i] + 1) }) : say("range", { from: count(t.at[i] + 1), to: count(t.at[i] + n) });
  return joined(
    row.band.ns,
    mixed ? say("mostly", { shard, share: t.share[i] }) : shard,
    `${place} ${say("of", { n: count(t.total) })}`,
    sizeText(t.bytes[i], n),
    heatText(t.heat[i], t.peak[i], n),
    ageText(t.age[i]),
    ...flagTexts(row, t, i),
    ...zonesAt(t, i).map((z) => (z.pin ? say("pin", { name: z.pin }) : say("zone", { name: z.name }))),
  );
}

/** @type {(size: number | null, n: number) => string} */
const sizeText = (size, n) => (size == null ? say("nosize") : n === 1 ? bytes(size) : say("each", { size: bytes(size) }));

/** @type {(mean: number | null, peak: number | null, n: number) => string} */
function heatText(mean, peak, n) {
  if (mean == null) return say("noheat");
  if (n > 1 && peak != null) return say("heats", { n: rate(mean), peak: rate(peak) });
  return mean === 0 ? say("nowrites") : say("heat", { n: rate(mean) });
}

/** @param {number | null} age */
const ageText = (age) => (age == null ? say("noage") : say("age", { span: span(age * 1000) }));

/** @type {(row: Row, t: Tile, i: number) => (string | 0)[]} */
function flagTexts(row, t, i) {
  const flags = t.flags[i];
  const move = flags & MOVING && state.map.moving.find((m) => m.ns === row.band.ns && m.position >= t.at[i] && m.position < t.at[i] + t.chunks[i]);
  return [
    flags & JUMBO && say("jumbo"),
    flags & OUTSIDE && say("outside"),
    move ? say("moving", { from: move.from, to: move.to }) : flags & MOVING && say("moves"),
  ];
}

// zonesAt are the zones that a mark is in, at most two: more of them are in the tile that zooms in.
/** @type {(t: Tile, i: number) => MapZone[]} */
const zonesAt = (t, i) => t.zones.filter((z) => z.from < t.at[i] + t.chunks[i] && z.to > t.at[i]).slice(0, 2);

/** chunkText adds what only the server knows of a single chunk: its bounds and its project. @param {MapChunk} c */
export const chunkText = (c) => joined(c.name && say("project", { name: c.name }), c.minText && say("bounds", { min: c.minText, max: c.maxText }));
