// The heat map's keyboard: arrows move the cursor, with Shift they select, + and - zoom, Enter shows what is selected.
import { describeCursor } from "./heat_cell.js";
import { draw } from "./heat_frame.js";
import { setView, showCell, zoomAtCursor, zoomToSelection } from "./heat_goto.js";
import { clearSelection, endExtending, extend, openSelection, selectBetween } from "./heat_selection.js";
import { state } from "./heat_state.js";

/**
 * pressKey does what a key stands for and returns whether it stands for anything.
 * @type {(key: string, shift?: boolean) => boolean}
 */
export function pressKey(key, shift = false) {
  const columns = state.heat.columns.length;
  if (state.picture.shown.length === 0 || columns === 0) return false;
  /** @type {Record<string, [columns: number, rows: number]>} */
  const steps = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, -1],
    ArrowDown: [0, 1],
    PageUp: [0, -10],
    PageDown: [0, 10],
    Home: [-columns, 0],
    End: [columns, 0],
  };
  if (steps[key]) {
    moveCursor(...steps[key], shift);
    return true;
  }
  switch (key) {
    case "+":
    case "=":
      zoomAtCursor(0.6);
      return true;
    case "-":
      zoomAtCursor(1 / 0.6);
      return true;
    case "z":
      zoomToSelection();
      return true;
    case "Escape":
      if (!clearSelection()) setView(state.all);
      return true;
    case "0":
      setView(state.all);
      return true;
    case "Enter":
      if (!state.selection && state.cursor) selectBetween(state.cursor, state.cursor);
      openSelection(true);
      return true;
  }
  return false;
}

// moveCursor moves the cursor; the first key only shows it, in the newest column. With Shift it
// selects, without it what keys selected is given up.
/** @type {(columns: number, rows: number, shift: boolean) => void} */
function moveCursor(columns, rows, shift) {
  const count = state.heat.columns.length;
  const { cursor, view } = state;
  const next = cursor
    ? { column: clamp(cursor.column + columns, count), row: clamp(cursor.row + rows, state.picture.shown.length) }
    : { column: count - 1, row: Math.floor((view.r0 + view.r1) / 2) };
  state.cursor = next;
  if (shift) extend(cursor, next);
  else {
    endExtending();
    state.selection = null;
  }
  showCell(next);
  describeCursor();
  draw();
}

/** @type {(n: number, count: number) => number} */
const clamp = (n, count) => Math.min(Math.max(n, 0), count - 1);
