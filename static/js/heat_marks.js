// Puts the marks of what happened above the heat map's time axis. They are links of the page, which
// is a list of them without this script. One of them can be reached by Tab, the others by arrow keys.
import { cellArea, xOf } from "./heat_axes.js";
import { part, root, state } from "./heat_state.js";

const wide = 22; // px a mark takes
const high = 22;

const list = () => /** @type {HTMLElement} */ (root.querySelector(".heatmarks"));
const shown = () => /** @type {HTMLElement[]} */ ([...list().querySelectorAll("li:not([hidden]) a")]);

let placed = ""; // what the places are of

/** placeMarks moves the marks to their times, in as many lines as they need. */
export function placeMarks(area = cellArea()) {
  const { t0, t1 } = state.view;
  const now = [t0, t1, area.x, area.w].join();
  if (now === placed) return;
  placed = now;
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
  list().style.height = `${Math.max(ends.length, 1) * high}px`;
  oneByTab();
}

/** replaceMarks places the marks again after the page got new ones. */
export function replaceMarks() {
  placed = "";
  if (state.picture) placeMarks();
}

// oneByTab leaves one mark in the order of Tab: the one with the focus, else the newest.
function oneByTab() {
  const links = shown();
  const here = links.find((a) => a === document.activeElement) ?? links[links.length - 1];
  for (const a of links) a.tabIndex = a === here ? 0 : -1;
}

/** listenToMarks attaches the events; draw shows a line at the mark's time. */
export function listenToMarks(draw) {
  const ol = list();
  const show = (e) => {
    const li = e.target.closest("li");
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
