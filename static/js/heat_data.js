// Prepares the heat map from the API for drawing: levels instead of letters, and columns in layers
// of equal length.

export const UNKNOWN = 255;
export const ZERO = 0;

/**
 * @typedef {{from: number, to: number, covered: number, sampled?: boolean, atLeast?: boolean, hottest?: boolean, shared?: boolean}} Column
 * @typedef {{key: string, min?: any, number?: number, chunks?: number, hashed?: boolean, shard?: string, mixed?: boolean, was?: {until: number, shard: string}[], project?: string, name?: string}} Row
 * @typedef {{step: number, from: number, columns: number[]}} Layer columns[i] is the column at from + i·step, -1 for a gap
 * @typedef {{columns: Column[], rows: Row[], levels: Uint8Array, layers: Layer[], rate: (level: number) => number, from: number, to: number, ownersSince: number}} Heat
 */

/** read makes a Heat of an answer; levels[row · columns + column] is 0 for none, 255 for not known, else 1 and up. */
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
  const rows = answer.rows.map((r) => ({ ...r, was: r.was?.map((w) => ({ until: Date.parse(w.until), shard: w.shard })) }));
  return {
    columns,
    rows,
    levels,
    layers: layersOf(columns),
    rate: (l) => (l === ZERO ? 0 : least * step ** (l - 1)),
    // What is recorded, which can be less than what was asked for.
    from: width ? columns[0].from : Date.parse(answer.from),
    to: width ? columns[width - 1].to : Date.parse(answer.to),
    ownersSince: answer.ownersSince ? Date.parse(answer.ownersSince) : Infinity,
  };
}

// layersOf groups consecutive columns of one length into layers. A gap within a layer has no
// column; a very long gap ends the layer, so that pictures stay small.
function layersOf(columns) {
  const layers = [];
  let layer = null;
  columns.forEach((c, i) => {
    const step = c.to - c.from;
    const at = layer ? Math.round((c.from - layer.from) / step) : 0;
    if (!layer || layer.step !== step || at - layer.columns.length > 500) {
      layer = { step, from: c.from, columns: [i] };
      layers.push(layer);
      return;
    }
    while (layer.columns.length < at) layer.columns.push(-1);
    layer.columns.push(i);
  });
  return layers;
}

/** columnAt is the column that holds a time; -1 in a gap. */
export function columnAt(heat, time) {
  let lo = 0;
  let hi = heat.columns.length - 1;
  while (lo <= hi) {
    const mid = (lo + hi) >> 1;
    const c = heat.columns[mid];
    if (time < c.from) hi = mid - 1;
    else if (time >= c.to) lo = mid + 1;
    else return mid;
  }
  return -1;
}

/**
 * ownerAt is the shard that owned a row at a time; "" if that is not known.
 * @param {Heat} heat
 * @param {number} row
 * @param {number} time
 */
export function ownerAt(heat, row, time) {
  const r = heat.rows[row];
  if (!r?.shard) return "";
  if (time >= heat.to - 1) return r.shard;
  if (r.mixed || time < heat.ownersSince) return "";
  let owner = r.shard;
  for (const w of r.was ?? []) if (time < w.until) owner = w.shard;
  return owner;
}

/** isHidden tells that a bound may not be seen. */
export const isHidden = (bound) => bound?.value === null && typeof bound.reason === "string";

/** keyText is a bound for people: its values without their types' wrapping, or why it is hidden. */
export function keyText(bound) {
  if (!bound) return "";
  if (isHidden(bound)) return bound.reason;
  return Object.values(bound).map(plain).join(", ");
}

function plain(v) {
  if (v === null || typeof v !== "object") return String(v);
  const [name] = Object.keys(v);
  if (name === "$minKey") return "MinKey";
  if (name === "$maxKey") return "MaxKey";
  if (name?.startsWith("$") && typeof v[name] !== "object") return String(v[name]);
  return JSON.stringify(v);
}
