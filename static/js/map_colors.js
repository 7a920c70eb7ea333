// Colours of the cluster map, from the style sheet, which knows the theme. A shard's colour is the same as
// everywhere; shards beyond the palette have a pattern over it.

const palette = 12;
const hatching = { lines: "M-2 2l4-4M0 6l6-6M4 8l4-4", width: 1.4 };

/**
 * @typedef {string | CanvasPattern} Fill
 * @typedef {{lines: string, width: number, round?: boolean}} Pattern
 * @typedef {import("./map_state.js").Shard} Shard
 */

/** @typedef {"ink" | "soft" | "line" | "paper" | "track" | "accent" | "strong"} Name of a colour of the style sheet */

/** @type {Name[]} */
const names = ["ink", "soft", "line", "paper", "track", "accent", "strong"];

/** @type {Record<Name, string> & {hatch: Fill, shards: string[], texts: string[]}} */
export let colors = { ink: "", soft: "", line: "", paper: "", track: "", accent: "", strong: "", hatch: "", shards: [], texts: [] };

/** epoch counts how often the colours were read, so that what was painted before is known to be old. */
export let epoch = 0;

/** @type {Map<string, Fill>} */
const patterns = new Map(); // painted so far, by colour and number

/** readColors reads them again, at the start and after a change of theme. */
export function readColors() {
  const style = getComputedStyle(document.documentElement);
  const get = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
  const named = /** @type {Record<Name, string>} */ (Object.fromEntries(names.map((n) => [n, get(n)])));
  const each = (/** @type {string} */ letter) => Array.from({ length: palette + 1 }, (_, i) => get(letter + i));
  patterns.clear();
  colors = { ...named, shards: each("s"), texts: each("t"), hatch: tiled(6, "transparent", get("soft"), hatching, 0.7) };
  epoch++;
}

/**
 * fillOf is the colour of a shard, or its colour with its pattern. An unknown shard is grey.
 * @type {(shard: Shard | undefined) => Fill}
 */
export function fillOf(shard) {
  const color = shard?.color ?? 0;
  const pattern = shard?.pattern ?? 0;
  if (pattern === 0) return colors.shards[color];
  const key = `${color} ${pattern}`;
  const fill = patterns.get(key) ?? tiled(8, colors.shards[color], colors.texts[color], marks[(pattern - 1) % marks.length], 0.7);
  patterns.set(key, fill);
  return fill;
}

/** textOf is the colour of text on a shard's colour. @param {Shard | undefined} shard */
export const textOf = (shard) => colors.texts[shard?.color ?? 0];

/** @type {(size: number, ground: string, ink: string, pattern: Pattern, strength: number) => Fill} */
function tiled(size, ground, ink, { lines, width, round = false }, strength) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const ctx = /** @type {CanvasRenderingContext2D} */ (tile.getContext("2d"));
  ctx.fillStyle = ground;
  ctx.fillRect(0, 0, size, size);
  ctx.globalAlpha = strength;
  ctx.strokeStyle = ink;
  ctx.lineWidth = width;
  ctx.lineCap = round ? "round" : "butt";
  ctx.stroke(new Path2D(lines));
  return ctx.createPattern(tile, "repeat") ?? ground;
}

// As in templates/swatch.go, which draws them in SVG.
/** @type {Pattern[]} */
const marks = [
  { lines: "M-2 2l4-4M0 8l8-8M6 10l4-4", width: 2 },
  { lines: "M2 2h0M6 6h0", width: 3.4, round: true },
  { lines: "M-2 6l4 4M0 0l8 8M6-2l4 4", width: 2 },
  { lines: "M0 4h8", width: 3 },
  { lines: "M4 0v8", width: 3 },
  { lines: "M0 2h4M4 6h4", width: 4 },
  { lines: "M0 4h8M4 0v8", width: 1.6 },
  { lines: "M-2 2l4-4M0 8l8-8M6 10l4-4M0 0l8 8", width: 1.4 },
];
