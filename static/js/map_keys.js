// The cluster map's keyboard: arrows choose marks and collections, + and - zoom, Enter opens a chunk.
import { choose, pan, showAll, zoomAtCursor, zoomToMark } from "./map_goto.js";
import { markOf } from "./map_lane.js";
import { partOf } from "./map_layout.js";
import { open, rowOf } from "./map_readout.js";
import { screen, state } from "./map_state.js";

/** @typedef {import("./map_layout.js").Row} Row */

/**
 * pressKey does what a key stands for and returns whether it stands for anything.
 * @type {(key: string) => boolean}
 */
export function pressKey(key) {
  const { rows } = screen.layout;
  if (rows.length === 0) return false;
  switch (key) {
    case "ArrowLeft":
      return step(-1);
    case "ArrowRight":
      return step(1);
    case "ArrowUp":
      return leap(rows, -1);
    case "ArrowDown":
      return leap(rows, 1);
    case "Home":
      return end(0);
    case "End":
      return end(1);
    case "PageUp":
      return pan(-0.8), true;
    case "PageDown":
      return pan(0.8), true;
    case "+":
    case "=":
      return zoomAtCursor(0.5), true;
    case "-":
      return zoomAtCursor(2), true;
    case "0":
    case "Escape":
      return showAll(), true;
    case "Enter":
      return open(zoomToMark), true;
  }
  return false;
}

/** step goes to the mark before or after; the first key only shows the cursor. @param {number} by */
function step(by) {
  const { cursor } = state;
  const row = cursor && rowOf(cursor.ns);
  if (!row) return first();
  const mark = row.band.total ? markOf(row, cursor.position) : null;
  if (!mark) return true;
  const { tile: t, i } = mark;
  const next = by < 0 ? t.at[i] - 1 : t.at[i] + t.chunks[i];
  choose(row.band.ns, Math.min(Math.max(next, 0), t.total - 1));
  return true;
}

// leap goes to the collection above or below, to the place that is above or below on the screen.
/** @type {(rows: Row[], by: number) => boolean} */
function leap(rows, by) {
  const { cursor } = state;
  const row = cursor && rowOf(cursor.ns);
  if (!row) return first();
  const next = rows[rows.indexOf(row) + by];
  if (!next) return true;
  const shown = partOf(row, state.view);
  const across = (cursor.position / Math.max(row.band.total, 1) - shown.from) / (shown.to - shown.from);
  const into = partOf(next, state.view);
  const place = into.from + Math.min(Math.max(across, 0), 1) * (into.to - into.from);
  choose(next.band.ns, Math.min(Math.floor(place * next.band.total), Math.max(next.band.total - 1, 0)));
  return true;
}

function first() {
  const row = rowOf(state.view.ns) ?? screen.layout.rows[0];
  choose(row.band.ns, Math.floor(partOf(row, state.view).from * row.band.total));
  return true;
}

/** @param {number} which */
function end(which) {
  if (!state.cursor) first();
  const row = state.cursor && rowOf(state.cursor.ns);
  if (row) choose(row.band.ns, which * Math.max(row.band.total - 1, 0));
  return true;
}
