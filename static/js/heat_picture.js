// Draws a heat map. Cells become pixels of small offscreen canvases, once per change of data, shard
// or brightness, in idle time or when first seen. A frame only scales those, so its cost does not
// depend on the number of cells. Scaled-down pictures use the maximum of their cells, so a hot
// chunk never disappears between two pixels.
import { UNKNOWN, ZERO } from "./heat_data.js";
import { sizeFor, sizesOf } from "./heat_sizes.js";
import { contextOf } from "./pictures.js";
/** @import { Heat, Layer } from "./heat_data.js" */
/** @import { Size } from "./heat_sizes.js" */

/**
 * @typedef {{shard: string, brightness: number, normalise: boolean, dark: boolean, zero: number[]}} Options
 * @typedef {[least: number, most: number]} Span of levels
 * @typedef {{from: number, step: number, columns: number, normalise: boolean, colors: Map<string, Uint32Array>, sizes: Map<string, Size>}} DrawnLayer
 * colors are the pixels of levels by shard; sizes are by how much they are made smaller
 */

/** Picture is a drawn Heat. */
export class Picture {
  /** @param {Heat} heat */
  constructor(heat) {
    this.heat = heat;
    this.shown = heat.rows.map((_, i) => i);
    /** @type {DrawnLayer[]} */
    this.layers = [];
    this.most = 0;
    this.least = UNKNOWN;
    this.made = ""; // what the levels are of
    /** @type {Map<string, Span>} */
    this.spans = new Map(); // by shard; "" of all
  }

  /**
   * render draws the cells: of one shard or all (""), brighter or darker, each
   * shard on its own scale or all on one.
   * @param {Options} o
   */
  render(o) {
    const made = JSON.stringify([o.shard, o.normalise]);
    const fresh = made !== this.made;
    if (fresh) this.measure(o);
    this.made = made;
    /** @type {Map<string, Uint32Array>} */
    const colors = new Map();
    for (const [shard, span] of this.spans) colors.set(shard, palette(span, o));
    if (fresh) this.layers = this.heat.layers.map((layer) => this.layer(layer, o.normalise));
    for (const layer of this.layers) {
      layer.colors = colors;
      for (const size of layer.sizes.values()) size.image = null;
    }
  }

  /** paintNext paints one size ahead of being seen; false when all are. */
  paintNext() {
    for (const layer of this.layers) {
      for (const size of layer.sizes.values()) {
        if (!size.image) {
          size.image = this.painted(size, layer);
          return true;
        }
      }
    }
    return false;
  }

  /**
   * @param {Size} size
   * @param {DrawnLayer} layer
   */
  painted(size, layer) {
    const owner = (/** @type {number} */ r) => (layer.normalise ? (this.heat.rows[this.shown[Math.min(r * size.fy, this.shown.length - 1)]]?.shard ?? "") : "");
    return paint(size.levels, size.wide, size.rows, (r) => layer.colors.get(owner(r)) ?? noColors);
  }

  /** measure finds the rows to show and the minimum and maximum of each scale. @param {Options} o */
  measure(o) {
    const { heat } = this;
    const width = heat.columns.length;
    this.shown = [];
    heat.rows.forEach((r, i) => (!o.shard || r.shard === o.shard) && this.shown.push(i));
    /** @type {Map<string, Span>} */
    const spans = new Map();
    this.least = UNKNOWN;
    this.most = 0;
    for (const row of this.shown) {
      const shard = o.normalise ? (heat.rows[row].shard ?? "") : "";
      let span = spans.get(shard);
      if (!span) spans.set(shard, (span = [UNKNOWN, 0]));
      for (let i = row * width; i < (row + 1) * width; i++) {
        const l = heat.levels[i];
        if (l === ZERO || l === UNKNOWN) continue;
        if (l < span[0]) span[0] = l;
        if (l > span[1]) span[1] = l;
      }
      this.least = Math.min(this.least, span[0]);
      this.most = Math.max(this.most, span[1]);
    }
    this.spans = spans;
  }

  /**
   * layer is all sizes of one layer's picture, not yet painted.
   * @param {Layer} layer
   * @param {boolean} normalise
   * @returns {DrawnLayer}
   */
  layer(layer, normalise) {
    const { heat, shown } = this;
    const width = heat.columns.length;
    const n = layer.columns.length;
    // Level + 1, so that unknown is 0 and the maximum of two levels is the one to show.
    const levels = new Uint8Array(shown.length * n);
    const { columns } = layer;
    shown.forEach((row, r) => {
      for (let i = 0; i < n; i++) if (columns[i] >= 0) levels[r * n + i] = heat.levels[row * width + columns[i]] + 1;
    });
    const sizes = sizesOf(levels, shown.length, n, normalise);
    return { from: layer.from, step: layer.step, columns: n, normalise, colors: new Map(), sizes };
  }

  /**
   * frame draws what a view shows into a box of a canvas.
   * @param {CanvasRenderingContext2D} to
   * @param {{t0: number, t1: number, r0: number, r1: number}} view times in ms, rows counted in those shown
   * @param {{x: number, y: number, w: number, h: number}} box
   */
  frame(to, view, box) {
    to.imageSmoothingEnabled = false;
    const perRow = (view.r1 - view.r0) / box.h; // rows a pixel stands for
    for (const layer of this.layers) {
      const end = layer.from + layer.step * layer.columns;
      const a = Math.max(view.t0, layer.from);
      const b = Math.min(view.t1, end);
      if (a >= b) continue;
      const perColumn = (view.t1 - view.t0) / box.w / layer.step;
      const { size, x: sx, y: sy } = sizeFor(layer.sizes, perColumn, perRow);
      size.image ??= this.painted(size, layer);
      const left = box.x + ((a - view.t0) / (view.t1 - view.t0)) * box.w;
      const right = box.x + ((b - view.t0) / (view.t1 - view.t0)) * box.w;
      to.drawImage(
        size.image,
        (a - layer.from) / layer.step / sx,
        view.r0 / sy,
        Math.max((b - a) / layer.step / sx, 0.001),
        (view.r1 - view.r0) / sy,
        left,
        box.y,
        Math.max(right - left, 1),
        box.h,
      );
    }
  }
}

const noColors = new Uint32Array(256); // transparent

/**
 * @param {Uint8Array} levels
 * @param {number} wide
 * @param {number} rows
 * @param {(row: number) => Uint32Array} colorsOf
 */
function paint(levels, wide, rows, colorsOf) {
  const image = document.createElement("canvas");
  image.width = Math.max(wide, 1);
  image.height = Math.max(rows, 1);
  const to = contextOf(image);
  const data = to.createImageData(image.width, image.height);
  const pixels = new Uint32Array(data.data.buffer);
  for (let r = 0; r < rows; r++) {
    const colors = colorsOf(r);
    for (let i = r * wide; i < (r + 1) * wide; i++) pixels[i] = colors[levels[i]];
  }
  to.putImageData(data, 0, 0);
  return image;
}

// One colour ramp from dark to bright whose lightness only increases, for all kinds of colour
// vision. The light theme reverses it, so that more writes always have more contrast.
const ramp = [
  [46, 24, 98],
  [104, 34, 130],
  [166, 50, 124],
  [222, 84, 96],
  [248, 150, 92],
  [252, 208, 120],
  [252, 246, 190],
];

/** color is [red, green, blue] of a part from 0 (few) to 1 (many). @type {(part: number, dark: boolean) => number[]} */
export function color(part, dark) {
  const at = (dark ? part : 1 - part) * (ramp.length - 1);
  const i = Math.min(Math.floor(at), ramp.length - 2);
  return ramp[i].map((v, k) => Math.round(v + (ramp[i + 1][k] - v) * (at - i)));
}

/**
 * palette is the pixel of each level + 1; unknown (0) stays transparent.
 * @param {Span} span
 * @param {{brightness: number, dark: boolean, zero: number[]}} options zero is the colour of cells without writes
 */
function palette([least, most], { brightness, dark, zero }) {
  const out = new Uint32Array(256);
  const pixel = (/** @type {number[]} */ c) => (255 << 24) | (c[2] << 16) | (c[1] << 8) | c[0];
  out[ZERO + 1] = pixel(zero);
  const power = 2 ** (-brightness / 5);
  for (let l = 1; l < UNKNOWN; l++) {
    const part = most > least ? (l - least) / (most - least) : 1;
    out[l + 1] = pixel(color(Math.min(Math.max(part, 0), 1) ** power, dark));
  }
  return out;
}
