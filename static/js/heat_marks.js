// Puts the marks of what happened above the heat map's time axis. They are links of the page, which
// is a list of them without this script. One of them can be reached by Tab, the others by arrow keys.
import { cellArea, xOf } from "./heat_axes.js";
import { marksAt } from "./heat_mark_parts.js";
import { part, root, state } from "./heat_state.js";

const wide = 22; // px a mark takes
const high = 22;

const list = () => /** @type {HTMLElement} */ (root?.querySelector(".heatmarks"));
const shown = () => /** @type {HTMLElement[]} */ ([...list().querySelectorAll("li:not([hidden]) a")]);

let placed = ""; // what the places are of
/** @type {import("./api.js").HeatMark[] | null} */
let known = null; // the marks that are placed
let lines = 1; // that the marks have needed so far

/**
 * placeMarks moves the marks to their times, in as many lines as they need.
 * @param {import("./heat_axes.js").Area} [area]
 */
export function placeMarks(area = cellArea()) {
  const { t0, t1 } = state.view;
  const now = [t0, t1, area.x, area.w].join();
  if (now === placed && known === state.heat.marks) return;
  placed = now;
  known = state.heat.marks;
  takeMarks(marksAt(((t1 - t0) / area.w) * wide));
  /** @type {number[]} */
  const ends = []; // by line, where its last mark ends
  for (const li of /** @type {HTMLElement[]} */ ([...list().children])) {
    const at = Number(li.dataset.at);
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
/** @param {import("./heat_mark_parts.js").Mark[]} marks */
function takeMarks(marks) {
  const ol = list();
  const had = new Map([...ol.children].map((li) => [/** @type {HTMLElement} */ (li).dataset.key, /** @type {HTMLElement} */ (li)]));
  const focused = /** @type {HTMLElement | null} */ (document.activeElement?.closest(".heatmarks li") ?? null);
  const items = marks.map((m) => filled(had.get(m.key) ?? element(), m));
  for (const li of had.values()) if (!items.includes(li)) li.remove();
  let next = ol.firstElementChild;
  for (const li of items) {
    if (li === next) next = next.nextElementSibling;
    else ol.insertBefore(li, next);
  }
  if (!focused || focused.isConnected || !items.length) return;
  const off = (/** @type {HTMLElement} */ li) => Math.abs(Number(li.dataset.at) - Number(focused.dataset.at));
  const near = items.reduce((a, b) => (off(b) < off(a) ? b : a));
  near.querySelector("a")?.focus({ preventScroll: true });
}

// element is a mark as the page writes it.
function element() {
  const li = document.createElement("li");
  const a = li.appendChild(document.createElement("a"));
  a.appendChild(document.createElement("b")).setAttribute("aria-hidden", "true");
  a.append(" ", document.createElement("span"));
  return li;
}

/** @type {(li: HTMLElement, m: import("./heat_mark_parts.js").Mark) => HTMLElement} */
function filled(li, m) {
  const [a] = li.getElementsByTagName("a");
  const [sign] = a.getElementsByTagName("b");
  const [text] = a.getElementsByTagName("span");
  li.dataset.key = m.key;
  li.dataset.at = String(m.at);
  li.className = `mark-${m.kind}`;
  li.classList.toggle("failed", m.failed);
  if (text.textContent === m.text && sign.textContent === m.sign) return li;
  a.href = m.url;
  sign.textContent = m.sign;
  text.textContent = m.text;
  return li;
}

// oneByTab leaves one mark in the order of Tab: the one with the focus, else the newest.
function oneByTab() {
  const links = shown();
  const here = links.find((a) => a === document.activeElement) ?? links[links.length - 1];
  for (const a of links) a.tabIndex = a === here ? 0 : -1;
}

/** listenToMarks attaches the events; draw shows a line at the mark's time. @param {() => void} draw */
export function listenToMarks(draw) {
  const ol = list();
  const show = (/** @type {Event} */ e) => {
    const li = /** @type {Element} */ (e.target).closest("li");
    if (!li) return;
    state.mark = Number(li.dataset.at);
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
    const links = shown();
    const at = links.indexOf(/** @type {HTMLElement} */ (e.target));
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: links.length - 1 }[e.key];
    if (at < 0 || next === undefined) return;
    e.preventDefault();
    e.stopPropagation();
    links[Math.min(Math.max(next, 0), links.length - 1)].focus();
  });
  part("canvas").addEventListener("pointerleave", hide);
}
