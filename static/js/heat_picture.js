// Draws a heat map. Cells become pixels of small offscreen canvases, once per change of data, shard
// or brightness, in idle time or when first seen. A frame only scales those, so its cost does not
// depend on the number of cells. Scaled-down pictures use the maximum of their cells, so a hot
// chunk never disappears between two pixels.
import { make } from "./elements.js";
import { UNKNOWN, ZERO } from "./heat_data.js";
import { clamp, contextOf } from "./pictures.js";
/** @import { Area } from "./heat_axes.js" */
/** @import { Heat, Layer } from "./heat_data.js" */
/** @import { View } from "./heat_view.js" */

const down = [1, 2, 4, 8, 16]; // by how much pictures are made smaller, in rows
const across = [1, 4, 16]; // and in columns

/**
 * @typedef {{shard: string, brightness: number, normalise: boolean, dark: boolean, zero: number[]}} Options
 * zero is the colour of cells without writes
 * @typedef {[least: number, most: number]} Span of levels
 * @typedef {{levels: Uint8Array, wide: number, image: HTMLCanvasElement | null}} Size of so many columns; no image until it is painted
 * @typedef {{from: number, step: number, columns: number, levels: Uint8Array, sizes: Map<string, Size>}} DrawnLayer
 */

/** Picture is a drawn Heat. */
export class Picture {
  /** @param {Heat} heat */
  constructor(heat) {
    this.heat = heat;
    this.shown = heat.rows.map((_, i) => i);
    /** @type {DrawnLayer[]} */
    this.layers = [];
    this.made = ""; // what the levels are of
    this.normalise = false;
    /** @type {Map<string, Span>} */
    this.spans = new Map(); // by shard; "" of all
    /** @type {Map<string, Uint32Array>} */
    this.colors = new Map(); // the pixels of levels, by shard too
  }

  // render draws the cells: of one shard or all (""), brighter or darker, each
  // shard on its own scale or all on one.
  /** @param {Options} o */
  render(o) {
    const made = JSON.stringify([o.shard, o.normalise]);
    if (made !== this.made) {
      this.measure(o);
      this.layers = this.heat.layers.map((layer) => this.layer(layer));
    }
    this.made = made;
    this.normalise = o.normalise;
    this.colors = new Map([...this.spans].map(([shard, span]) => [shard, palette(span, o)]));
    for (const layer of this.layers) for (const size of layer.sizes.values()) size.image = null;
  }

  /** paintNext paints one size ahead of being seen; false when all are. */
  paintNext() {
    for (const layer of this.layers) {
      for (const y of this.heights()) {
        for (const x of widths(layer)) {
          if (layer.sizes.get(`${x},${y}`)?.image) continue;
          this.image(layer, x, y);
          return true;
        }
      }
    }
    return false;
  }

  // heights are how many rows one can stand for, at most so many. Rows on different scales have no maximum.
  heights(most = Infinity) {
    return upTo(down, this.normalise ? 1 : Math.min(this.shown.length, most));
  }

  // image is a layer's picture, smaller by so many columns and rows.
  /** @type {(layer: DrawnLayer, x: number, y: number) => HTMLCanvasElement} */
  image(layer, x, y) {
    const key = `${x},${y}`;
    const wide = Math.ceil(layer.columns / x);
    const size = layer.sizes.get(key) ?? { levels: shrunk(layer.levels, layer.columns, x, y), wide, image: null };
    layer.sizes.set(key, size);
    const owner = (/** @type {number} */ r) => (this.normalise ? (this.heat.rows[this.shown[r * y]]?.shard ?? "") : "");
    size.image ??= paint(size.levels, wide, Math.ceil(this.shown.length / y), (r) => this.colors.get(owner(r)) ?? noColors);
    return size.image;
  }

  /** measure finds the rows to show and the minimum and maximum of each scale. @param {Options} o */
  measure(o) {
    const { heat } = this;
    const width = heat.columns.length;
    this.shown = [];
    heat.rows.forEach((r, i) => (!o.shard || r.shard === o.shard) && this.shown.push(i));
    /** @type {Map<string, Span>} */
    const spans = new Map();
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
    }
    this.spans = spans;
  }

  // layer is one layer of which nothing is painted yet.
  /** @type {(layer: Layer) => DrawnLayer} */
  layer({ from, step, columns }) {
    const width = this.heat.columns.length;
    const n = columns.length;
    // Level + 1, so that unknown is 0 and the maximum of two levels is the one to show.
    const levels = new Uint8Array(this.shown.length * n);
    this.shown.forEach((row, r) => {
      for (let i = 0; i < n; i++) if (columns[i] >= 0) levels[r * n + i] = this.heat.levels[row * width + columns[i]] + 1;
    });
    return { from, step, columns: n, levels, sizes: new Map() };
  }

  // frame draws what a view shows into a box of a canvas.
  /** @type {(to: CanvasRenderingContext2D, view: View, box: Area) => void} */
  frame(to, view, box) {
    to.imageSmoothingEnabled = false;
    const perRow = (view.r1 - view.r0) / box.h; // rows a pixel stands for
    for (const layer of this.layers) {
      const end = layer.from + layer.step * layer.columns;
      const a = Math.max(view.t0, layer.from);
      const b = Math.min(view.t1, end);
      if (a >= b) continue;
      const perColumn = (view.t1 - view.t0) / box.w / layer.step;
      const sx = widths(layer, perColumn).at(-1) ?? 1;
      const sy = this.heights(perRow).at(-1) ?? 1;
      const left = box.x + ((a - view.t0) / (view.t1 - view.t0)) * box.w;
      const right = box.x + ((b - view.t0) / (view.t1 - view.t0)) * box.w;
      const from = { x: (a - layer.from) / layer.step / sx, w: Math.max((b - a) / layer.step / sx, 0.001) };
      const into = { x: left, w: Math.max(right - left, 1) };
      to.drawImage(this.image(layer, sx, sy), from.x, view.r0 / sy, from.w, (view.r1 - view.r0) / sy, into.x, box.y, into.w, box.h);
    }
  }
}

/** @type {(steps: number[], most: number) => number[]} */
const upTo = (steps, most) => steps.filter((n) => n <= Math.max(most, 1));

// widths are how many columns of a layer one can stand for, at most so many.
/** @type {(layer: DrawnLayer, most?: number) => number[]} */
const widths = ({ columns }, most = Infinity) => upTo(across, Math.min(columns, most));

// shrunk has the maximum of each piece of x columns and y rows.
/** @type {(levels: Uint8Array, columns: number, x: number, y: number) => Uint8Array} */
function shrunk(levels, columns, x, y) {
  if (x === 1 && y === 1) return levels;
  const rows = levels.length / columns;
  const wide = Math.ceil(columns / x);
  const out = new Uint8Array(Math.ceil(rows / y) * wide);
  for (let r = 0; r < rows; r++) {
    const to = Math.floor(r / y) * wide;
    for (let i = 0; i < columns; i++) {
      const at = to + Math.floor(i / x);
      out[at] = Math.max(out[at], levels[r * columns + i]);
    }
  }
  return out;
}

const noColors = new Uint32Array(256); // transparent

/** @type {(levels: Uint8Array, wide: number, rows: number, colorsOf: (row: number) => Uint32Array) => HTMLCanvasElement} */
function paint(levels, wide, rows, colorsOf) {
  const image = make("canvas", { width: Math.max(wide, 1), height: Math.max(rows, 1) });
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

// palette is the pixel of each level + 1; unknown (0) stays transparent.
/** @type {(span: Span, options: Options) => Uint32Array} */
function palette([least, most], { brightness, dark, zero }) {
  const out = new Uint32Array(256);
  const pixel = (/** @type {number[]} */ c) => (255 << 24) | (c[2] << 16) | (c[1] << 8) | c[0];
  out[ZERO + 1] = pixel(zero);
  const power = 2 ** (-brightness / 5);
  for (let l = 1; l < UNKNOWN; l++) {
    const part = most > least ? (l - least) / (most - least) : 1;
    out[l + 1] = pixel(color(clamp(part, 0, 1) ** power, dark));
  }
  return out;
}
