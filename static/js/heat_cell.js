// Finds the cell of the heat map at a point, and says below the map what it shows.
import { columnAt, UNKNOWN, ZERO } from "./heat_data.js";
import { spanText } from "./heat_view.js";
import { openRow } from "./heat_row.js";
import { cellArea, rowName } from "./heat_frame.js";
import { number, part, root, say, state } from "./heat_state.js";

/** pointOf is where a pointer event is, in the canvas's CSS pixels. */
export function pointOf(e) {
  const canvas = part("canvas").getBoundingClientRect();
  return { x: e.clientX - canvas.left, y: e.clientY - canvas.top };
}

/** timeAndRow is what a point stands for; inside tells whether it is on the cells. */
export function timeAndRow({ x, y }) {
  const area = cellArea();
  const { t0, t1, r0, r1 } = state.view;
  return {
    time: t0 + ((x - area.x) / area.w) * (t1 - t0),
    row: r0 + ((y - area.y) / area.h) * (r1 - r0),
    inside: x >= area.x && x <= area.x + area.w && y >= area.y && y <= area.y + area.h,
  };
}

/** describePoint shows what is at a point, or the help. */
export function describePoint(point) {
  const { time, row, inside } = timeAndRow(point);
  readout(inside ? cellText(columnAt(state.heat, time), Math.floor(row)) : say("help"));
}

/** describeCursor shows what the cursor is on, or the help. */
export function describeCursor() {
  readout(state.cursor ? cellText(state.cursor.column, state.cursor.row) : say("help"));
}

/** readout replaces the line below the map, which screen readers read out. */
export function readout(text) {
  const el = part("readout");
  if (el.textContent !== text) el.textContent = text;
}

// cellText is a cell's rate, its time with how it was counted, and its row. Column -1 is a gap.
function cellText(column, row) {
  const index = state.picture.shown[row];
  const r = state.heat.rows[index];
  if (!r) return say("help");
  const where = joined(rowName(index), r.shard, r.chunks > 1 && say("chunks", { n: r.chunks }));
  const c = state.heat.columns[column];
  if (!c) return joined(say("gap"), where);
  const level = state.heat.levels[index * state.heat.columns.length + column];
  const how = countedHow(c);
  return joined(rateText(level), spanText(c) + (how && ` (${how})`), where);
}

function rateText(level) {
  if (level === UNKNOWN) return say("unknown");
  return level === ZERO ? say("zero") : say("about", { n: number(state.heat.rate(level)) });
}

function countedHow(c) {
  const share = Math.round((c.covered / ((c.to - c.from) / 1000)) * 100);
  const parts = [
    c.sampled && say("sampled"),
    c.atLeast && say("atleast"),
    c.hottest && say("hottest"),
    c.shared && say("shared"),
    share < 95 && say("part", { n: share }),
  ];
  return parts.filter(Boolean).join(", ");
}

const joined = (...parts) => parts.filter(Boolean).join(" · ");

/** openRowAt shows the details of a row below the map. */
export function openRowAt(row) {
  const index = state.picture.shown[row];
  const r = state.heat.rows[index];
  if (!r) return;
  openRow(part("row"), {
    row: r,
    name: rowName(index),
    max: state.heat.rows[index + 1]?.min ?? state.heat.max,
    ns: root.dataset.ns,
    window: root.dataset.window,
  });
}
