// Changes what the cluster map shows: zooming, moving and choosing, for every kind of input.
import { draw } from "./map_draw.js";
import { markOf } from "./map_lane.js";
import { railHeight } from "./map_layout.js";
import { describe, rowOf } from "./map_readout.js";
import { part, screen, state } from "./map_state.js";
import { isZoomed, moved, whole, within, zoomed } from "./map_view.js";
/** @import { Mark } from "./map_lane.js" */
/** @import { Row } from "./map_layout.js" */
/** @import { View } from "./map_view.js" */

const foot = 60; // px of the window below the map: its live text

let changed = () => {};

/** onView sets what is called after the view has changed. @param {() => void} f */
export const onView = (f) => (changed = f);

/** setView shows another part, another measure or another time. @param {View} view */
export function setView(view) {
  state.view = view;
  changed();
  draw();
  describe();
}

// zoomRow zooms into a row, or out of it, around a place of it; at its ends all collections are whole again.
// A mark that is given stays visible as far as it fits.
/** @type {(row: Row, by: number, at: number, mark?: Mark | null) => void} */
export function zoomRow(row, by, at, mark = null) {
  const total = row.band.total;
  if (total === 0) return;
  const view = row.focus ? state.view : { ...state.view, ns: row.band.ns, from: 0, to: 1 };
  const next = zoomed(view, by, at, total);
  const shown = mark ? showing(next, mark, total) : next;
  setView(isZoomed(shown) ? shown : whole(shown));
}

/** showing moves a view as far as a mark is outside of it. @type {(view: View, mark: Mark, total: number) => View} */
function showing(view, mark, total) {
  const over = mark.to > view.to ? mark.to - view.to : Math.min(mark.from - view.from, 0);
  return over ? within({ ...view, from: view.from + over, to: view.to + over }, total) : view;
}

/** zoomTo shows a range of a row. @type {(row: Row, from: number, to: number) => void} */
export function zoomTo(row, from, to) {
  const next = within({ ...state.view, ns: row.band.ns, from, to }, row.band.total);
  setView(isZoomed(next) ? next : whole(next));
}

/** zoomToMark shows the chunks of a mark with some room around them. @type {(row: Row, mark: Mark) => void} */
export function zoomToMark(row, mark) {
  const room = (mark.to - mark.from) * 0.25;
  zoomTo(row, mark.from - room, mark.to + room);
}

// zoomAtCursor zooms around the cursor, else around the middle of what is zoomed into, else into the first row.
/** @param {number} by */
export function zoomAtCursor(by) {
  const row = rowOf(state.cursor?.ns ?? state.view.ns) ?? screen.layout.rows[0];
  if (!row) return;
  const mark = state.cursor && row.band.total ? markOf(row, state.cursor.position) : null;
  const middle = row.focus ? (state.view.from + state.view.to) / 2 : 0.5;
  zoomRow(row, by, mark ? (mark.from + mark.to) / 2 : middle, mark);
}

/** pan moves the visible part by a share of its width. @param {number} by */
export function pan(by) {
  const row = rowOf(state.view.ns);
  if (row?.focus) setView(moved(state.view, by, row.band.total));
}

/** showAll shows all collections from end to end. */
export const showAll = () => setView(whole(state.view));

// choose puts the cursor on a chunk, and shows it if it is outside of what is visible.
/** @type {(ns: string, position: number) => void} */
export function choose(ns, position) {
  state.cursor = { ns, position };
  const row = rowOf(ns);
  const mark = row?.focus ? markOf(row, position) : null;
  if (row && mark) setView(showing(state.view, mark, row.band.total));
  if (row) scrollTo(row);
  draw();
  describe();
}

/** scrollTo scrolls the page as far as the row is out of view. @param {Row} row */
function scrollTo(row) {
  const { top } = part("space").getBoundingClientRect();
  const visible = part("canvas").getBoundingClientRect();
  const over = top + row.y - Math.max(visible.top, 0);
  const under = top + railHeight + row.y + row.h - Math.min(visible.bottom, innerHeight - foot);
  if (over < 0) scrollBy({ top: over });
  else if (under > 0) scrollBy({ top: under });
}
