// Lets people look around in the cluster map with mouse, fingers and keys. A finger that moves up or down scrolls
// the page; one that moves sideways moves what is zoomed into; two zoom.
import { modified } from "./elements.js";
import { draw } from "./map_draw.js";
import { choose, pan, setView, showAll, zoomAtCursor, zoomRow, zoomTo, zoomToMark } from "./map_goto.js";
import { markOf } from "./map_lane.js";
import { partOf, placeAt, railHeight, shardBoxes } from "./map_layout.js";
import { describe, open, rowOf } from "./map_readout.js";
import { part, screen, state } from "./map_state.js";
import { centred, moved } from "./map_view.js";
import { clamp } from "./pictures.js";
/** @import { Row } from "./map_layout.js" */
/** @import { Cursor, Shard } from "./map_state.js" */
/** @import { View } from "./map_view.js" */

const still = 5; // px within which a press is a click
const hold = 4; // px around the minimap where a press still holds it

/**
 * @typedef {{clientX: number, clientY: number}} Client a pointer, in CSS pixels of the window
 * @typedef {{x: number, y: number, row?: Row, shard?: Shard, place: number, mini: boolean}} Found
 * x and y are in the canvas; place is where in the row's collection, 0 to 1; mini if it is on the minimap
 * @typedef {Found & {kind: "shard" | "window" | "pan" | "tap" | "brush", view: View}} Drag
 */

/** @type {Map<number, Client>} */
const pointers = new Map(); // that are down
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
    if (modified(e) || !keys[e.key] || screen.layout.rows.length === 0) return;
    keys[e.key]();
    e.preventDefault();
    e.stopPropagation();
  });
  part("in").addEventListener("click", () => zoomAtCursor(0.5));
  part("out").addEventListener("click", () => zoomAtCursor(2));
  part("all").addEventListener("click", showAll);
  addEventListener("scroll", draw, { passive: true });
}

/** find is what is at a point: a row and the place of its collection there, or a shard. @type {(e: Client) => Found} */
function find(e) {
  const canvas = part("canvas").getBoundingClientRect();
  const p = { x: e.clientX - canvas.left, y: e.clientY - canvas.top };
  if (p.y < railHeight) {
    const shard = shardBoxes(screen.layout, state.map.shards).find((b) => p.x >= b.x && p.x < b.x + b.w)?.shard;
    return { ...p, shard, place: 0, mini: false };
  }
  const y = p.y - railHeight + screen.top;
  const row = screen.layout.rows.find((r) => y >= r.y && y < r.y + r.h);
  const mini = Boolean(row?.mini && y > row.mini.y - hold);
  const place = !row ? 0 : mini ? (p.x - screen.layout.x) / screen.layout.w : placeAt(screen.layout, row, state.view, p.x);
  return { ...p, row, place: clamp(place, 0, 1), mini };
}

/** chunkAt is the chunk at a place of a row. @type {(row: Row, place: number) => number} */
const chunkAt = (row, place) => Math.min(Math.floor(place * row.band.total), Math.max(row.band.total - 1, 0));

/** cursorAt is the first chunk of the mark at a place of a row. @type {(row: Row, place: number) => Cursor} */
function cursorAt(row, place) {
  const position = chunkAt(row, place);
  const mark = row.band.total ? markOf(row, position) : null;
  return { ns: row.band.ns, position: mark ? mark.tile.at[mark.i] : position };
}

/** @param {PointerEvent} e */
function press(e) {
  if (e.button !== 0) return;
  pointers.set(e.pointerId, e);
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
  if (pointers.has(e.pointerId)) pointers.set(e.pointerId, e);
  if (pointers.size === 2) return pinch();
  const at = find(e);
  if (!drag) return point(at);
  const { kind, row } = drag;
  const { x, w } = screen.layout;
  if (!row) return;
  if (kind === "pan") setView(moved(drag.view, (drag.x - at.x) / w, row.band.total));
  else if (kind === "window") setView(centred(drag.view, clamp((at.x - x) / w, 0, 1), row.band.total));
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

/** cancel gives up what a finger began: the browser takes it over for scrolling the page. @param {PointerEvent} e */
function cancel(e) {
  pointers.delete(e.pointerId);
  drag = null;
  spread = 0;
  state.brush = null;
  draw();
}

// fingers are the middle between two pointers and how far they are apart.
function fingers() {
  const [a, b] = [...pointers.values()];
  const apart = Math.max(Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY), 8);
  return { clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2, apart };
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
    zoomAt(e, Math.exp(clamp(e.deltaY, -60, 60) / 120));
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

/** @type {Record<string, () => void>} */
const keys = {
  ArrowLeft: () => step(-1),
  ArrowRight: () => step(1),
  ArrowUp: () => leap(-1),
  ArrowDown: () => leap(1),
  Home: () => end(0),
  End: () => end(1),
  PageUp: () => pan(-0.8),
  PageDown: () => pan(0.8),
  "+": () => zoomAtCursor(0.5),
  "=": () => zoomAtCursor(0.5),
  "-": () => zoomAtCursor(2),
  0: showAll,
  Escape: showAll,
  Enter: () => open(zoomToMark),
};

// chosenRow is the row that the cursor is in. The first key only shows the cursor, so there is none then.
function chosenRow() {
  const row = state.cursor && rowOf(state.cursor.ns);
  if (row) return row;
  const first = rowOf(state.view.ns) ?? screen.layout.rows[0];
  choose(first.band.ns, Math.floor(partOf(first, state.view).from * first.band.total));
  return null;
}

/** step goes to the mark before or after. @param {number} by */
function step(by) {
  const row = chosenRow();
  const mark = row && state.cursor && row.band.total ? markOf(row, state.cursor.position) : null;
  if (!row || !mark) return;
  const { tile: t, i } = mark;
  choose(row.band.ns, clamp(by < 0 ? t.at[i] - 1 : t.at[i] + t.chunks[i], 0, t.total - 1));
}

/** leap goes to the collection above or below, to the place that is above or below on the screen. @param {number} by */
function leap(by) {
  const { rows } = screen.layout;
  const row = chosenRow();
  const next = row && rows[rows.indexOf(row) + by];
  if (!next || !state.cursor) return;
  const shown = partOf(row, state.view);
  const across = (state.cursor.position / Math.max(row.band.total, 1) - shown.from) / (shown.to - shown.from);
  const into = partOf(next, state.view);
  choose(next.band.ns, chunkAt(next, into.from + clamp(across, 0, 1) * (into.to - into.from)));
}

/** end goes to the first chunk of the collection, or to the last one. @param {number} which */
function end(which) {
  chosenRow();
  const row = chosenRow();
  if (row) choose(row.band.ns, which * Math.max(row.band.total - 1, 0));
}
