// Changes what part of the heat map is visible, for every kind of input.
import { draw } from "./heat_frame.js";
import { state } from "./heat_state.js";
import { moved, within, zoomed } from "./heat_view.js";

/** setView shows another part, as far as there is one. @param {import("./heat_view.js").View} view */
export function setView(view) {
  state.view = within(view, state.all);
  draw();
}

/** zoomToSelection shows what is selected. */
export function zoomToSelection() {
  const { heat, picture, selection } = state;
  if (!selection) return;
  const keys = new Set(selection.rows);
  const at = picture.shown.flatMap((row, i) => (keys.has(heat.rows[row].key) ? [i] : []));
  if (at.length) setView({ t0: selection.from, t1: selection.to, r0: at[0], r1: at[at.length - 1] + 1 });
}

/** showCell moves the view as far as a cell is outside of it. @param {import("./heat_state.js").Cell} cell */
export function showCell({ column, row }) {
  const { view } = state;
  const c = state.heat.columns[column];
  const time = c.from < view.t0 ? c.from - view.t0 : c.to > view.t1 ? c.to - view.t1 : 0;
  const rows = row < view.r0 ? row - view.r0 : row + 1 > view.r1 ? row + 1 - view.r1 : 0;
  if (time || rows) setView(moved(view, time, rows));
}

/** zoomAtCursor zooms around the cursor, or the middle while there is none. @param {number} by */
export function zoomAtCursor(by) {
  const { view, cursor } = state;
  const c = cursor && state.heat.columns[cursor.column];
  const time = c ? (c.from + c.to) / 2 : (view.t0 + view.t1) / 2;
  setView(zoomed(view, by, time, cursor ? cursor.row + 0.5 : (view.r0 + view.r1) / 2));
}
