// What the cluster map shows now, and its elements on the page. All modules of the map share it.
import { fill } from "./words.js";
/** @import { ClusterMap, MapBand, MapShard } from "./api.js" */
/** @import { Layout } from "./map_layout.js" */
/** @import { View } from "./map_view.js" */
/** @import { Args } from "./words.js" */

/**
 * @typedef {ClusterMap} Cluster
 * @typedef {MapShard} Shard
 * @typedef {MapBand} Band its total is 0 if it is not sharded
 * @typedef {{ns: string, position: number}} Cursor position is a chunk's place in its collection
 */

export const root = /** @type {HTMLElement | null} */ (document.querySelector('[data-map="root"]'));

/**
 * The map's elements by their data-map attribute: web/clustermap.
 * @typedef {{
 *   canvas: HTMLCanvasElement, time: HTMLInputElement, by: HTMLFieldSetElement, whole: HTMLElement | null,
 *   more: HTMLDetailsElement, only: HTMLSelectElement, span: HTMLSelectElement, speed: HTMLSelectElement,
 * } & Record<"all" | "begin" | "body" | "in" | "now" | "out" | "play" | "readout" | "replay" | "space" | "when" | "words", HTMLElement>
 *   & Record<"scale" | "scale-high" | "scale-low" | "scale-what", HTMLElement>} Parts
 */

/**
 * part is one of the map's elements, by its data-map attribute.
 * @template {keyof Parts} N
 * @param {N} name
 */
export const part = (name) => /** @type {Parts[N]} */ (root?.querySelector(`[data-map="${name}"]`));

const unknown = { low: null, high: null };

/** @type {Cluster} */
const unread = {
  shards: [], bands: [], more: 0, hidden: 0, moving: [], movingMore: null, since: null, asOf: "", stale: false,
  scale: { bytes: unknown, heat: { ...unknown, window: "" }, age: unknown },
};

export const state = {
  map: unread,
  /** @type {Map<string, Shard>} */ shards: new Map(),
  /** @type {Map<string, Band>} */ bands: new Map(),
  /** @type {View} */ view: { by: "shard", only: "", ns: "", from: 0, to: 1, at: 0 },
  /** @type {Cursor | null} */ cursor: null, // the mark chosen by keyboard or click
  /** @type {Cursor | null} */ hover: null, // the mark under the pointer
  /** @type {{ns: string, from: number, to: number} | null} */ brush: null, // being dragged to zoom in
};

/** isRead tells whether the map has been read yet. */
export const isRead = () => state.map !== unread;

/** screen is what the last frame has worked out: the rows, and what of them is visible, in CSS pixels. */
export const screen = {
  /** @type {Layout} */ layout: { rows: [], height: 0, x: 0, w: 0, narrow: false },
  width: 0,
  height: 0,
  top: 0, // how far the rows are scrolled
  ratio: 1, // device pixels to a CSS pixel
};

const words = root ? part("words").dataset : {};

/** say fills in a sentence that the page has for the map. @type {(name: string, args?: Args) => string} */
export const say = (name, args = {}) => fill(words[name], args);

// timed are the parameters of a reading: a past time, 0 for now, and the time that writes are of.
/** @type {(at: number, more?: Record<string, string>) => URLSearchParams} */
export function timed(at, more = {}) {
  const q = new URLSearchParams(more);
  if (at) q.set("at", String(at));
  if (root?.dataset.window) q.set("window", root.dataset.window);
  return q;
}

/** take replaces the list of shards, collections and moves. @param {Cluster} map */
export function take(map) {
  const all = map.bands.length + (map.more ?? 0);
  const rows = Number(part("body").dataset.rows);
  map.bands = map.bands.filter((b, i) => i < rows || b.ns === state.view.ns);
  const whole = part("whole");
  if (whole && all > map.bands.length) whole.textContent = say("whole", { n: all });
  state.map = map;
  state.shards = new Map(map.shards.map((s) => [s.name, s]));
  state.bands = new Map(map.bands.map((b) => [b.ns, b]));
}
