// Lets people look around in the cluster map with mouse and fingers. A finger that moves up or down scrolls
// the page; one that moves sideways moves what is zoomed into; two zoom.
import { draw } from "./map_draw.js";
import { chunkAt, cursorAt, find } from "./map_find.js";
import { choose, pan, setView, showAll, zoomAtCursor, zoomRow, zoomTo } from "./map_goto.js";
import { placeAt } from "./map_layout.js";
import { pressKey } from "./map_keys.js";
import { centred } from "./map_minimap.js";
import { describe } from "./map_readout.js";
import { part, screen, state } from "./map_state.js";
import { moved } from "./map_view.js";

const still = 5; // px within which a press is a click

/** @type {Map<number, {x: number, y: number}>} */
const pointers = new Map(); // that are down

/**
 * @typedef {import("./map_find.js").Client} Client
 * @typedef {import("./map_find.js").Found} Found
 * @typedef {Found & {kind: "shard" | "window" | "pan" | "tap" | "brush", view: import("./map_view.js").View}} Drag
 */

/** @type {Drag | null} */
let drag = null; // what a press began
let spread = 0; // px between two fingers; 0 without them

/** listen attaches all of the map's events. */
export function listen() {
  const canvas = part("canvas");
  canvas.addEventListener("pointerdown", press);
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", cancel);
  canvas.addEventListener("pointerleave", () => point(null));
  canvas.addEventListener("dblclick", (e) => zoomAt(e, e.shiftKey ? 4 : 0.25));
  canvas.addEventListener("wheel", wheel, { passive: false });
  canvas.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || !pressKey(e.key)) return;
    e.preventDefault();
    e.stopPropagation();
  });
  part("in").addEventListener("click", () => zoomAtCursor(0.5));
  part("out").addEventListener("click", () => zoomAtCursor(2));
  part("all").addEventListener("click", showAll);
  addEventListener("scroll", draw, { passive: true });
}

/** @param {PointerEvent} e */
function press(e) {
  if (e.button !== 0) return;
  pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
  if (pointers.size === 2) {
    drag = null;
    state.brush = null;
    spread = fingers().apart;
    return;
  }
  const at = find(e);
  const touch = e.pointerType === "touch";
  if (at.shard) drag = { kind: "shard", ...at, view: state.view };
  else if (at.row) {
    const { row, mini } = at;
    const kind = mini ? "window" : row.focus && !e.shiftKey ? "pan" : touch || row.band.total === 0 ? "tap" : "brush";
    drag = { kind, ...at, view: state.view };
    if (mini) setView(centred(state.view, at.place, row.band.total));
  } else return;
  if (!touch) part("canvas").setPointerCapture(e.pointerId);
}

/** @param {PointerEvent} e */
function move(e) {
  if (pointers.has(e.pointerId)) pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
  if (pointers.size === 2) return pinch();
  const at = find(e);
  if (!drag) return point(at);
  const { kind, row } = drag;
  const { x, w } = screen.layout;
  if (!row) return;
  if (kind === "pan") setView(moved(drag.view, (drag.x - at.x) / w, row.band.total));
  else if (kind === "window") setView(centred(drag.view, Math.min(Math.max((at.x - x) / w, 0), 1), row.band.total));
  else if (kind === "brush" && Math.abs(at.x - drag.x) > still) {
    state.brush = { ns: row.band.ns, from: drag.place, to: placeAt(screen.layout, row, state.view, at.x) };
    draw();
  }
}

/** @param {PointerEvent} e */
function release(e) {
  pointers.delete(e.pointerId);
  if (spread) {
    spread = pointers.size === 2 ? spread : 0;
    return;
  }
  const held = drag;
  const { brush } = state;
  drag = null;
  state.brush = null;
  if (!held) return;
  const at = find(e);
  const { kind, row, shard } = held;
  if (brush && row) zoomTo(row, Math.min(brush.from, brush.to), Math.max(brush.from, brush.to));
  else if (Math.hypot(at.x - held.x, at.y - held.y) >= still) return;
  else if (shard) setView({ ...state.view, only: state.view.only === shard.name ? "" : shard.name });
  else if (row && kind !== "window") choose(row.band.ns, chunkAt(row, held.place));
}

/** The browser takes the finger over for scrolling the page. @param {PointerEvent} e */
function cancel(e) {
  pointers.delete(e.pointerId);
  drag = null;
  spread = 0;
  state.brush = null;
  draw();
}

// fingers are the middle between two pointers and how far they are apart sideways, where the map zooms.
function fingers() {
  const [a, b] = [...pointers.values()];
  return { clientX: (a.x + b.x) / 2, clientY: (a.y + b.y) / 2, apart: Math.max(Math.hypot(a.x - b.x, a.y - b.y), 8) };
}

function pinch() {
  const now = fingers();
  if (Math.abs(now.apart - spread) < 2) return;
  zoomAt(now, spread / now.apart);
  spread = now.apart;
}

/** @type {(e: Client, by: number) => void} */
function zoomAt(e, by) {
  const { row, place } = find(e);
  if (row) zoomRow(row, by, place);
}

// wheel zooms with a key held (touchpads send pinches so), and moves sideways; else the page scrolls.
/** @param {WheelEvent} e */
function wheel(e) {
  if (e.ctrlKey || e.metaKey) {
    e.preventDefault();
    zoomAt(e, Math.exp(Math.min(Math.max(e.deltaY, -60), 60) / 120));
    return;
  }
  const sideways = e.shiftKey ? e.deltaY || e.deltaX : Math.abs(e.deltaX) > Math.abs(e.deltaY) ? e.deltaX : 0;
  if (!sideways || !find(e).row?.focus) return;
  e.preventDefault();
  pan(sideways / screen.layout.w);
}

/** point shows what the pointer is on. @param {Found | null} at */
function point(at) {
  const was = state.hover;
  const next = at?.row && !at.mini ? cursorAt(at.row, at.place) : null;
  part("canvas").title = at?.shard?.name ?? "";
  if (was?.ns === next?.ns && was?.position === next?.position) return;
  state.hover = next;
  describe();
  draw();
}
