// Lets people look around in the cluster map with mouse and fingers. A finger that moves up or down scrolls
// the page; one that moves sideways moves what is zoomed into; two zoom.
import { draw } from "./map_draw.js";
import { choose, pan, setView, showAll, zoomAtCursor, zoomRow, zoomTo } from "./map_goto.js";
import { markOf } from "./map_lane.js";
import { placeAt, railHeight, rowAt, shardBoxes } from "./map_layout.js";
import { pressKey } from "./map_keys.js";
import { centred } from "./map_minimap.js";
import { describe } from "./map_readout.js";
import { part, screen, state } from "./map_state.js";
import { moved } from "./map_view.js";

const still = 5; // px within which a press is a click
const strip = 4; // px around the minimap where a press still holds it

/** @type {Map<number, {x: number, y: number}>} */
const pointers = new Map(); // that are down
let drag = null; // what a press began: {kind, row, x, y, view}
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

// find is what is at a point: a row and the place of its collection there, or a shard.
function find(e) {
  const canvas = part("canvas").getBoundingClientRect();
  const p = { x: e.clientX - canvas.left, y: e.clientY - canvas.top };
  if (!screen.layout) return { ...p, row: undefined, shard: undefined, place: 0, mini: false };
  if (p.y < railHeight) {
    const shard = shardBoxes(screen.layout, state.map.shards).find((b) => p.x >= b.x && p.x < b.x + b.w)?.shard;
    return { ...p, row: undefined, shard, place: 0, mini: false };
  }
  const y = p.y - railHeight + screen.top;
  const row = rowAt(screen.layout, y);
  const mini = Boolean(row?.mini) && y > row.mini.y - strip;
  const place = !row ? 0 : mini ? (p.x - screen.layout.x) / screen.layout.w : placeAt(screen.layout, row, state.view, p.x);
  return { ...p, row, shard: undefined, place: Math.min(Math.max(place, 0), 1), mini };
}

const chunkAt = (row, place) => Math.min(Math.floor(place * row.band.total), Math.max(row.band.total - 1, 0));

function press(e) {
  if (e.button !== 0 || !screen.layout) return;
  pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
  if (pointers.size === 2) {
    drag = null;
    state.brush = null;
    spread = fingers().apart;
    return;
  }
  const at = find(e);
  if (!at.row && !at.shard) return;
  const touch = e.pointerType === "touch";
  const kind = at.shard ? "shard" : at.mini ? "window" : at.row.focus && !e.shiftKey ? "pan" : touch || at.row.band.total === 0 ? "tap" : "brush";
  drag = { kind, ...at, view: state.view };
  if (kind === "window") setView(centred(state.view, at.place, at.row.band.total));
  if (!touch) part("canvas").setPointerCapture(e.pointerId);
}

function move(e) {
  if (pointers.has(e.pointerId)) pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
  if (pointers.size === 2) return pinch();
  const at = find(e);
  if (!drag) return point(at);
  if (drag.kind === "pan") setView(moved(drag.view, (drag.x - at.x) / screen.layout.w, drag.row.band.total));
  else if (drag.kind === "window") setView(centred(drag.view, Math.min(Math.max((at.x - screen.layout.x) / screen.layout.w, 0), 1), drag.row.band.total));
  else if (drag.kind === "brush" && Math.abs(at.x - drag.x) > still) {
    state.brush = { ns: drag.row.band.ns, from: drag.place, to: placeAt(screen.layout, drag.row, state.view, at.x) };
    draw();
  }
}

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
  if (brush) zoomTo(held.row, Math.min(brush.from, brush.to), Math.max(brush.from, brush.to));
  else if (Math.hypot(at.x - held.x, at.y - held.y) >= still) return;
  else if (held.kind === "shard") setView({ ...state.view, only: state.view.only === held.shard.name ? "" : held.shard.name });
  else if (held.kind !== "window") choose(held.row.band.ns, chunkAt(held.row, held.place));
}

// The browser takes the finger over for scrolling the page.
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

function zoomAt(e, by) {
  const { row, place } = find(e);
  if (row) zoomRow(row, by, place);
}

// wheel zooms with a key held (touchpads send pinches so), and moves sideways; else the page scrolls.
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

// point shows what the pointer is on.
function point(at) {
  const was = state.hover;
  const row = at?.row;
  const position = row ? chunkAt(row, at.place) : 0;
  const mark = row && row.band.total && !at.mini ? markOf(row, position) : null;
  const next = !row || at.mini ? null : { ns: row.band.ns, position: mark ? mark.tile.at[mark.i] : position };
  part("canvas").title = at?.shard?.name ?? "";
  if (was?.ns === next?.ns && was?.position === next?.position) return;
  state.hover = next;
  describe();
  draw();
}
