// Shows new versions of live regions without disturbing who reads them. A version that would, waits;
// the newest is shown when its button is pressed or nobody is disturbed any more.
import { all, around, make } from "./elements.js";
import { morph, glow } from "./morph.js";
import { refreshTimes, selected } from "./relative_times.js";
import { focusOn, keepPlace } from "./keep_place.js";
import { word } from "./words.js";

/** @type {Map<HTMLElement, HTMLElement>} */
const waiting = new Map(); // region → its newest version, not all of which is shown
const every = 400; // ms after which what waits is looked at again
let timer = 0; // of the next look; 0 for none

// showRegion makes a region equal to a new version of it, if there is one, as far as that disturbs nobody.
/** @type {(region: HTMLElement, fresh: HTMLElement | null, highlight: boolean) => void} */
export function showRegion(region, fresh, highlight) {
  if (!fresh) return;
  waiting.delete(region);
  if (selected(region) || region.querySelector("dialog[open], [data-dragging]")) {
    waiting.set(region, fresh);
    if (!region.querySelector(":scope > .held")) region.append(notice("held", word("paused")));
  } else {
    const version = holdRows(region, fresh);
    if (version !== fresh) waiting.set(region, fresh);
    show(region, version, highlight);
  }
  if (!timer && waiting.size > 0) timer = setTimeout(lookAgain, every);
}

function lookAgain() {
  timer = 0;
  for (const [region, fresh] of [...waiting]) {
    if (region.isConnected) showRegion(region, fresh, true);
    else waiting.delete(region);
  }
}

/** @type {(region: HTMLElement, version: HTMLElement, highlight: boolean) => void} */
function show(region, version, highlight) {
  const changed = keepPlace(region, () => morph(region, version));
  refreshTimes(region);
  if (highlight) glow(changed);
}

/** listenHeld shows what waits when its button is pressed. The focus goes to the first row then. */
export function listenHeld() {
  document.addEventListener("click", (e) => {
    const button = around(e, ".held button");
    const region = around(e, "[data-live]");
    const fresh = region && waiting.get(region);
    if (!button || !fresh) return;
    const nth = listsOf(region).findIndex((list) => button.parentElement?.nextElementSibling?.contains(list));
    waiting.delete(region);
    getSelection()?.removeAllRanges();
    button.blur(); // it leaves, and need not hand its focus on
    show(region, fresh, true);
    const list = listsOf(region)[nth];
    if (!list) return;
    list.scrollIntoView({ block: "nearest", behavior: "instant" });
    if (list.firstElementChild) focusOn(list.firstElementChild.querySelector("a[href], button, summary") ?? list.firstElementChild);
  });
}

// A list that has the pointer, the focus or something open, or that begins above the window, keeps its rows: they are
// held back, and a button tells how many new ones wait.

const edge = 56; // height of what covers the top of the window, px
let finger = false; // the last pointer was one: it leaves no pointer behind
addEventListener("pointerover", (e) => (finger = e.pointerType === "touch"), { capture: true, passive: true });

/** listsOf are the lists of a region that can be held. @param {Element} region */
const listsOf = (region) => all("[data-held]", region);

/** @param {HTMLElement} list */
function isRead(list) {
  const { top, bottom } = list.getBoundingClientRect();
  return (
    list.contains(document.activeElement) || (!finger && list.matches(":hover")) ||
    list.querySelector("details[open], dialog[open]") || (scrollY > 0 && top < edge && bottom > edge)
  );
}

// holdRows makes of a new version of a region one in which lists that are read keep their rows; the same if none is read.
/** @type {(region: HTMLElement, fresh: HTMLElement) => HTMLElement} */
function holdRows(region, fresh) {
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
  const list = all(":scope > *", to);
  const next = new Map(list.map((el) => [el.dataset.key, el]));
  const rows = all(":scope > *", from).map((old) => next.get(old.dataset.key) ?? departed(old));
  const kept = new Set(rows);
  const last = list.findLastIndex((el) => kept.has(el));
  const out = list.filter((el, i) => !kept.has(el) && (last < 0 || i < last));
  if (out.length === 0 && rows.every((el, i) => el === list[i])) return -1;
  to.replaceChildren(...rows, ...list.filter((_, i) => last >= 0 && i > last));
  return out.filter((el) => !el.matches(".reasons")).length;
}

/** @param {HTMLElement} old */
function departed(old) {
  const row = /** @type {HTMLElement} */ (old.cloneNode(true));
  row.setAttribute("data-gone", "");
  return row;
}

// notice is a button above what waits. It takes no room, so that nothing moves when it comes or goes.
/** @type {(key: string, text: string) => HTMLParagraphElement} */
function notice(key, text) {
  const p = make("p", { className: "held" }, make("button", { type: "button" }, text));
  p.dataset.key = key;
  return p;
}
