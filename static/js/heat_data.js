// Prepares the heat map from the API for drawing: levels instead of letters, and columns in layers
// of equal length.
/** @import { HeatMap, HeatMark, HeatRow } from "./api.js" */
import { lastAt } from "./pictures.js";

export const UNKNOWN = 255;
export const ZERO = 0;

/**
 * @typedef {{from: number, to: number, how?: string, sampled?: boolean, atLeast?: boolean}} Column
 * @typedef {Omit<HeatRow, "was"> & {was?: {until: number, shard: string}[]}} Row
 * @typedef {{step: number, from: number, columns: number[]}} Layer columns[i] is the column at from + i·step, -1 for a gap
 * @typedef {{columns: Column[], begins: number[], rows: Row[], levels: Uint8Array, layers: Layer[], from: number, to: number,
 *   ownersSince: number, marks: HeatMark[], rate: (level: number) => number}} Heat begins are those of its columns
 */

// read makes a Heat of an answer; levels[row · columns + column] is 0 for none, 255 for not known, else 1 and up.
/** @type {(answer: HeatMap) => Heat} */
export function read(answer) {
  const { letters, least, step, zero } = answer.scale;
  const level = new Uint8Array(128).fill(UNKNOWN);
  level[zero.charCodeAt(0)] = ZERO;
  for (let i = 0; i < letters.length; i++) level[letters.charCodeAt(i)] = i + 1;
  const columns = answer.columns.map((c) => ({ ...c, from: Date.parse(c.from), to: Date.parse(c.from) + c.seconds * 1000 }));
  const width = columns.length;
  const levels = new Uint8Array(answer.rows.length * width);
  answer.cells.forEach((line, row) => {
    for (let i = 0; i < width; i++) levels[row * width + i] = level[line.charCodeAt(i)];
  });
  return {
    columns,
    begins: columns.map((c) => c.from),
    rows: answer.rows.map((r) => ({ ...r, was: r.was?.map((w) => ({ until: Date.parse(w.until), shard: w.shard })) })),
    levels,
    layers: layersOf(columns),
    rate: (l) => (l === ZERO ? 0 : least * step ** (l - 1)),
    // What is recorded, which can be less than what was asked for.
    from: width ? columns[0].from : Date.parse(answer.from),
    to: width ? columns[width - 1].to : Date.parse(answer.to),
    marks: answer.marks,
    ownersSince: answer.ownersSince ? Date.parse(answer.ownersSince) : Infinity,
  };
}

// layersOf groups consecutive columns of one length into layers. A gap within a layer has no
// column; a very long gap ends the layer, so that pictures stay small.
/** @param {Column[]} columns */
function layersOf(columns) {
  /** @type {Layer[]} */
  const layers = [];
  columns.forEach((c, i) => {
    const step = c.to - c.from;
    const layer = layers.at(-1);
    const at = layer ? Math.round((c.from - layer.from) / step) : 0;
    if (!layer || layer.step !== step || at - layer.columns.length > 500) {
      layers.push({ step, from: c.from, columns: [i] });
      return;
    }
    while (layer.columns.length < at) layer.columns.push(-1);
    layer.columns.push(i);
  });
  return layers;
}

/** columnAt is the column that holds a time; -1 in a gap. @type {(heat: Heat, time: number) => number} */
export function columnAt(heat, time) {
  const i = lastAt(heat.begins, time);
  const c = heat.columns[i];
  return c && time >= c.from && time < c.to ? i : -1;
}

// ownerAt is the shard that owned a row at a time; "" if that is not known.
/** @type {(heat: Heat, row: number, time: number) => string} */
export function ownerAt(heat, row, time) {
  const r = heat.rows[row];
  if (!r?.shard) return "";
  if (time >= heat.to - 1) return r.shard;
  if (r.mixed || time < heat.ownersSince) return "";
  let owner = r.shard;
  for (const w of r.was ?? []) if (time < w.until) owner = w.shard;
  return owner;
}
