// What the cluster map shows now, and its elements on the page. All modules of the map share it.
import { fill } from "./words.js";

/**
 * @typedef {{name: string, label: string, color: number, pattern: number}} Shard
 * @typedef {{value: number | null, exact?: boolean, reason?: string}} Figure
 * @typedef {{ns: string, total: number, bytes: Figure, version: string, sharded: boolean, unsharded?: string, zoned: boolean, jumbo: number}} Band total is 0 if it is not sharded
 * @typedef {{ns: string, position: number, chunks: number, from: string, to: string, since: string, arrived: boolean}} Move
 * @typedef {{low: number | null, high: number | null, window?: string}} Range of single chunks, null if nothing is known
 * @typedef {{shards: Shard[], bands: Band[], moving: Move[], scale: {bytes: Range, heat: Range, age: Range}, asOf: string, since?: string | null, more?: number}} Cluster
 * @typedef {{ns: string, position: number}} Cursor position is a chunk's place in its collection
 */

export const root = /** @type {HTMLElement | null} */ (document.querySelector('[data-map="root"]'));

/**
 * part is one of the map's elements, by its data-map attribute.
 * @returns {any}
 */
export const part = (name) => root.querySelector(`[data-map="${name}"]`);

export const state = {
  /** @type {Cluster | null} */ map: null,
  /** @type {Map<string, Shard>} */ shards: new Map(),
  /** @type {Map<string, Band>} */ bands: new Map(),
  /** @type {import("./map_view.js").View} */ view: { by: "shard", only: "", ns: "", from: 0, to: 1, at: 0 },
  /** @type {Cursor | null} */ cursor: null, // the mark chosen by keyboard or click
  /** @type {Cursor | null} */ hover: null, // the mark under the pointer
  /** @type {{ns: string, from: number, to: number} | null} */ brush: null, // being dragged to zoom in
};

/** screen is what the last frame has worked out: the rows, and what of them is visible, in CSS pixels. */
export const screen = {
  /** @type {import("./map_layout.js").Layout | null} */ layout: null,
  width: 0,
  height: 0,
  top: 0, // how far the rows are scrolled
  ratio: 1, // device pixels to a CSS pixel
};

const words = root ? part("words").dataset : {};

/** say fills in a sentence that the page has for the map. */
export const say = (name, args = {}) => fill(words[name], args);

/** take replaces the list of shards, collections and moves. */
export function take(map) {
  const all = map.bands.length + (map.more ?? 0);
  const rows = Number(part("body").dataset.rows);
  map.bands = map.bands.filter((b, i) => i < rows || b.ns === state.view.ns);
  if (part("whole") && all > map.bands.length) part("whole").textContent = say("whole", { n: all });
  state.map = map;
  state.shards = new Map(map.shards.map((s) => [s.name, s]));
  state.bands = new Map(map.bands.map((b) => [b.ns, b]));
}
