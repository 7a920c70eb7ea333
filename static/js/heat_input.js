// Lets people look around in the heat map with mouse, fingers and keys, and by the buttons above it. Arrows move the
// cursor, with Shift they select; + and - zoom, Enter shows what is selected.
import { around, modified } from "./elements.js";
import { describeCursor, describePoint, pointOf } from "./heat_cell.js";
import { cellArea, timeAndRow } from "./heat_axes.js";
import { draw } from "./heat_frame.js";
import { listenToMarks } from "./heat_marks.js";
import { render } from "./heat_render.js";
import { cellOf, clearSelection, openSelection, selectBetween, selectBox } from "./heat_selection.js";
import { isRead, part, state } from "./heat_state.js";
import { moved, within, zoomed } from "./heat_view.js";
import { clamp, onTheme } from "./pictures.js";
/** @import { Place } from "./heat_axes.js" */
/** @import { Cell } from "./heat_state.js" */
/** @import { View } from "./heat_view.js" */

const still = 5; // px within which a press is a click

/** @type {{x: number, y: number, view: View} | null} */
let grabbed = null; // where a drag that moves the view began, and the view then

/** listen attaches all of the map's events. */
export function listen() {
  const canvas = part("canvas");
  canvas.addEventListener("pointerdown", startDrag);
  canvas.addEventListener("pointermove", drag);
  canvas.addEventListener("pointerup", endDrag);
  canvas.addEventListener("pointercancel", () => {
    grabbed = null;
    state.brush = null;
    draw();
  });
  canvas.addEventListener("pointerleave", () => {
    state.hover = null;
    draw();
    if (!state.brush && isRead()) describeCursor();
  });
  canvas.addEventListener("wheel", zoomByWheel, { passive: false });
  canvas.addEventListener("keydown", (e) => {
    if (modified(e) || !isRead() || !pressKey(e.key, e.shiftKey)) return;
    e.preventDefault();
    e.stopPropagation();
  });
  const redo = () => isRead() && (render(), draw());
  for (const name of /** @type {const} */ (["shard", "brightness", "normalise"])) part(name).addEventListener("input", redo);
  for (const [name, key] of /** @type {const} */ ([["in", "+"], ["out", "-"], ["reset", "0"]])) part(name).addEventListener("click", () => pressKey(key));
  part("pan").addEventListener("input", () => canvas.classList.toggle("pans", part("pan").checked));
  listenToMarks(draw);
  document.getElementById("heat-selection")?.addEventListener("click", useSelection);
  new ResizeObserver(draw).observe(canvas);
  onTheme(redo);
}

/** useSelection handles the buttons beside what is selected. @param {MouseEvent} e */
function useSelection(e) {
  if (around(e, "[data-heat-clear]")) {
    e.preventDefault();
    clearSelection();
    part("canvas").focus({ preventScroll: true });
  } else if (around(e, "[data-heat-zoom]")) {
    zoomToSelection();
  }
}

/** A finger that moves up or down scrolls the page; one that moves sideways selects. @param {PointerEvent} e */
function startDrag(e) {
  const p = pointOf(e);
  if (!isRead() || e.button !== 0 || !timeAndRow(p).inside) return;
  part("canvas").setPointerCapture(e.pointerId);
  if (e.shiftKey || part("pan").checked) grabbed = { ...p, view: state.view };
  else state.brush = { x0: p.x, y0: p.y, x1: p.x, y1: p.y };
}

/** @param {PointerEvent} e */
function drag(e) {
  if (!isRead()) return;
  const p = pointOf(e);
  const area = cellArea();
  if (grabbed) {
    const { view } = grabbed;
    setView(moved(view, ((grabbed.x - p.x) / area.w) * (view.t1 - view.t0), ((grabbed.y - p.y) / area.h) * (view.r1 - view.r0)));
    return;
  }
  if (state.brush) {
    state.brush.x1 = clamp(p.x, area.x, area.x + area.w);
    state.brush.y1 = clamp(p.y, area.y, area.y + area.h);
    state.hover = null;
    draw();
    return;
  }
  state.hover = timeAndRow(p).inside && e.pointerType !== "touch" ? p : null;
  draw();
  describePoint(p);
}

/** @param {PointerEvent} e */
function endDrag(e) {
  const { brush } = state;
  const held = grabbed;
  grabbed = null;
  state.brush = null;
  if (!isRead()) return;
  const p = pointOf(e);
  const clicked = brush ? Math.hypot(brush.x1 - brush.x0, brush.y1 - brush.y0) < still : !held || Math.hypot(held.x - p.x, held.y - p.y) < still;
  if (clicked) choose(timeAndRow(p));
  else if (brush) {
    selectBox(brush);
    openSelection(false);
  }
  draw();
}

/** @param {Place} at */
function choose(at) {
  if (!at.inside || state.heat.columns.length === 0) return;
  state.anchor = null;
  state.cursor = cellOf(at);
  selectBetween(state.cursor, state.cursor);
  openSelection(false);
}

/** @param {WheelEvent} e */
function zoomByWheel(e) {
  if (!isRead() || !(e.ctrlKey || e.metaKey)) return; // otherwise the page scrolls
  e.preventDefault();
  const { time, row } = timeAndRow(pointOf(e));
  setView(zoomed(state.view, e.deltaY > 0 ? 1.25 : 0.8, time, row));
}

/** setView shows another part, as far as there is one. @param {View} view */
export function setView(view) {
  state.view = within(view, state.all);
  draw();
}

/** zoomToSelection shows what is selected. */
function zoomToSelection() {
  const { heat, picture, selection } = state;
  if (!selection) return;
  const keys = new Set(selection.rows);
  const at = picture.shown.flatMap((row, i) => (keys.has(heat.rows[row].key) ? [i] : []));
  if (at.length) setView({ t0: selection.from, t1: selection.to, r0: at[0], r1: at[at.length - 1] + 1 });
}

/** showCell moves the view as far as a cell is outside of it. @param {Cell} cell */
function showCell({ column, row }) {
  const { view } = state;
  const c = state.heat.columns[column];
  const time = c.from < view.t0 ? c.from - view.t0 : c.to > view.t1 ? c.to - view.t1 : 0;
  const rows = row < view.r0 ? row - view.r0 : row + 1 > view.r1 ? row + 1 - view.r1 : 0;
  if (time || rows) setView(moved(view, time, rows));
}

/** zoomAtCursor zooms around the cursor, or the middle while there is none. @param {number} by */
function zoomAtCursor(by) {
  const { view, cursor } = state;
  const c = cursor && state.heat.columns[cursor.column];
  const time = c ? (c.from + c.to) / 2 : (view.t0 + view.t1) / 2;
  setView(zoomed(view, by, time, cursor ? cursor.row + 0.5 : (view.r0 + view.r1) / 2));
}

/** @type {Record<string, [columns: number, rows: number]>} */
const steps = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  PageUp: [0, -10],
  PageDown: [0, 10],
  Home: [-Infinity, 0],
  End: [Infinity, 0],
};

/** @type {Record<string, () => void>} */
const keys = {
  "+": () => zoomAtCursor(0.6),
  "=": () => zoomAtCursor(0.6),
  "-": () => zoomAtCursor(1 / 0.6),
  z: zoomToSelection,
  Escape: () => clearSelection() || setView(state.all),
  0: () => setView(state.all),
  Enter: () => {
    if (!state.selection && state.cursor) selectBetween(state.cursor, state.cursor);
    openSelection(true);
  },
};

// pressKey does what a key stands for and returns whether it stands for anything.
/** @type {(key: string, shift?: boolean) => boolean} */
function pressKey(key, shift = false) {
  if (state.picture.shown.length === 0 || state.heat.columns.length === 0) return false;
  if (steps[key]) moveCursor(...steps[key], shift);
  else if (keys[key]) keys[key]();
  else return false;
  return true;
}

// moveCursor moves the cursor; the first key only shows it, in the newest column. With Shift it
// selects, without it what keys selected is given up.
/** @type {(columns: number, rows: number, shift: boolean) => void} */
function moveCursor(columns, rows, shift) {
  const count = state.heat.columns.length;
  const { cursor, view } = state;
  const next = cursor
    ? { column: clamp(cursor.column + columns, 0, count - 1), row: clamp(cursor.row + rows, 0, state.picture.shown.length - 1) }
    : { column: count - 1, row: Math.floor((view.r0 + view.r1) / 2) };
  state.cursor = next;
  if (shift) {
    state.anchor ??= cursor ?? next;
    selectBetween(state.anchor, next);
  } else {
    state.anchor = null;
    state.selection = null;
  }
  showCell(next);
  describeCursor();
  draw();
}
