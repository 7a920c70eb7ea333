// Keeps the place of whoever reads while a region changes: what is under the eyes stays at its height,
// and focus never falls to the body.
import { announce, word } from "./words.js";

const focusable = "a[href], button, summary, input, select, textarea, [tabindex]";
const most = 20; // rows beside the one that is read, in case that one leaves

// keepPlace runs change, which changes what is in region, and then puts height and focus back.
/** @type {<R>(region: Element, change: () => R) => R} */
export function keepPlace(region, change) {
  const focused = region.contains(document.activeElement) ? document.activeElement : null;
  const row = focused?.closest("[data-key]") ?? focused;
  const nth = row ? [...row.querySelectorAll(focusable)].findIndex((el) => el === focused) : 0;
  const rows = row ? beside(row) : [];
  const part = row?.parentElement;
  const anchors = anchorsIn(region, focused).map((el) => ({ el, top: el.getBoundingClientRect().top }));
  const result = change();
  const anchor = anchors.find(({ el }) => el.isConnected);
  const shift = anchor ? anchor.el.getBoundingClientRect().top - anchor.top : 0;
  if (Math.abs(shift) >= 1) scrollBy({ top: shift, behavior: "instant" });
  if (focused && !focused.isConnected) {
    const next = rows.find((el) => el.isConnected);
    focusOn(next ? (next.querySelectorAll(focusable)[Math.max(0, nth)] ?? next.querySelector(focusable) ?? next) : headingOf(region, part));
    announce(word("left"));
  }
  return result;
}

// anchorsIn are the rows that should keep their height, best first: the one with the focus or under the
// pointer, or the first that is seen of a page that is scrolled; then those beside it.
/** @type {(region: Element, focused: Element | null) => Element[]} */
function anchorsIn(region, focused) {
  const seen = [focused, [...region.querySelectorAll(":hover")].at(-1)].find((el) => {
    const { bottom = 0, top = 0 } = el?.getBoundingClientRect() ?? {};
    return bottom > 0 && top < innerHeight;
  });
  const row = (seen ?? (scrollY > 0 ? topmost() : null))?.closest("[data-key], #main *");
  return row ? [row, ...beside(row)] : [];
}

// topmost is the first element of the content below what sticks to the edge of the window.
/** @returns {Element | null} */
function topmost() {
  const main = document.getElementById("main");
  for (let y = 90; main && y < innerHeight; y += 24) {
    const el = document.elementFromPoint(main.getBoundingClientRect().left + 200, y);
    if (el && main.contains(el) && el.childElementCount < 3 && !el.closest("thead, .held") && !sticks(el, main)) return el;
  }
  return null;
}

// sticks tells whether an element keeps its place in the window, whatever scrolls.
/** @type {(el: Element, main: Element) => boolean} */
function sticks(el, main) {
  for (let at = /** @type {Element | null} */ (el); at && at !== main; at = at.parentElement) {
    if (/sticky|fixed/.test(getComputedStyle(at).position)) return true;
  }
  return false;
}

/** beside are the rows after a row, and then those before it, nearest first. @type {(row: Element) => Element[]} */
function beside(row) {
  const keyed = [...(row.parentNode?.children ?? [])].filter((el) => el === row || el.hasAttribute("data-key"));
  const at = keyed.indexOf(row);
  return [...keyed.slice(at + 1, at + most), ...keyed.slice(Math.max(0, at - most), at).reverse()];
}

// headingOf is the last heading before a part of a region; the page's if the part is gone too.
/** @type {(region: Element, part: Element | null | undefined) => Element} */
function headingOf(region, part) {
  const before = (/** @type {Element} */ h) => part && h.compareDocumentPosition(part) & Node.DOCUMENT_POSITION_FOLLOWING;
  return (part?.isConnected && [...region.querySelectorAll("h1, h2, h3")].findLast(before)) || document.querySelector("main h1") || region;
}

/** focusOn focuses any element, without scrolling. @param {Element} el */
export function focusOn(el) {
  if (!el.matches(focusable)) el.setAttribute("tabindex", "-1");
  /** @type {HTMLElement} */ (el).focus({ preventScroll: true });
}
