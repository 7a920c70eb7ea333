// A table with data-grid is one stop of the Tab key; arrow keys, Home, End, Page Up and Page Down move
// between its cells, with Ctrl to the first and last row, and Enter follows a cell's link. Without script it is a table with links.
import { base, pushAddress } from "./address.js";
import { all, around, modified } from "./elements.js";
import { reloadRegions } from "./live.js";

const rowsOfPage = 10; // rows by which Page Up and Page Down move

export function enhanceGrid() {
  prepareAll();
  document.addEventListener("morph", prepareAll); // a region that was empty may get its table later, and a table new rows
  document.addEventListener("keydown", moveByKey);
  document.addEventListener("focusin", (e) => {
    const cell = around(e, "[data-grid] :is(td, th)");
    if (cell) setCurrent(/** @type {HTMLElement} */ (cell.closest("table")), /** @type {HTMLElement} */ (e.target));
  });
  document.addEventListener("click", swapByLink);
}

const prepareAll = () => all("table[data-grid]", document, HTMLTableElement).forEach(prepare);

/** prepare makes one element of the table reachable by Tab, all others by arrow keys. @param {HTMLTableElement} grid */
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

/** @param {HTMLTableElement} grid */
const cells = (grid) => [...grid.rows].flatMap((row) => [...row.cells]);

// targets are what takes the focus in a cell: its visible links, else the cell itself.
/** @type {(cell: Element) => HTMLElement[]} */
function targets(cell) {
  const links = all("a", cell).filter((link) => link.offsetParent);
  return links.length > 0 ? links : [/** @type {HTMLElement} */ (cell)];
}

/** @type {(grid: HTMLElement, at: HTMLElement) => void} */
function setCurrent(grid, at) {
  for (const el of all('[tabindex="0"]', grid)) if (el !== at) el.tabIndex = -1;
  at.tabIndex = 0;
}

/** @param {KeyboardEvent} e */
function moveByKey(e) {
  if (e.altKey || e.shiftKey || e.metaKey) return;
  const at = /** @type {HTMLElement} */ (e.target);
  const cell = around(e, "[data-grid] :is(td, th)");
  const grid = cell?.closest("table");
  if (!grid || !(cell instanceof HTMLTableCellElement)) return;
  if (e.key === "Enter" && !e.ctrlKey && at === cell) return openRow(cell);
  const next = nextTarget(grid, cell, at, e);
  if (!next) return;
  e.preventDefault();
  next.focus({ preventScroll: true });
  showCell(grid, /** @type {HTMLElement} */ (next.closest("td, th")));
}

// nextTarget is what a key leads to from a cell; undefined if it is not one of the grid's keys.
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
  /** @type {Record<string, () => HTMLElement | undefined>} */
  const keys = {
    ArrowRight: () => line[place + 1] ?? at,
    ArrowLeft: () => line[place - 1] ?? at,
    ArrowDown: () => inRow(row.rowIndex + 1),
    ArrowUp: () => inRow(row.rowIndex - 1),
    PageDown: () => inRow(row.rowIndex + rowsOfPage),
    PageUp: () => inRow(row.rowIndex - rowsOfPage),
    Home: () => (e.ctrlKey ? targets(grid.rows[0].cells[0])[0] : line[0]),
    End: () => (e.ctrlKey ? [...grid.rows[last].cells].flatMap(targets) : line).at(-1),
  };
  return keys[e.key]?.();
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

// showCell scrolls so that the cell is not under the head of the table or its first column.
/** @type {(grid: HTMLTableElement, cell: HTMLElement) => void} */
function showCell(grid, cell) {
  const box = grid.parentElement;
  if (!box) return;
  const top = cell.closest("thead") ? 0 : (grid.tHead?.offsetHeight ?? 0);
  const left = cell.previousElementSibling ? grid.rows[grid.rows.length - 1].cells[0].offsetWidth : 0;
  box.style.scrollPadding = `${top}px 0 0 ${left}px`;
  if (!cell.previousElementSibling) box.scrollLeft = 0;
  cell.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
}

// swapByLink follows links that change only the table without leaving the page, so that scroll
// position and focus stay.
/** @param {MouseEvent} e */
function swapByLink(e) {
  const link = around(e, `a[data-swap], [data-grid] a[href^="${base}/matrix"]`);
  if (!(link instanceof HTMLAnchorElement) || e.defaultPrevented || modified(e) || e.shiftKey) return;
  e.preventDefault();
  pushAddress(link.href);
  reloadRegions(false);
}
