// How high a mark of the cluster map is filled: by the size of its chunks, their writes, the time since they
// moved, or the share of its chunks that are on its shard.
import { state } from "./map_state.js";

/**
 * @typedef {import("./map_tiles.js").Tile} Tile
 * @typedef {import("./api.js").MapSpan} Span the least and most of single chunks, null if nothing is known
 * @typedef {(t: Tile, i: number) => number | null} Scale from a tile and the index of a mark
 */

/** scaleOf returns a function from a tile and a mark to 0…1, or null if that is not known. @type {() => Scale} */
export function scaleOf() {
  const { by } = state.view;
  const range = state.map.scale;
  if (by === "size") return linear("bytes", range.bytes);
  if (by === "heat") return logarithmic("peak", range.heat);
  if (by === "age") {
    const level = logarithmic("age", range.age);
    return (t, i) => (t.age[i] == null ? null : Math.min(1.02 - (level(t, i) ?? 0), 1));
  }
  return (t, i) => t.share[i] / 100;
}

/** @type {(column: "bytes", range: Span) => Scale} */
const linear = (column, range) => (t, i) => {
  const v = t[column][i];
  return v == null || !range.high ? null : clamp(v / range.high);
};

/** @type {(column: "peak" | "age", range: Span) => Scale} */
function logarithmic(column, range) {
  if (!range.high) return () => null;
  const { low, high } = decades(range);
  return (t, i) => {
    const v = t[column][i];
    return v == null ? null : v <= 0 ? 0 : clamp(Math.log(v / low) / Math.log(high / low), 0.06);
  };
}

/** decades are the ends of a logarithmic scale: at most three powers of ten. @param {Span} span */
export function decades({ low, high }) {
  const top = Math.max(high ?? 0, 1e-3);
  return { low: Math.min(Math.max(low ?? 0, top / 1e3), top / 10), high: top };
}

/** @type {(n: number, least?: number) => number} */
const clamp = (n, least = 0) => Math.min(Math.max(n, least), 1);
