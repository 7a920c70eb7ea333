// A table with data-grid is one stop of the Tab key; arrow keys, Home, End, Page Up and Page Down move
// between its cells, with Ctrl to the first and last row, and Enter follows a cell's link. Without script it is a table with links.
import { base } from "./address.js";
import { reloadRegions } from "./live.js";
import { pushAddress } from "./shown_address.js";

const rowsOfPage = 10; // rows by which Page Up and Page Down move

export function enhanceGrid() {
  for (const grid of /** @type {NodeListOf<HTMLTableElement>} */ (document.querySelectorAll("table[data-grid]"))) prepare(grid);
  // A region that was empty may get its table later, and a table new rows.
  const main = document.getElementById("main");
  if (main?.querySelector('[data-live^="matrix:"]')) {
    new MutationObserver(() => {
      for (const grid of /** @type {NodeListOf<HTMLTableElement>} */ (document.querySelectorAll("table[data-grid]"))) prepare(grid);
    }).observe(main, { childList: true, subtree: true });
  }
  document.addEventListener("keydown", moveByKey);
  document.addEventListener("focusin", (e) => {
    const at = /** @type {Element} */ (e.target);
    const grid = at.closest?.("table[data-grid]");
    const cell = at.closest?.("td, th");
    if (grid && cell) setCurrent(/** @type {HTMLTableElement} */ (grid), at);
  });
  document.addEventListener("click", swapByLink);
}

// prepare makes one element of the table reachable by Tab, all others by arrow keys.
/** @param {HTMLTableElement} grid */
function prepare(grid) {
  if (grid.getAttribute("role") !== "grid") grid.setAttribute("role", "grid");
  const box = grid.parentElement;
  if (box?.getAttribute("tabindex") === "0") box.setAttribute("tabindex", "-1"); // scrolled by the grid's own keys
  let current = null;
  for (const cell of cells(grid)) {
    const stops = targets(cell);
    if (stops[0] !== cell && cell.hasAttribute("tabindex")) cell.removeAttribute("tabindex");
    for (const el of new Set([...stops, ...cell.querySelectorAll("a")])) {
      const index = el.getAttribute("tabindex");
      if (index === "0" && !current) current = el;
      else if (index !== "-1") el.setAttribute("tabindex", "-1");
    }
  }
  if (!current) targets(cells(grid)[0] ?? grid)[0]?.setAttribute("tabindex", "0");
}

/** @param {HTMLTableElement} grid @returns {HTMLTableCellElement[]} */
function cells(grid) {
  return [...grid.rows].flatMap((row) => [...row.cells]);
}

// targets are what takes the focus in a cell: its visible links, else the cell itself.
/** @type {(cell: Element) => HTMLElement[]} */
function targets(cell) {
  const links = /** @type {HTMLElement[]} */ ([...cell.querySelectorAll("a")]).filter((link) => link.offsetParent);
  return links.length > 0 ? links : [/** @type {HTMLElement} */ (cell)];
}

/** @param {HTMLTableElement} grid @param {Element} at */
function setCurrent(grid, at) {
  for (const el of grid.querySelectorAll('[tabindex="0"]')) if (el !== at) el.setAttribute("tabindex", "-1");
  if (at.getAttribute("tabindex") !== "0") at.setAttribute("tabindex", "0");
}

/** @param {KeyboardEvent} e */
function moveByKey(e) {
  if (e.altKey || e.shiftKey || e.metaKey) return;
  const at = /** @type {HTMLElement} */ (e.target);
  const grid = /** @type {HTMLTableElement | null} */ (at.closest?.("table[data-grid]") ?? null);
  const cell = /** @type {HTMLTableCellElement | null} */ (at.closest?.("td, th") ?? null);
  if (!grid || !cell) return;
  if (e.key === "Enter" && !e.ctrlKey && at === cell) return openRow(cell);
  const next = nextTarget(grid, cell, at, e);
  if (!next) return;
  e.preventDefault();
  next.focus({ preventScroll: true });
  showCell(grid, /** @type {HTMLElement} */ (next.closest("td, th")));
}

// nextTarget is what a key leads to from a cell; null if it is not one of the grid's keys.
/** @param {HTMLTableElement} grid @param {HTMLTableCellElement} cell @param {HTMLElement} at @param {KeyboardEvent} e */
function nextTarget(grid, cell, at, e) {
  const row = /** @type {HTMLTableRowElement} */ (cell.parentElement);
  const last = grid.rows.length - 1;
  const line = [...row.cells].flatMap(targets);
  const place = line.indexOf(at);
  // A group of columns spans several: rows are followed by column, not by position.
  const inRow = (/** @type {number} */ index) => {
    const to = grid.rows[Math.min(Math.max(index, 0), last)];
    return to && targets(cellAt(to, columnOf(cell)))[0];
  };
  switch (e.key) {
    case "ArrowRight":
      return line[Math.min(place + 1, line.length - 1)];
    case "ArrowLeft":
      return line[Math.max(place - 1, 0)];
    case "ArrowDown":
      return inRow(row.rowIndex + 1);
    case "ArrowUp":
      return inRow(row.rowIndex - 1);
    case "PageDown":
      return inRow(row.rowIndex + rowsOfPage);
    case "PageUp":
      return inRow(row.rowIndex - rowsOfPage);
    case "Home":
      return e.ctrlKey ? targets(grid.rows[0].cells[0])[0] : line[0];
    case "End":
      return e.ctrlKey ? [...grid.rows[last].cells].flatMap(targets).at(-1) : line.at(-1);
  }
  return null;
}

// openRow follows the link of the row's head from a cell that has none of its own.
/** @param {HTMLTableCellElement} cell */
function openRow(cell) {
  const row = /** @type {HTMLTableRowElement} */ (cell.parentElement);
  /** @type {HTMLAnchorElement | null} */ (row.querySelector("th a:not(.fold)"))?.click();
}

/** @param {HTMLTableCellElement} cell */
function columnOf(cell) {
  let column = 0;
  for (let c = cell.previousElementSibling; c; c = c.previousElementSibling) column += /** @type {HTMLTableCellElement} */ (c).colSpan;
  return column;
}

/** @param {HTMLTableRowElement} row @param {number} column */
function cellAt(row, column) {
  let from = 0;
  for (const cell of row.cells) {
    from += cell.colSpan;
    if (column < from) return cell;
  }
  return row.cells[row.cells.length - 1];
}

// showCell scrolls the table so that the cell is not under its head or its first column.
/** @type {(grid: HTMLTableElement, cell: HTMLElement) => void} */
function showCell(grid, cell) {
  const box = grid.parentElement;
  if (!box) return;
  const inside = box.getBoundingClientRect();
  const at = cell.getBoundingClientRect();
  const top = inside.top + (grid.tHead?.getBoundingClientRect().height ?? 0);
  const left = inside.left + (grid.rows[grid.rows.length - 1].cells[0]?.getBoundingClientRect().width ?? 0);
  if (!cell.closest("thead")) {
    if (at.top < top) box.scrollTop -= top - at.top;
    else if (at.bottom > inside.bottom) box.scrollTop += at.bottom - inside.bottom;
  }
  if (cell.previousElementSibling) {
    if (at.left < left) box.scrollLeft -= left - at.left;
    else if (at.right > inside.right) box.scrollLeft += at.right - inside.right;
  } else {
    box.scrollLeft = 0;
  }
  cell.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
}

// swapByLink follows links that change only the table without leaving the page, so that scroll
// position and focus stay.
/** @param {MouseEvent} e */
function swapByLink(e) {
  const link = /** @type {HTMLAnchorElement | null} */ (/** @type {Element} */ (e.target).closest?.(`a[data-swap], [data-grid] a[href^="${base}/matrix"]`) ?? null);
  if (!link || e.defaultPrevented || e.button !== 0 || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
  e.preventDefault();
  pushAddress(link.href);
  reloadRegions(false);
}
