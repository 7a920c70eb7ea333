// What the cluster map shows, and how an address says it: the measure, one collection's visible part,
// a shard, a time. Nothing here draws or reads.
import { clamp } from "./pictures.js";

/**
 * @typedef {{by: string, only: string, ns: string, from: number, to: number, at: number}} View
 * by is what a mark shows; ns the collection that is zoomed into, "" for none; from and to its visible
 * part, as fractions of its chunks; only a shard's name, the others are faint; at a past time in ms, 0
 * for now.
 */

const measures = ["shard", "size", "heat", "age"];

/** whole is the view of all collections from end to end. @type {(view: View) => View} */
export const whole = (view) => ({ ...view, ns: "", from: 0, to: 1 });

/** isZoomed tells whether a part of a collection is visible rather than all of it. @param {View} view */
export const isZoomed = (view) => view.ns !== "" && view.to - view.from < 1;

// parse reads a view from an address's query. What is wrong in it counts as not said.
/** @type {(search: string) => View} */
export function parse(search) {
  const q = new URLSearchParams(search);
  const by = q.get("by") ?? "";
  const ns = q.get("ns") ?? "";
  const from = fraction(q.get("from"), 0);
  const to = fraction(q.get("to"), 1);
  const at = q.get("at") ?? "";
  const time = /^\d+$/.test(at) ? Number(at) : Date.parse(at);
  return {
    by: measures.includes(by) ? by : "shard",
    only: q.get("only") ?? "",
    ns,
    ...(ns && from < to ? { from, to } : { from: 0, to: 1 }),
    at: Number.isFinite(time) ? time : 0,
  };
}

/** @type {(text: string | null, otherwise: number) => number} */
function fraction(text, otherwise) {
  const n = text === null || text.trim() === "" ? NaN : Number(text);
  return n >= 0 && n <= 1 ? n : otherwise;
}

// write puts a view into an address's query and leaves everything else there as it is.
/** @type {(search: string, view: View, total: number) => string} */
export function write(search, view, total) {
  const q = new URLSearchParams(search);
  const put = (/** @type {string} */ name, /** @type {string} */ value) => (value ? q.set(name, value) : q.delete(name));
  put("by", view.by === "shard" ? "" : view.by);
  put("only", view.only);
  put("ns", view.ns);
  put("from", isZoomed(view) ? short(view.from, total) : "");
  put("to", isZoomed(view) ? short(view.to, total) : "");
  put("at", view.at ? new Date(view.at).toISOString().replace(/\.\d+Z$/, "Z") : "");
  const text = q.toString();
  return text && `?${text}`;
}

// short has as many digits as tell a hundredth of a chunk apart, so that links stay short.
/** @type {(n: number, total: number) => string} */
const short = (n, total) => String(Number(n.toFixed(Math.ceil(Math.log10(Math.max(total, 1))) + 2)));

// within keeps the visible part inside of a collection, and at least one chunk wide.
/** @type {(view: View, total: number) => View} */
export function within(view, total) {
  const span = clamp(view.to - view.from, 1 / Math.max(total, 1), 1);
  const from = clamp(view.from, 0, 1 - span);
  return { ...view, from, to: from + span };
}

// zoomed makes the visible part smaller (by < 1) or larger; what is at the place `at` stays there.
/** @type {(view: View, by: number, at: number, total: number) => View} */
export function zoomed(view, by, at, total) {
  const { from, to } = view;
  return within({ ...view, from: at - (at - from) * by, to: at + (to - at) * by }, total);
}

/** moved shifts the visible part by a share of its width. @type {(view: View, by: number, total: number) => View} */
export function moved(view, by, total) {
  const shift = by * (view.to - view.from);
  return within({ ...view, from: view.from + shift, to: view.to + shift }, total);
}

// centred is the view whose middle is at a place of the collection, 0 to 1.
/** @type {(view: View, place: number, total: number) => View} */
export function centred(view, place, total) {
  const half = (view.to - view.from) / 2;
  return within({ ...view, from: place - half, to: place + half }, total);
}

// levelOf is the tiles' level at which two of them cover a part, without more levels than there are chunks for.
/** @type {(from: number, to: number, total: number, marks: number) => number} */
export function levelOf(from, to, total, marks) {
  const wanted = Math.floor(Math.log2(1 / Math.max(to - from, 1e-9)));
  const useful = Math.ceil(Math.log2(Math.max(total / marks, 1)));
  return clamp(Math.min(wanted, useful), 0, 20);
}

// indexesOf are the tiles of a level that cover a part.
/** @type {(from: number, to: number, level: number) => number[]} */
export function indexesOf(from, to, level) {
  const count = 2 ** level;
  const out = [];
  for (let i = Math.min(Math.floor(from * count), count - 1); i < count && i / count < to; i++) out.push(i);
  return out;
}
