// Colours of the cluster map, from the style sheet, which knows the theme. A shard's colour is the same as
// everywhere; shards beyond the palette have a pattern over it.

const palette = 12;

/** @type {Record<string, any>} */
export let colors = { ink: "", soft: "", line: "", paper: "", track: "", accent: "", strong: "", hatch: "", shards: [], texts: [] };
/** epoch counts how often the colours were read, so that what was painted before is known to be old. */
export let epoch = 0;
const patterns = new Map();

/** readColors reads them again, at the start and after a change of theme. */
export function readColors() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(`--${name}`).trim();
  const named = Object.fromEntries(["ink", "soft", "line", "paper", "track", "accent", "strong"].map((n) => [n, get(n)]));
  const each = (letter) => Array.from({ length: palette + 1 }, (_, i) => get(letter + i));
  patterns.clear();
  colors = { ...named, shards: each("s"), texts: each("t"), hatch: tiled(6, get("track"), get("strong"), diagonal) };
  epoch++;
}

/** fillOf is the colour of a shard, or its colour with its pattern. An unknown shard is grey. */
export function fillOf(shard) {
  const color = shard?.color ?? 0;
  const pattern = shard?.pattern ?? 0;
  if (pattern === 0) return colors.shards[color];
  const key = `${color} ${pattern}`;
  if (!patterns.has(key)) patterns.set(key, tiled(8, colors.shards[color], colors.texts[color], marks[(pattern - 1) % marks.length]));
  return patterns.get(key);
}

/** textOf is the colour of text on a shard's colour. */
export const textOf = (shard) => colors.texts[shard?.color ?? 0];

function tiled(size, ground, ink, paint) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const ctx = tile.getContext("2d");
  ctx.fillStyle = ground;
  ctx.fillRect(0, 0, size, size);
  ctx.fillStyle = ctx.strokeStyle = ink;
  ctx.lineWidth = 1.4;
  paint(ctx, size);
  return ctx.createPattern(tile, "repeat");
}

function strokes(ctx, ...lines) {
  ctx.beginPath();
  for (const [x0, y0, x1, y1] of lines) {
    ctx.moveTo(x0, y0);
    ctx.lineTo(x1, y1);
  }
  ctx.stroke();
}

function diagonal(ctx, s) {
  strokes(ctx, [-1, s + 1, s + 1, -1], [-1, 1, 1, -1], [s - 1, s + 1, s + 1, s - 1]);
}

function otherDiagonal(ctx, s) {
  strokes(ctx, [-1, -1, s + 1, s + 1], [s - 1, -1, s + 1, 1], [-1, s - 1, 1, s + 1]);
}

// In the order in which people tell them apart best; eight of them are enough for 108 shards.
const marks = [
  diagonal,
  (ctx) => [[2, 2], [6, 6]].forEach(([x, y]) => ctx.fillRect(x - 1, y - 1, 2, 2)),
  otherDiagonal,
  (ctx, s) => strokes(ctx, [0, s / 2, s, s / 2]),
  (ctx, s) => strokes(ctx, [s / 2, 0, s / 2, s]),
  (ctx, s) => (diagonal(ctx, s), otherDiagonal(ctx, s)),
  (ctx, s) => strokes(ctx, [0, s / 2, s, s / 2], [s / 2, 0, s / 2, s]),
  (ctx, s) => ctx.fillRect(s / 4, s / 4, s / 2, s / 2),
];
