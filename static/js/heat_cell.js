// Finds the cell of the heat map at a point, and says below the map what it shows.
import { setText } from "./elements.js";
import { columnAt, ownerAt, UNKNOWN, ZERO } from "./heat_data.js";
import { spanText } from "./heat_view.js";
import { shareText, timeAndRow } from "./heat_axes.js";
import { part, say, state } from "./heat_state.js";
import { joined, rate } from "./numbers.js";
import { isTouched } from "./pictures.js";
/** @import { Column, Row } from "./heat_data.js" */
/** @import { Point } from "./heat_state.js" */

/** help says how to use the picture with what there is: a finger, or mouse and keys. */
export const help = () => say(isTouched() ? "touch" : "help");

/** pointOf is where a pointer event is, in the canvas's CSS pixels. @type {(e: MouseEvent) => Point} */
export const pointOf = ({ offsetX, offsetY }) => ({ x: offsetX, y: offsetY });

/** describePoint shows what is at a point, or the help. @param {Point} point */
export function describePoint(point) {
  const { time, row, inside } = timeAndRow(point);
  readout(inside ? cellText(columnAt(state.heat, time), Math.floor(row)) : help());
}

/** describeCursor shows what the cursor is on, or what is selected by keys, or the help. */
export function describeCursor() {
  const { cursor, selection } = state;
  if (selection && (selection.rows.length > 1 || columnAt(state.heat, selection.from) !== columnAt(state.heat, selection.to - 1))) {
    return readout(say("selected", { n: selection.rows.length, span: spanText(selection) }));
  }
  readout(cursor ? cellText(cursor.column, cursor.row) : help());
}

/** readout replaces the line below the map, which screen readers read out. @param {string} text */
export const readout = (text) => setText(part("readout"), text);

// cellText is a cell's rate, its time with how it was counted, and its row. Column -1 is a gap.
/** @type {(column: number, row: number) => string} */
function cellText(column, row) {
  const index = state.picture.shown[row];
  const r = state.heat.rows[index];
  if (!r) return help();
  const c = state.heat.columns[column];
  const share = shareText(index);
  const where = joined(r.label, r.detail, ownerText(index, r, c), share && say("share", { share }));
  if (!c) return joined(say("gap"), where);
  const level = state.heat.levels[index * state.heat.columns.length + column];
  return joined(rateText(level), spanText(c) + (c.how ? ` (${c.how})` : ""), where);
}

// ownerText is the owner at the time of a cell, beside the present one.
/** @type {(index: number, r: Row, c: Column | undefined) => string} */
function ownerText(index, r, c) {
  if (!r.shard) return "";
  if (r.mixed) return say("mixed", { shard: r.shard });
  const then = c ? ownerAt(state.heat, index, (c.from + c.to) / 2) : "";
  if (then === r.shard) return then;
  return then ? say("ownerthen", { shard: then, now: r.shard }) : say("ownerunknown", { now: r.shard });
}

/** @param {number} level */
function rateText(level) {
  if (level === UNKNOWN) return say("unknown");
  return level === ZERO ? say("zero") : say("about", { n: rate(state.heat.rate(level)) });
}
