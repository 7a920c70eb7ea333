// What the heat map shows now, and its elements on the page. All modules of the map share it.
import { fill } from "./words.js";

export const root = /** @type {HTMLElement | null} */ (document.getElementById("heat-map"));

/**
 * part is one of the map's elements, by its data-heat attribute.
 * @returns {any}
 */
export const part = (name) => root.querySelector(`[data-heat="${name}"]`);

export const state = {
  /** @type {import("./heat_data.js").Heat | null} */ heat: null,
  /** @type {import("./heat_picture.js").Picture | null} */ picture: null,
  /** @type {import("./heat_view.js").View} */ view: { t0: 0, t1: 1, r0: 0, r1: 1 }, // the visible part
  /** @type {import("./heat_view.js").View} */ all: { t0: 0, t1: 1, r0: 0, r1: 1 }, // the whole picture
  cursor: /** @type {{column: number, row: number} | null} */ (null), // the cell chosen by keyboard or click
  brush: /** @type {{x0: number, y0: number, x1: number, y1: number} | null} */ (null), // being dragged to select
  selection: /** @type {{rows: string[], from: number, to: number} | null} */ (null), // keys of the rows, all of them
  hover: /** @type {{x: number, y: number} | null} */ (null), // the pointer on the cells
  mark: 0, // time of the mark with focus or the pointer; 0: none
  colors: { ink: "", paper: "", soft: "", accent: "", zero: [0, 0, 0], dark: false, gap: /** @type {CanvasPattern | string} */ ("") },
};

const words = root ? part("words").dataset : {};

/** say fills in a sentence that the page has for the map. */
export const say = (name, args = {}) => fill(words[name], args);

/** number writes a rate with about three digits. */
export const number = (n) => (n >= 100 ? String(Math.round(n)) : n >= 10 ? n.toFixed(1) : n >= 0.1 ? n.toFixed(2) : n.toFixed(3));
