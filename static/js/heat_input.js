// Lets people look around in the heat map with mouse and fingers, and by the buttons above it.
import { describeCursor, describePoint, pointOf, timeAndRow } from "./heat_cell.js";
import { cellArea } from "./heat_axes.js";
import { draw } from "./heat_frame.js";
import { setView, zoomToSelection } from "./heat_goto.js";
import { pressKey } from "./heat_keys.js";
import { listenToMarks } from "./heat_marks.js";
import { render } from "./heat_render.js";
import { cellOf, clearSelection, endExtending, openSelection, selectBetween, selectBox } from "./heat_selection.js";
import { isRead, part, state } from "./heat_state.js";
import { moved, zoomed } from "./heat_view.js";

const still = 5; // px within which a press is a click

/** @type {{x: number, y: number, view: import("./heat_view.js").View} | null} */
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
    if (e.ctrlKey || e.metaKey || e.altKey || !isRead() || !pressKey(e.key, e.shiftKey)) return;
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
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redo);
  new MutationObserver(redo).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
}

/** useSelection handles the buttons beside what is selected. @param {MouseEvent} e */
function useSelection(e) {
  const at = /** @type {Element} */ (e.target);
  if (at.closest("[data-heat-clear]")) {
    e.preventDefault();
    clearSelection();
    part("canvas").focus({ preventScroll: true });
  } else if (at.closest("[data-heat-zoom]")) {
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

/** @param {import("./heat_cell.js").Place} at */
function choose(at) {
  if (!at.inside || state.heat.columns.length === 0) return;
  endExtending();
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
