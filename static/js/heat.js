// The heat page: the heat map by key range (or project) and time, for mouse, touch and keyboard,
// and the lists around it, refreshed every minute. The table on the page has the same data without
// this script.
import { read, columnAt, keyText, UNKNOWN, ZERO } from "./heat_data.js";
import { Picture, color } from "./heat_draw.js";
import { whole, within, zoomed, moved, ticks, spanText } from "./heat_view.js";
import { openRow } from "./heat_row.js";
import { morph } from "./morph.js";

const minute = 60_000;
const root = /** @type {HTMLElement | null} */ (document.getElementById("heat-map"));
/** @returns {any} */
const part = (name) => root.querySelector(`[data-heat="${name}"]`);

const state = {
  /** @type {import("./heat_data.js").Heat | null} */ heat: null,
  /** @type {Picture | null} */ picture: null,
  view: { t0: 0, t1: 1, r0: 0, r1: 1 },
  all: { t0: 0, t1: 1, r0: 0, r1: 1 },
  cursor: /** @type {{column: number, row: number} | null} */ (null),
  brush: /** @type {{x0: number, y0: number, x1: number, y1: number} | null} */ (null),
  version: "",
  asked: false, // a frame is requested
};
let colors = { ink: "", soft: "", line: "", zero: [0, 0, 0], dark: false, gap: /** @type {CanvasPattern | string} */ ("") };
const words = root ? part("words").dataset : {};

/** say fills a sentence of the page. */
export function say(name, args = {}) {
  return (words[name] ?? "").replace(/\{(\w+)\}/g, (all, key) => args[key] ?? all);
}

// --- data ---

async function fetchMap() {
  const { ns, by, from } = root.dataset;
  const headers = state.version ? { "If-None-Match": state.version } : {};
  const answer = await fetch(`/api/v1/heat/map?${new URLSearchParams({ ns, by, from })}`, { headers, credentials: "same-origin" });
  if (answer.status === 304) return;
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.detail ?? answer.statusText);
  state.version = body.version;
  const heat = read(body);
  const follow = !state.heat || state.view.t1 >= state.all.t1; // the view shows the present and follows it
  const was = state.heat && state.all;
  const at = state.cursor && state.heat ? state.heat.columns[state.cursor.column]?.from : 0;
  state.heat = heat;
  state.picture = new Picture(heat);
  if (state.cursor) state.cursor.column = Math.max(columnAt(heat, at), 0);
  render();
  state.all = whole(heat, state.picture.shown.length);
  const same = was && was.r1 === state.all.r1;
  const sees = same && (state.view.t0 > was.t0 || state.view.t1 < was.t1 || state.view.r0 > 0 || state.view.r1 < was.r1);
  state.view = sees ? within(follow ? moved(state.view, heat.to - was.t1, 0) : state.view, state.all) : state.all;
  draw();
}

// render rebuilds the pictures: for new data, another shard or other colours.
function render() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  const paper = document.createElement("canvas").getContext("2d");
  paper.fillStyle = get("--track");
  paper.fillRect(0, 0, 1, 1);
  const zero = [...paper.getImageData(0, 0, 1, 1).data].slice(0, 3);
  colors = { ink: get("--ink"), soft: get("--soft"), line: get("--accent"), zero, dark: zero[0] < 128, gap: "" };
  colors.gap = hatch(get("--line"));
  const rows = state.picture.shown.length;
  state.picture.render({ shard: part("shard").value, brightness: Number(part("brightness").value), normalise: part("normalise").checked, dark: colors.dark, zero });
  if (state.picture.shown.length !== rows) {
    state.all = whole(state.heat, state.picture.shown.length);
    state.view = state.all;
    state.cursor = null;
  }
  scale();
  ahead(state.picture);
}

// ahead paints in idle time what a zoom will need.
function ahead(picture) {
  const later = globalThis.requestIdleCallback ?? ((/** @type {any} */ f) => setTimeout(() => f({ timeRemaining: () => 10 }), 50));
  later((left) => {
    if (picture !== state.picture) return;
    if (left.timeRemaining() < 5 || picture.paintNext()) ahead(picture);
  });
}

function hatch(ink) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const to = tile.getContext("2d");
  to.strokeStyle = ink;
  to.beginPath();
  to.moveTo(0, 6);
  to.lineTo(6, 0);
  to.stroke();
  return to.createPattern(tile, "repeat");
}

function scale() {
  const bar = part("scale");
  const to = bar.getContext("2d");
  for (let x = 0; x < bar.width; x++) {
    to.fillStyle = `rgb(${color((x / (bar.width - 1)) ** (2 ** (-Number(part("brightness").value) / 5)), colors.dark).join()})`;
    to.fillRect(x, 0, 1, bar.height);
  }
  const { least, most } = state.picture;
  part("least").textContent = most ? number(state.heat.rate(least)) : "";
  part("most").textContent = most ? `${number(state.heat.rate(most))} ${say("more")}` : "";
}

const number = (n) => (n >= 100 ? String(Math.round(n)) : n >= 10 ? n.toFixed(1) : n >= 0.1 ? n.toFixed(2) : n.toFixed(3));

// --- drawing ---

const gutter = () => (part("canvas").clientWidth < 560 ? 64 : 168);

/** box is where the cells are, in the canvas's own pixels. */
function box() {
  const c = part("canvas");
  return { x: gutter(), y: 8, w: Math.max(c.clientWidth - gutter(), 50), h: Math.max(c.clientHeight - 30, 50) };
}

function draw() {
  if (state.asked || !state.picture) return;
  state.asked = true;
  requestAnimationFrame(() => {
    state.asked = false;
    frame();
  });
}

function frame() {
  const canvas = part("canvas");
  const ratio = Math.min(devicePixelRatio || 1, 2);
  const wide = Math.round(canvas.clientWidth * ratio);
  const high = Math.round(canvas.clientHeight * ratio);
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  const to = canvas.getContext("2d");
  to.setTransform(ratio, 0, 0, ratio, 0, 0);
  to.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  const b = box();
  to.fillStyle = colors.gap; // areas without cells were not counted
  to.fillRect(b.x, b.y, b.w, b.h);
  state.picture.frame(to, state.view, b);
  marks(to, b);
  axes(to, b);
  if (state.cursor) outline(to, b);
  if (state.brush) {
    const { x0, y0, x1, y1 } = state.brush;
    to.strokeStyle = colors.line;
    to.lineWidth = 1.5;
    to.strokeRect(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0));
  }
}

const xOf = (b, time) => b.x + ((time - state.view.t0) / (state.view.t1 - state.view.t0)) * b.w;
const yOf = (b, row) => b.y + ((row - state.view.r0) / (state.view.r1 - state.view.r0)) * b.h;

// marks draws a line above columns that were not counted completely.
function marks(to, b) {
  to.fillStyle = colors.soft;
  for (const c of state.heat.columns) {
    if (!(c.sampled || c.atLeast) || c.to < state.view.t0 || c.from > state.view.t1) continue;
    const x = Math.max(xOf(b, c.from), b.x);
    to.fillRect(x, 1, Math.max(Math.min(xOf(b, c.to), b.x + b.w) - x - 0.5, 0.5), c.atLeast ? 4 : 2);
  }
}

function axes(to, b) {
  to.font = "11px system-ui, sans-serif";
  to.fillStyle = colors.soft;
  to.textBaseline = "alphabetic";
  to.textAlign = "left";
  for (const { at, text } of ticks(state.view, b.w)) {
    const x = xOf(b, at);
    to.fillRect(x, b.y + b.h, 1, 4);
    if (x < b.x + b.w - 30) to.fillText(text, x + 3, b.y + b.h + 14);
  }
  const rows = state.view.r1 - state.view.r0;
  const step = Math.max(1, Math.ceil((rows / b.h) * 15));
  const width = b.x - 8;
  let before = "";
  for (let r = Math.ceil(state.view.r0 / step) * step; r < state.view.r1; r += step) {
    const label = rowName(state.picture.shown[r]);
    if (label === before) continue; // rows of the same project have one label
    before = label;
    to.fillText(clipped(label, width), 0, Math.min(yOf(b, r) + 10, b.y + b.h));
  }
}

// clipped keeps the beginning: measuring text in every frame would cost more than the picture.
const clipped = (s, width) => (s.length * 6 > width ? `${s.slice(0, Math.max(Math.floor(width / 6) - 1, 3))}…` : s);

/** rowName is a row's project or where it begins. */
function rowName(row) {
  const r = state.heat.rows[row];
  if (!r) return "";
  return r.name || r.project || keyText(r.min);
}

function outline(to, b) {
  const c = state.heat.columns[state.cursor.column];
  if (!c) return;
  const x = xOf(b, c.from);
  const y = yOf(b, state.cursor.row);
  const w = Math.max(xOf(b, c.to) - x, 4);
  const h = Math.max(yOf(b, state.cursor.row + 1) - y, 4);
  if (x + w < b.x || x > b.x + b.w || y + h < b.y || y > b.y + b.h) return;
  for (const [color, by] of [[colors.ink, 2], [colors.line, 0]]) {
    to.strokeStyle = /** @type {string} */ (color);
    to.lineWidth = 2;
    to.strokeRect(x - /** @type {number} */ (by), y - /** @type {number} */ (by), w + 2 * /** @type {number} */ (by), h + 2 * /** @type {number} */ (by));
  }
}

// --- what is under the hand ---

function place(e) {
  const area = part("canvas").getBoundingClientRect();
  return { x: e.clientX - area.left, y: e.clientY - area.top };
}

function under(p) {
  const b = box();
  const time = state.view.t0 + ((p.x - b.x) / b.w) * (state.view.t1 - state.view.t0);
  const row = state.view.r0 + ((p.y - b.y) / b.h) * (state.view.r1 - state.view.r0);
  return { time, row, inside: p.x >= b.x && p.x <= b.x + b.w && p.y >= b.y && p.y <= b.y + b.h };
}

function tell(column, row) {
  const c = state.heat.columns[column];
  const at = state.picture.shown[row];
  const r = state.heat.rows[at];
  if (!r) return say("help");
  const where = joined(rowName(at), r.shard, r.chunks > 1 && say("chunks", { n: r.chunks }));
  if (!c) return joined(say("gap"), where);
  const l = state.heat.levels[at * state.heat.columns.length + column];
  const rate = l === UNKNOWN ? say("unknown") : l === ZERO ? say("zero") : say("about", { n: number(state.heat.rate(l)) });
  const share = Math.round((c.covered / ((c.to - c.from) / 1000)) * 100);
  const how = [c.sampled && say("sampled"), c.atLeast && say("atleast"), c.hottest && say("hottest"), c.shared && say("shared"), share < 95 && say("part", { n: share })].filter(Boolean).join(", ");
  return joined(rate, spanText(c) + (how ? ` (${how})` : ""), where);
}

const joined = (...parts) => parts.filter(Boolean).join(" · ");

function readout(text) {
  const el = part("readout");
  if (el.textContent !== text) el.textContent = text;
}

function look(view) {
  state.view = within(view, state.all);
  draw();
}

function open(row) {
  const at = state.picture.shown[row];
  const r = state.heat.rows[at];
  if (!r) return;
  openRow(part("row"), { row: r, name: rowName(at), max: state.heat.rows[at + 1]?.min ?? state.heat.max, ns: root.dataset.ns, window: root.dataset.window, say, number });
}

// --- hands ---

function listen() {
  const canvas = part("canvas");
  let grabbed = null; // {x, y, view} while dragging
  canvas.addEventListener("pointerdown", (e) => {
    const p = place(e);
    if (!state.picture || e.button !== 0 || !under(p).inside) return;
    if (e.pointerType === "touch" && !part("pan").checked) return; // the page scrolls; buttons zoom
    canvas.setPointerCapture(e.pointerId);
    if (e.shiftKey || part("pan").checked) grabbed = { ...p, view: state.view };
    else state.brush = { x0: p.x, y0: p.y, x1: p.x, y1: p.y };
  });
  canvas.addEventListener("pointermove", (e) => {
    if (!state.picture) return;
    const p = place(e);
    const b = box();
    if (grabbed) {
      const { view } = grabbed;
      look(moved(view, ((grabbed.x - p.x) / b.w) * (view.t1 - view.t0), ((grabbed.y - p.y) / b.h) * (view.r1 - view.r0)));
      return;
    }
    if (state.brush) {
      state.brush.x1 = Math.min(Math.max(p.x, b.x), b.x + b.w);
      state.brush.y1 = Math.min(Math.max(p.y, b.y), b.y + b.h);
      draw();
      return;
    }
    const at = under(p);
    readout(at.inside ? tell(columnAt(state.heat, at.time), Math.floor(at.row)) : say("help"));
  });
  canvas.addEventListener("pointerup", (e) => {
    const { brush } = state;
    const held = grabbed;
    grabbed = null;
    state.brush = null;
    if (!state.picture) return;
    const p = place(e);
    const still = brush ? Math.hypot(brush.x1 - brush.x0, brush.y1 - brush.y0) < 5 : !held || Math.hypot(held.x - p.x, held.y - p.y) < 5;
    if (still) {
      const at = under(p);
      if (at.inside) {
        state.cursor = { column: Math.max(columnAt(state.heat, at.time), 0), row: Math.floor(at.row) };
        open(state.cursor.row);
      }
    } else if (brush) {
      const a = under({ x: Math.min(brush.x0, brush.x1), y: Math.min(brush.y0, brush.y1) });
      const z = under({ x: Math.max(brush.x0, brush.x1), y: Math.max(brush.y0, brush.y1) });
      look({ t0: a.time, t1: z.time, r0: a.row, r1: z.row });
    }
    draw();
  });
  canvas.addEventListener("pointercancel", () => {
    grabbed = null;
    state.brush = null;
    draw();
  });
  canvas.addEventListener("pointerleave", () => !state.brush && readout(state.cursor ? tell(state.cursor.column, state.cursor.row) : say("help")));
  canvas.addEventListener(
    "wheel",
    (e) => {
      if (!state.picture || !(e.ctrlKey || e.metaKey)) return; // otherwise the page scrolls
      e.preventDefault();
      const at = under(place(e));
      look(zoomed(state.view, e.deltaY > 0 ? 1.25 : 0.8, at.time, at.row));
    },
    { passive: false },
  );
  canvas.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || !state.picture || !press(e.key)) return;
    e.preventDefault();
    e.stopPropagation();
  });
  const redo = () => state.picture && (render(), draw());
  for (const name of ["shard", "brightness", "normalise"]) part(name).addEventListener("input", redo);
  part("in").addEventListener("click", () => press("+"));
  part("out").addEventListener("click", () => press("-"));
  part("reset").addEventListener("click", () => press("0"));
  part("pan").addEventListener("input", (e) => canvas.classList.toggle("pans", e.target.checked));
  new ResizeObserver(draw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redo);
  new MutationObserver(redo).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
}

// press handles a key and returns whether it was used.
function press(key) {
  const rows = state.picture.shown.length;
  const columns = state.heat.columns.length;
  if (rows === 0 || columns === 0) return false;
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], PageUp: [0, -10], PageDown: [0, 10], Home: [-columns, 0], End: [columns, 0] };
  const cursor = state.cursor ?? { column: columns - 1, row: Math.floor((state.view.r0 + state.view.r1) / 2) };
  const step = steps[key];
  if (step) {
    const first = !state.cursor;
    state.cursor = first ? cursor : { column: clamp(cursor.column + step[0], columns), row: clamp(cursor.row + step[1], rows) };
    reveal();
    readout(tell(state.cursor.column, state.cursor.row));
    draw();
    return true;
  }
  const c = state.cursor ? state.heat.columns[cursor.column] : null;
  const time = c ? (c.from + c.to) / 2 : (state.view.t0 + state.view.t1) / 2;
  const row = state.cursor ? cursor.row + 0.5 : (state.view.r0 + state.view.r1) / 2;
  switch (key) {
    case "+":
    case "=":
      look(zoomed(state.view, 0.6, time, row));
      return true;
    case "-":
      look(zoomed(state.view, 1 / 0.6, time, row));
      return true;
    case "0":
    case "Escape":
      look(state.all);
      return true;
    case "Enter":
      if (state.cursor) open(state.cursor.row);
      return true;
  }
  return false;
}

const clamp = (n, of) => Math.min(Math.max(n, 0), of - 1);

// reveal moves the view to the cursor.
function reveal() {
  const { view, cursor } = state;
  const c = state.heat.columns[cursor.column];
  const time = c.from < view.t0 ? c.from - view.t0 : c.to > view.t1 ? c.to - view.t1 : 0;
  const rows = cursor.row < view.r0 ? cursor.row - view.r0 : cursor.row + 1 > view.r1 ? cursor.row + 1 - view.r1 : 0;
  if (time || rows) look(moved(view, time, rows));
}

// --- up to the minute ---

async function refresh() {
  if (document.hidden) return;
  const answer = await fetch(location.pathname + location.search, { headers: { Accept: "text/html" }, credentials: "same-origin" });
  if (!answer.ok) return;
  const doc = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (Boolean(doc.getElementById("heat-map")) !== Boolean(root)) {
    location.reload(); // counting has started, or the page has changed
    return;
  }
  for (const id of ["heat-lists", "heat-table"]) {
    const is = document.getElementById(id);
    const to = doc.getElementById(id);
    if (is && to) morph(is, to);
  }
}

async function turn() {
  try {
    await refresh();
    if (root) await fetchMap();
  } catch {
    // The server is not reachable, as the header shows. The next turn tries again.
  }
}

async function start() {
  if (root) {
    listen();
    try {
      await fetchMap();
      if (state.heat.columns.length === 0) readout(say("empty"));
    } catch (err) {
      readout(say("failed", { error: err.message }));
    }
  }
  // Rates are counted every ten seconds and available about three seconds later; a long window
  // changes little in that time and costs the server more.
  const calm = ["1h", "6h", "24h"].includes(root?.dataset.window);
  const every = calm ? minute : minute / 6;
  const next = () => setTimeout(() => turn().finally(next), every - ((Date.now() - 5000) % every));
  next();
  document.addEventListener("visibilitychange", () => document.hidden || turn());
}
start();
