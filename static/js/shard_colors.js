// Colours of the cluster map and the heat picture, from the style sheet, which knows the theme. A shard's colour is the
// same as everywhere; shards beyond the palette have a pattern over it.
import { styleColor, tiled } from "./pictures.js";

const palette = 12;

/** @import { Box } from "./map_layout.js" */

/** @typedef {string | CanvasPattern} Fill */
/** @typedef {{label: string, color: number, pattern: number}} Shard */
/** @typedef {"ink" | "soft" | "line" | "paper" | "track" | "accent" | "strong"} Name of a colour of the style sheet */

/** @type {Record<Name, string> & {hatch: Fill, gap: Fill, shards: string[], texts: string[]}} */
export let colors = { ink: "", soft: "", line: "", paper: "", track: "", accent: "", strong: "", hatch: "", gap: "", shards: [], texts: [] };

/** epoch counts how often the colours were read, so that what was painted before is known to be old. */
export let epoch = 0;

/** @type {Map<string, Fill>} */
const patterns = new Map(); // painted so far, by colour and number

/** readColors reads them again, at the start and after a change of theme. */
export function readColors() {
  const [ink, soft, line, paper, track, accent, strong] = ["ink", "soft", "line", "paper", "track", "accent", "strong"].map(styleColor);
  const each = (/** @type {string} */ letter) => Array.from({ length: palette + 1 }, (_, i) => styleColor(letter + i));
  const hatch = tiled(6, soft, "M-2 2l4-4M0 6l6-6M4 8l4-4", { width: 1.4, strength: 0.7 });
  const gap = tiled(6, line, "M0 6L6 0");
  patterns.clear();
  colors = { ink, soft, line, paper, track, accent, strong, hatch, gap, shards: each("s"), texts: each("t") };
  epoch++;
}

// fillOf is the colour of a shard, or its colour with its pattern. An unknown shard is grey.
/** @type {(shard: Shard | undefined) => Fill} */
export function fillOf(shard) {
  const color = shard?.color ?? 0;
  const pattern = shard?.pattern ?? 0;
  if (pattern === 0) return colors.shards[color];
  const key = `${color} ${pattern}`;
  const { lines, ...look } = marks[(pattern - 1) % marks.length];
  const fill = patterns.get(key) ?? tiled(8, colors.texts[color], lines, { ground: colors.shards[color], strength: 0.7, ...look });
  patterns.set(key, fill);
  return fill;
}

// drawBadge fills a box with a shard's colour, and writes its label there if it is to have one.
/** @type {(ctx: CanvasRenderingContext2D, shard: Shard, fill: Fill, box: Box, labelled: boolean) => void} */
export function drawBadge(ctx, shard, fill, { x, y, w, h }, labelled) {
  ctx.fillStyle = fill;
  ctx.fillRect(x, y, w, h);
  if (!labelled) return;
  const half = shard.label.length * 4 + 2;
  ctx.fillStyle = colors.shards[shard.color];
  if (shard.pattern) ctx.fillRect(x + w / 2 - half, y + h / 2 - 7.5, half * 2, 15);
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillStyle = colors.texts[shard.color];
  ctx.fillText(shard.label, x + w / 2, y + h / 2);
}

// As in templates/swatch.go, which draws them in SVG.
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
