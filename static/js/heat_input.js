// Lets people look around in the heat map: dragging, wheel, touch, keyboard and the buttons above it.
import { describeCursor, describePoint, pointOf, timeAndRow } from "./heat_cell.js";
import { cellArea } from "./heat_axes.js";
import { draw } from "./heat_frame.js";
import { listenToMarks } from "./heat_marks.js";
import { render } from "./heat_render.js";
import { cellOf, clearSelection, endExtending, extend, openSelection, selectBetween, selectBox } from "./heat_selection.js";
import { part, state } from "./heat_state.js";
import { moved, within, zoomed } from "./heat_view.js";

const still = 5; // px within which a press is a click

let grabbed = null; // where a drag that moves the view began, and the view then: {x, y, view}

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
    if (!state.brush && state.picture) describeCursor();
  });
  canvas.addEventListener("wheel", zoomByWheel, { passive: false });
  canvas.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || !state.picture || !handleKey(e.key, e.shiftKey)) return;
    e.preventDefault();
    e.stopPropagation();
  });
  const redo = () => state.picture && (render(), draw());
  for (const name of ["shard", "brightness", "normalise"]) part(name).addEventListener("input", redo);
  for (const [name, key] of [["in", "+"], ["out", "-"], ["reset", "0"]]) part(name).addEventListener("click", () => handleKey(key));
  part("pan").addEventListener("input", (e) => canvas.classList.toggle("pans", e.target.checked));
  listenToMarks(draw);
  document.getElementById("heat-selection").addEventListener("click", useSelection);
  new ResizeObserver(draw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redo);
  new MutationObserver(redo).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
}

function setView(view) {
  state.view = within(view, state.all);
  draw();
}

// useSelection handles the buttons beside what is selected.
function useSelection(e) {
  if (e.target.closest("[data-heat-clear]")) {
    e.preventDefault();
    clearSelection();
    part("canvas").focus({ preventScroll: true });
  } else if (e.target.closest("[data-heat-zoom]") && state.selection) {
    zoomToSelection();
  }
}

function zoomToSelection() {
  const { heat, picture, selection } = state;
  const keys = new Set(selection.rows);
  const at = picture.shown.flatMap((row, i) => (keys.has(heat.rows[row].key) ? [i] : []));
  if (at.length) setView({ t0: selection.from, t1: selection.to, r0: at[0], r1: at[at.length - 1] + 1 });
}

// A finger that moves up or down scrolls the page; one that moves sideways selects.
function startDrag(e) {
  const p = pointOf(e);
  if (!state.picture || e.button !== 0 || !timeAndRow(p).inside) return;
  e.target.setPointerCapture(e.pointerId);
  if (e.shiftKey || part("pan").checked) grabbed = { ...p, view: state.view };
  else state.brush = { x0: p.x, y0: p.y, x1: p.x, y1: p.y };
}

function drag(e) {
  if (!state.picture) return;
  const p = pointOf(e);
  const area = cellArea();
  if (grabbed) {
    const { view } = grabbed;
    setView(moved(view, ((grabbed.x - p.x) / area.w) * (view.t1 - view.t0), ((grabbed.y - p.y) / area.h) * (view.r1 - view.r0)));
    return;
  }
  if (state.brush) {
    state.brush.x1 = Math.min(Math.max(p.x, area.x), area.x + area.w);
    state.brush.y1 = Math.min(Math.max(p.y, area.y), area.y + area.h);
    state.hover = null;
    draw();
    return;
  }
  state.hover = timeAndRow(p).inside && e.pointerType !== "touch" ? p : null;
  draw();
  describePoint(p);
}

function endDrag(e) {
  const { brush } = state;
  const held = grabbed;
  grabbed = null;
  state.brush = null;
  if (!state.picture) return;
  const p = pointOf(e);
  const clicked = brush ? Math.hypot(brush.x1 - brush.x0, brush.y1 - brush.y0) < still : !held || Math.hypot(held.x - p.x, held.y - p.y) < still;
  if (clicked) choose(timeAndRow(p));
  else if (brush) {
    selectBox(brush);
    openSelection(false);
  }
  draw();
}

function choose(at) {
  if (!at.inside || state.heat.columns.length === 0) return;
  endExtending();
  state.cursor = cellOf(at);
  selectBetween(state.cursor, state.cursor);
  openSelection(false);
}

function zoomByWheel(e) {
  if (!state.picture || !(e.ctrlKey || e.metaKey)) return; // otherwise the page scrolls
  e.preventDefault();
  const { time, row } = timeAndRow(pointOf(e));
  setView(zoomed(state.view, e.deltaY > 0 ? 1.25 : 0.8, time, row));
}

// handleKey returns whether the key was used.
function handleKey(key, shift = false) {
  const columns = state.heat?.columns.length ?? 0;
  if (!state.picture || state.picture.shown.length === 0 || columns === 0) return false;
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
      if (state.selection) zoomToSelection();
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
function moveCursor(columns, rows, shift) {
  const count = state.heat.columns.length;
  const { cursor, view } = state;
  state.cursor = cursor
    ? { column: clamp(cursor.column + columns, count), row: clamp(cursor.row + rows, state.picture.shown.length) }
    : { column: count - 1, row: Math.floor((view.r0 + view.r1) / 2) };
  if (shift) extend(cursor);
  else {
    endExtending();
    state.selection = null;
  }
  showCursor();
  describeCursor();
  draw();
}

const clamp = (n, count) => Math.min(Math.max(n, 0), count - 1);

// showCursor moves the view as far as the cursor is outside of it.
function showCursor() {
  const { view, cursor } = state;
  const c = state.heat.columns[cursor.column];
  const time = c.from < view.t0 ? c.from - view.t0 : c.to > view.t1 ? c.to - view.t1 : 0;
  const rows = cursor.row < view.r0 ? cursor.row - view.r0 : cursor.row + 1 > view.r1 ? cursor.row + 1 - view.r1 : 0;
  if (time || rows) setView(moved(view, time, rows));
}

// zoomAtCursor zooms around the cursor, or the middle while there is none.
function zoomAtCursor(by) {
  const { view, cursor } = state;
  const c = cursor && state.heat.columns[cursor.column];
  const time = c ? (c.from + c.to) / 2 : (view.t0 + view.t1) / 2;
  setView(zoomed(view, by, time, cursor ? cursor.row + 0.5 : (view.r0 + view.r1) / 2));
}
