// Holds back what would move the rows that a person reads: a list that has the pointer, the focus or
// something open, or that begins above the window, keeps its rows. A button tells how many new ones wait.
import { word } from "./words.js";

const edge = 56; // height of what covers the top of the window, px
let finger = false; // the last pointer was one: it leaves no pointer behind
addEventListener("pointerover", (e) => (finger = e.pointerType === "touch"), { capture: true, passive: true });

/** listsOf are the lists of a region that can be held. @param {Element} region */
export const listsOf = (region) => /** @type {HTMLElement[]} */ ([...region.querySelectorAll("[data-held]")]);

/** @param {HTMLElement} list */
function isRead(list) {
  const { top, bottom } = list.getBoundingClientRect();
  return (
    list.contains(document.activeElement) || (!finger && list.matches(":hover")) ||
    list.querySelector("details[open], dialog[open]") || (scrollY > 0 && top < edge && bottom > edge)
  );
}

/**
 * holdRows makes of a new version of a region one in which lists that are read keep their rows; the same if none is read.
 * @type {(region: HTMLElement, fresh: HTMLElement) => HTMLElement}
 */
export function holdRows(region, fresh) {
  const read = listsOf(region).map((list) => (isRead(list) ? list : null));
  if (!read.some(Boolean)) return fresh;
  const version = /** @type {HTMLElement} */ (fresh.cloneNode(true));
  let held = false;
  listsOf(version).forEach((to, i) => {
    const from = read[i];
    const words = to.dataset.held ?? "";
    const n = from?.dataset.held === words ? freeze(from, to) : -1;
    if (n < 0) return;
    held = true;
    const [one, many] = words.split("|");
    (to.closest("table") ?? to).before(notice(`held-${i}`, n === 0 ? word("reordered") : n === 1 ? one : many.replace("{n}", `${n}`)));
  });
  return held ? version : fresh;
}

// freeze gives a new list the rows of the old one, in their order; only rows after them are added. It
// returns how many new rows it left out, or -1 if nothing had to be held.
/** @type {(from: HTMLElement, to: HTMLElement) => number} */
function freeze(from, to) {
  const list = rowsOf(to);
  const next = new Map(list.map((el) => [el.dataset.key, el]));
  const rows = rowsOf(from).map((old) => next.get(old.dataset.key) ?? departed(old));
  const kept = new Set(rows);
  const last = list.findLastIndex((el) => kept.has(el));
  const out = list.filter((el, i) => !kept.has(el) && (last < 0 || i < last));
  if (out.length === 0 && rows.every((el, i) => el === list[i])) return -1;
  to.replaceChildren(...rows, ...list.filter((_, i) => last >= 0 && i > last));
  return out.filter((el) => !el.matches(".reasons")).length;
}

/** @param {Element} list */
const rowsOf = (list) => /** @type {HTMLElement[]} */ ([...list.children]);

/** @param {HTMLElement} old */
function departed(old) {
  const row = /** @type {HTMLElement} */ (old.cloneNode(true));
  row.setAttribute("data-gone", "");
  return row;
}

/**
 * notice is a button above what waits. It takes no room, so that nothing moves when it comes or goes.
 * @type {(key: string, text: string) => HTMLParagraphElement}
 */
export function notice(key, text) {
  const p = document.createElement("p");
  const button = document.createElement("button");
  p.className = "held";
  p.dataset.key = key;
  button.type = "button";
  button.textContent = text;
  p.append(button);
  return p;
}
