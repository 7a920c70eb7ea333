// Chooses a time in the picture of the changelog: by dragging over it, or with the arrow keys (Shift
// keeps what was chosen, Enter goes there). Without this script each bar is a link.
import { all, around, modified } from "./elements.js";
import { clamp } from "./pictures.js";

/** @type {(e: Event) => SVGSVGElement | null} */
const picture = (e) => around(e, ".histogram svg");

/** @typedef {{svg: SVGSVGElement, from: number, mark: SVGRectElement | null}} Drag from is where it began, 0 to 1 */

/** @type {Drag | null} */
let drag = null;
let anchor = ""; // key of the bar at which Shift was pressed first

export function listenHistogram() {
  document.addEventListener("pointerdown", (e) => {
    const svg = picture(e);
    if (svg && e.button === 0 && e.pointerType === "mouse") drag = { svg, from: place(svg, e), mark: null };
  });
  document.addEventListener("dragstart", (e) => picture(e) && e.preventDefault());
  document.addEventListener("pointermove", (e) => drag && draw(drag, e));
  document.addEventListener("pointerup", (e) => {
    if (!drag) return;
    const { svg, from, mark } = drag;
    drag = null;
    if (!mark) return;
    mark.remove();
    delete svg.dataset.dragging;
    const to = place(svg, e);
    addEventListener("click", (c) => (c.preventDefault(), c.stopPropagation()), { capture: true, once: true });
    go(svg, Math.min(from, to), Math.max(from, to));
  });
  document.addEventListener("keydown", followKey);
}

/** place is where a pointer is, 0 to 1. @type {(svg: SVGSVGElement, e: PointerEvent) => number} */
function place(svg, e) {
  const { left, width } = svg.getBoundingClientRect();
  return clamp((e.clientX - left) / width, 0, 1);
}

/** @type {(drag: Drag, e: PointerEvent) => void} */
function draw(drag, e) {
  const { svg, from } = drag;
  const to = place(svg, e);
  if (!drag.mark && Math.abs(to - from) * svg.clientWidth < 5) return;
  svg.dataset.dragging = ""; // live updates wait
  drag.mark ??= svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "rect"));
  const box = { class: "brush", x: Math.min(from, to) * 1000, width: Math.abs(to - from) * 1000, height: 68 };
  for (const [name, value] of Object.entries(box)) drag.mark.setAttribute(name, String(value));
}

// go leads to the page of the whole bars between two places.
/** @type {(svg: SVGSVGElement, from: number, to: number) => void} */
function go(svg, from, to) {
  const { begin, wide } = svg.dataset;
  const bars = Number(svg.dataset.bars);
  const at = (/** @type {number} */ i) => new Date(Number(begin) + i * Number(wide)).toISOString().slice(0, 16);
  narrow(at(Math.floor(from * bars)), at(Math.max(Math.ceil(to * bars), Math.floor(from * bars) + 1)));
}

/** @type {(from: string, to: string) => void} */
function narrow(from, to) {
  const url = new URL(location.href);
  for (const name of ["page", "last"]) url.searchParams.delete(name);
  url.searchParams.set("from", from);
  url.searchParams.set("to", to);
  location.assign(url);
}

/** queryOf is a value of the address that a bar leads to. @type {(bar: SVGAElement, name: string) => string} */
const queryOf = (bar, name) => new URL(bar.href.baseVal, location.href).searchParams.get(name) ?? "";

/** @param {KeyboardEvent} e */
function followKey(e) {
  const here = around(e, ".histogram a");
  const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
  if (!(here instanceof SVGAElement) || modified(e)) return;
  const bars = all(".histogram a", here.parentElement ?? document, SVGAElement);
  const chosen = bars.filter((a) => a.hasAttribute("data-chosen"));
  if (e.key === "Enter" && chosen.length > 1) {
    e.preventDefault();
    return narrow(queryOf(chosen[0], "from"), queryOf(chosen[chosen.length - 1], "to"));
  }
  const next = step && bars[bars.indexOf(here) + step];
  if (!next) return;
  e.preventDefault();
  anchor = e.shiftKey ? anchor || (here.dataset.key ?? "") : "";
  next.focus();
  const ends = [bars.findIndex((a) => a.dataset.key === anchor), bars.indexOf(next)].sort((a, b) => a - b);
  bars.forEach((a, i) => a.toggleAttribute("data-chosen", anchor !== "" && i >= ends[0] && i <= ends[1]));
}
