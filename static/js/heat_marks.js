// Puts the marks of what happened above the heat map's time axis. They are links of the page, which
// is a list of them without this script. One of them can be reached by Tab, the others by arrow keys.
import { all, around, make } from "./elements.js";
import { xOf } from "./heat_axes.js";
import { part, root, say, state } from "./heat_state.js";
import { morph } from "./morph.js";
import { clamp } from "./pictures.js";
import { shifted, zoneName } from "./zone.js";
/** @import { HeatMark } from "./api.js" */
/** @import { Area } from "./heat_axes.js" */

/** @typedef {{key: string, kind: string, at: number, sign: string, text: string, url: string, failed: boolean}} Mark */

const signs = /** @type {Record<string, string>} */ ({ move: "→", split: "÷", merge: "∪", run: "▸", alert: "!" });
const wide = 22; // px a mark takes
const high = 22;

const list = () => /** @type {HTMLElement} */ (root?.querySelector(".heatmarks"));
const links = () => all("li:not([hidden]) a", list());

let placed = ""; // what the places are of
let shown = ""; // the marks that the list has
/** @type {HeatMark[] | null} */
let known = null; // the marks that are placed
let lines = 1; // that the marks have needed so far

/** placeMarks moves the marks to their times, in as many lines as they need. @param {Area} area */
export function placeMarks(area) {
  const { t0, t1 } = state.view;
  const now = [t0, t1, area.x, area.w].join();
  if (now === placed && known === state.heat.marks) return;
  placed = now;
  known = state.heat.marks;
  takeMarks(marksAt(((t1 - t0) / area.w) * wide));
  /** @type {number[]} */
  const ends = []; // by line, where its last mark ends
  for (const li of all("li", list())) {
    const at = timeOf(li);
    li.hidden = at < t0 || at > t1;
    if (li.hidden) continue;
    const x = Math.min(xOf(area, at), area.x + area.w - wide / 2);
    let line = ends.findIndex((end) => end <= x - wide / 2);
    if (line < 0) line = ends.push(0) - 1;
    ends[line] = x + wide / 2;
    li.style.left = `${x - wide / 2}px`;
    li.style.top = `${line * high}px`;
    li.classList.toggle("flip", x > area.x + area.w / 2);
  }
  lines = Math.max(ends.length, lines); // it never gets lower, so that what is read below stays in place
  list().style.height = `${lines * high}px`;
  oneByTab();
}

// takeMarks changes the list into other marks. What is in both stays the same element, so it keeps the focus; the
// focus of one that goes passes to the nearest.
/** @param {Mark[]} marks */
function takeMarks(marks) {
  const shows = marks.map((m) => m.key + m.sign + m.text).join();
  if (shows === shown) return;
  shown = shows;
  const ol = list();
  const focused = document.activeElement?.closest(".heatmarks li");
  const fresh = /** @type {Element} */ (ol.cloneNode());
  fresh.append(...marks.map(element));
  morph(ol, fresh);
  if (!focused || focused.isConnected || !marks.length) return;
  const off = (/** @type {Element} */ li) => Math.abs(timeOf(li) - timeOf(focused));
  const near = [...ol.children].reduce((a, b) => (off(b) < off(a) ? b : a));
  near.querySelector("a")?.focus({ preventScroll: true });
}

/** @param {Element} li */
const timeOf = (li) => Number(/** @type {HTMLElement} */ (li).dataset.at);

/** element is a mark as the page writes it. @param {Mark} m */
function element({ key, kind, at, sign, text, url, failed }) {
  const a = make("a", { href: url }, make("b", { ariaHidden: "true" }, sign), " ", make("span", {}, text));
  const li = make("li", { className: `mark-${kind}${failed ? " failed" : ""}` }, a);
  Object.assign(li.dataset, { key, at });
  return li;
}

// oneByTab leaves one mark in the order of Tab: the one with the focus, else the newest.
function oneByTab() {
  const here = links().find((a) => a === document.activeElement) ?? links().at(-1);
  for (const a of links()) a.tabIndex = a === here ? 0 : -1;
}

/** listenToMarks attaches the events; draw shows a line at the mark's time. @param {() => void} draw */
export function listenToMarks(draw) {
  const ol = list();
  const show = (/** @type {Event} */ e) => {
    const li = around(e, "li");
    if (!li) return;
    state.mark = timeOf(li);
    draw();
  };
  const hide = () => {
    state.mark = 0;
    draw();
  };
  ol.addEventListener("pointerover", show);
  ol.addEventListener("pointerout", hide);
  ol.addEventListener("focusin", (e) => {
    oneByTab();
    show(e);
  });
  ol.addEventListener("focusout", hide);
  ol.addEventListener("keydown", (e) => {
    const all = links();
    const at = all.indexOf(/** @type {HTMLElement} */ (e.target));
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[e.key];
    if (at < 0 || next === undefined) return;
    e.preventDefault();
    e.stopPropagation();
    all[clamp(next, 0, all.length - 1)].focus();
  });
  part("canvas").addEventListener("pointerleave", hide);
}

// marksAt are the marks where two of them need so many ms between them, oldest first. A mark that stands for several
// things is divided as soon as these are far enough apart to be told from each other.
/** @type {(apart: number) => Mark[]} */
const marksAt = (apart) => state.heat.marks.flatMap((m) => divided(m, apart)).sort((a, b) => a.at - b.at);

/** divided is a mark, or the marks that it becomes. @type {(m: HeatMark, apart: number) => Mark[]} */
function divided(m, apart) {
  const parts = m.parts ?? [];
  const long = parts.length ? Date.parse(parts[parts.length - 1].at) - Date.parse(parts[0].at) : 0;
  if (long < 2 * apart) return [written(m)];
  /** @type {(typeof parts)[]} */
  const near = [];
  for (const p of parts) {
    const last = near[near.length - 1];
    if (last && Date.parse(p.at) - Date.parse(last[0].at) < apart) last.push(p);
    else near.push([p]);
  }
  return near.map((some) => {
    if (some.length === 1) return written({ ...some[0], kind: m.kind, count: 1 });
    const { at, to } = some[some.length - 1];
    const text = say("some", { n: some.length, all: m.text });
    return written({ at: some[0].at, to: to ?? at, kind: m.kind, count: some.length, text, url: m.url, failed: some.some((p) => p.failed) });
  });
}

/** written is a mark as the page writes it: web/heat. @type {(m: HeatMark) => Mark} */
function written({ at, to, kind, count, text, url, failed = false }) {
  const n = count > 99 ? "99+" : count > 1 ? String(count) : "";
  const begin = Date.parse(at);
  return { key: kind + begin, kind, at: begin, sign: signs[kind] + n, text: `${times(begin, Date.parse(to ?? at))} · ${text}`, url, failed };
}

/** @type {(from: number, to: number) => string} */
function times(from, to) {
  const clock = (/** @type {number} */ t) => shifted(t).toISOString().slice(11, 19);
  return `${clock(from)}\u202f${zoneName(from)}${to - from >= 1000 ? `–${clock(to)}` : ""}`;
}
