// Colours of the heat map's cells.
import { UNKNOWN, ZERO } from "./heat_data.js";

/** @typedef {[least: number, most: number]} Span of levels */

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

/**
 * color is [red, green, blue] of a part from 0 (few) to 1 (many).
 * @type {(part: number, dark: boolean) => number[]}
 */
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
export function palette([least, most], { brightness, dark, zero }) {
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
