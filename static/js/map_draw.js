// Draws frames of the cluster map. A row is painted once for what it shows and kept as a picture, so that a
// frame costs a few copies, whatever the number of chunks.
import { colors, epoch } from "./shard_colors.js";
import { paintLane, paintSigns, paintZones, tilesOf, wholeOf } from "./map_lane.js";
import { layout, partOf, railHeight } from "./map_layout.js";
import { drawMoves } from "./map_moves.js";
import { drawOverlays, drawRail } from "./map_overlay.js";
import { isRead, part, screen, state } from "./map_state.js";
import { fetchWanted, forget } from "./map_tiles.js";
import { rowText } from "./map_text.js";
import { clamp, fitted, frames, pixelRatio } from "./pictures.js";
/** @import { Box, Row } from "./map_layout.js" */
/** @import { Tile } from "./map_tiles.js" */

const budget = 4; // ms of a frame for painting rows; what is left over is painted in the next one
const around = 130; // px of the window for what is always above and below the map

/**
 * @typedef {CanvasRenderingContext2D} Context
 * @typedef {{picture: HTMLCanvasElement, of: unknown[], ns: string}} Kept of is what it was made of
 * @typedef {{key: string, ns: string, y: number, width: number, height: number}} Piece of the canvas
 */

/** @type {Map<string, Kept>} */
const pictures = new Map(); // by row or minimap

/** draw requests a frame. */
export const draw = frames((now) => isRead() && frame(now));

// frame draws the map now and tells whether it is to be drawn again, because something moves.
/** @type {(now: number) => boolean} */
export function frame(now) {
  const ctx = place();
  const { width, height, top } = screen;
  ctx.clearRect(0, 0, width, height);
  forget();
  const began = performance.now();
  let again = false;
  const rows = screen.layout.rows.filter((r) => r.y + r.h > top && r.y < top + height - railHeight);
  for (const row of rows) {
    again = drawRow(ctx, row, began) || again;
  }
  for (const [key, { ns }] of pictures) {
    if (!rows.some((r) => r.band.ns === ns)) pictures.delete(key);
  }
  drawOverlays(ctx, rows);
  drawRail(ctx);
  again = drawMoves(ctx, screen.layout, rows, top, now) || again;
  fetchWanted();
  return again;
}

// place sizes the canvas and works out the rows. It has the height of the window at most, and stays in view
// while the page scrolls through the rows.
function place() {
  const space = part("space");
  const canvas = part("canvas");
  const width = space.clientWidth;
  const most = Math.max(innerHeight - around, 320);
  screen.layout = layout(state.map.bands, state.view, width, most - railHeight);
  const whole = screen.layout.height + railHeight;
  const height = Math.min(whole, most);
  canvas.style.height = `${height}px`;
  space.style.height = `${whole}px`;
  const scrolled = canvas.getBoundingClientRect().top - space.getBoundingClientRect().top;
  Object.assign(screen, { width, height, ratio: pixelRatio(), top: clamp(scrolled, 0, whole - height) });
  return fitted(canvas, width, height);
}

// drawRow copies a row's picture, after painting it if it is old. It returns whether that has to wait. The
// minimap has a picture of its own, which stays while the view moves.
/** @type {(ctx: Context, row: Row, began: number) => boolean} */
function drawRow(ctx, row, began) {
  const tiles = tilesOf(row);
  const { view, map } = state;
  const { layout: l, width, ratio } = screen;
  const look = [view.by, view.only, map.scale, map.shards, epoch, ratio, l.x, l.w];
  const range = row.focus ? [view.from, view.to] : [];
  const mayWait = !row.focus && performance.now() - began > budget;
  const y = Math.round(railHeight + row.y - screen.top);
  const { ns } = row.band;
  const whole = { key: ns, ns, y, width, height: row.h };
  const done = copy(ctx, whole, mayWait, [...tiles, ...look, row.lane.y - row.y, row.h, ...range], (to) => paint(to, row, tiles));
  if (!row.mini) return !done;
  const tile = wholeOf(row);
  const strip = { key: `${ns} mini`, ns, y: y + row.mini.y - row.y, width, height: row.mini.h };
  const box = { x: l.x, y: 0, w: l.w, h: row.mini.h };
  copy(ctx, strip, false, [tile, ...look], (to) => {
    if (tile) paintLane(to, row, [tile], { from: 0, to: 1 }, box, ratio);
  });
  return !done;
}

// copy draws a kept picture, and paints it before that if what it is of has changed. It returns false if that waits.
/** @type {(ctx: Context, piece: Piece, mayWait: boolean, of: unknown[], paintOn: (to: Context) => void) => boolean} */
function copy(ctx, { key, ns, y, width, height }, mayWait, of, paintOn) {
  if (width * screen.ratio < 1 || height * screen.ratio < 1) return true; // nothing is seen of it, as on paper
  let kept = pictures.get(key);
  const old = !kept || kept.of.length !== of.length || kept.of.some((v, i) => v !== of[i]);
  if (!kept || (old && !mayWait)) {
    const picture = kept?.picture ?? document.createElement("canvas");
    const to = fitted(picture, width, height);
    to.clearRect(0, 0, width, height);
    paintOn(to);
    kept = { picture, of, ns };
    pictures.set(key, kept);
  }
  ctx.drawImage(kept.picture, 0, y, kept.picture.width / screen.ratio, kept.picture.height / screen.ratio);
  return kept.of === of || !old;
}

/** @type {(ctx: Context, row: Row, tiles: Tile[]) => void} */
function paint(ctx, row, tiles) {
  const { ratio, layout: l } = screen;
  const shown = partOf(row, state.view);
  const box = { x: l.x, y: row.lane.y - row.y, w: l.w, h: row.lane.h };
  paintLane(ctx, row, tiles, shown, box, ratio);
  paintZones(ctx, row, tiles, shown, box);
  paintSigns(ctx, tiles, shown, box);
  names(ctx, row, box);
}

// names writes what the collection is called beside its lane, or above it.
/** @type {(ctx: Context, row: Row, box: Box) => void} */
function names(ctx, row, box) {
  const [name, ...more] = rowText(row);
  const { narrow, x } = screen.layout;
  const flat = row.band.total === 0;
  ctx.textBaseline = "alphabetic";
  ctx.font = "600 12px system-ui, sans-serif";
  ctx.fillStyle = colors.ink;
  const y = narrow ? 12 : box.y + (flat ? 6 : 10);
  ctx.fillText(clipped(ctx, name, narrow ? screen.width * 0.6 : x - 14), 0, y);
  ctx.font = "11px system-ui, sans-serif";
  ctx.fillStyle = colors.soft;
  if (narrow) {
    ctx.textAlign = "right";
    ctx.fillText(more[0], screen.width, y);
    ctx.textAlign = "left";
  } else if (flat) ctx.fillText(more[0], x, box.y + 15);
  else more.forEach((text, i) => ctx.fillText(text, 0, y + 15 * (i + 1)));
}

// clipped leaves out the middle: the end of a collection's name tells more than its database.
/** @type {(ctx: Context, s: string, width: number) => string} */
function clipped(ctx, s, width) {
  const wide = ctx.measureText(s).width;
  if (wide <= width) return s;
  const most = Math.max(Math.floor((s.length * width) / wide) - 1, 4);
  return `${s.slice(0, Math.ceil(most / 3))}…${s.slice(s.length - Math.floor((most * 2) / 3) + 1)}`;
}
