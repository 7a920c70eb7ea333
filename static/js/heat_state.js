// What the heat map shows now, and its elements on the page. All modules of the map share it.
import { Picture } from "./heat_picture.js";
import { fill } from "./words.js";
/** @import { Heat } from "./heat_data.js" */
/** @import { View } from "./heat_view.js" */
/** @import { Args } from "./words.js" */

export const root = /** @type {HTMLElement | null} */ (document.getElementById("heat-map"));

/** isOfProjects tells whether rows are projects; else they are chunks. */
export const isOfProjects = () => root?.dataset.by === "project";

/**
 * The map's elements by their data-heat attribute: web/heat.
 * @typedef {{
 *   canvas: HTMLCanvasElement, scale: HTMLCanvasElement, shard: HTMLSelectElement, legend: HTMLElement | null,
 * } & Record<"brightness" | "normalise" | "pan", HTMLInputElement>
 *   & Record<"in" | "least" | "most" | "out" | "readout" | "reset" | "words", HTMLElement>} Parts
 */

/**
 * part is one of the map's elements, by its data-heat attribute.
 * @template {keyof Parts} N
 * @param {N} name
 */
export const part = (name) => /** @type {Parts[N]} */ (root?.querySelector(`[data-heat="${name}"]`));

/** @type {Heat} */
const unread = { columns: [], begins: [], rows: [], levels: new Uint8Array(), layers: [], rate: () => 0, from: 0, to: 1, ownersSince: Infinity, marks: [] };

/**
 * @typedef {{column: number, row: number}} Cell
 * @typedef {{x0: number, y0: number, x1: number, y1: number}} Brush
 * @typedef {{rows: string[], from: number, to: number}} Selection keys of the rows, all of them
 * @typedef {{x: number, y: number}} Point
 */

export const state = {
  heat: unread,
  picture: new Picture(unread),
  /** @type {View} */ view: { t0: 0, t1: 1, r0: 0, r1: 1 }, // the visible part
  /** @type {View} */ all: { t0: 0, t1: 1, r0: 0, r1: 1 }, // the whole picture
  cursor: /** @type {Cell | null} */ (null), // the cell chosen by keyboard or click
  anchor: /** @type {Cell | null} */ (null), // the cell where a selection by keys began
  brush: /** @type {Brush | null} */ (null), // being dragged to select
  selection: /** @type {Selection | null} */ (null),
  hover: /** @type {Point | null} */ (null), // the pointer on the cells
  mark: 0, // time of the mark with focus or the pointer; 0: none
};

/** isRead tells whether the map's data has been read yet. */
export const isRead = () => state.heat !== unread;

const words = root ? part("words").dataset : {};

/** say fills in a sentence that the page has for the map. @type {(name: string, args?: Args) => string} */
export const say = (name, args = {}) => fill(words[name], args);
