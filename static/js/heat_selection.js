// Selects a part of the heat map, by dragging or by keys, and shows what is in it: the page has it
// from the server for the address with the selection, so a link keeps it.
import { columnAt } from "./heat_data.js";
import { timeAndRow } from "./heat_axes.js";
import { describeCursor, readout } from "./heat_cell.js";
import { draw } from "./heat_frame.js";
import { isOfProjects, root, say, state } from "./heat_state.js";
import { morph } from "./morph.js";
import { clamp } from "./pictures.js";
import { messageOf, readPage } from "./requests.js";
import { replaceAddress } from "./address.js";
/** @import { Place } from "./heat_axes.js" */
/** @import { Brush, Cell } from "./heat_state.js" */

const projects = 50; // that one selection may have

/** selectBetween selects the cells between two. @type {(a: Cell, b: Cell) => void} */
export function selectBetween(a, b) {
  const { columns, rows } = state.heat;
  const { shown } = state.picture;
  const [c0, c1] = [a.column, b.column].map((n) => clamp(n, 0, columns.length - 1)).sort((x, y) => x - y);
  const [r0, r1] = [a.row, b.row].map((n) => clamp(n, 0, shown.length - 1)).sort((x, y) => x - y);
  const keys = shown.slice(r0, r1 + 1).map((i) => rows[i].key);
  state.selection = {
    rows: isOfProjects() ? keys.slice(0, projects) : keys,
    from: columns[c0].from,
    to: columns[c1].to,
  };
  draw();
}

/** selectBox selects the cells under a dragged box of the canvas. @param {Brush} box */
export function selectBox({ x0, y0, x1, y1 }) {
  const a = timeAndRow({ x: Math.min(x0, x1), y: Math.min(y0, y1) });
  const b = timeAndRow({ x: Math.max(x0, x1) - 0.01, y: Math.max(y0, y1) - 0.01 });
  selectBetween(cellOf(a), cellOf(b));
  state.cursor = cellOf(b);
  state.anchor = cellOf(a);
}

// cellOf is the cell of a time and row; a time between two columns belongs to the later one.
/** @type {(place: Pick<Place, "time" | "row">) => Cell} */
export function cellOf({ time, row }) {
  const { columns } = state.heat;
  let column = columnAt(state.heat, time);
  if (column < 0) column = columns.findIndex((c) => c.to > time);
  return { column: column < 0 ? columns.length - 1 : column, row: Math.floor(row) };
}

/** openSelection shows what is selected; with focus, its heading gets the focus. @param {boolean} focus */
export async function openSelection(focus) {
  const { selection } = state;
  if (!selection) return;
  const rows = isOfProjects() ? selection.rows : [...new Set([selection.rows[0], selection.rows[selection.rows.length - 1]])];
  setAddress({ rows: rows.join(), from: selection.from, to: selection.to });
  const place = document.getElementById("heat-selection");
  place?.setAttribute("aria-busy", "true");
  try {
    await refreshPage();
    if (focus) document.getElementById("heat-selected")?.focus();
  } catch (err) {
    readout(say("failed", { error: messageOf(err) }));
  } finally {
    place?.removeAttribute("aria-busy");
  }
}

/** clearSelection takes the selection away; it returns whether there was one. */
export function clearSelection() {
  state.anchor = null;
  const place = document.getElementById("heat-selection");
  const had = Boolean(state.selection || place?.childElementCount);
  state.selection = null;
  setAddress({});
  place?.replaceChildren();
  describeCursor();
  draw();
  return had;
}

/** selectionOfAddress takes over the selection with which the page was opened. */
export function selectionOfAddress() {
  const q = new URLSearchParams(location.search);
  const named = q.get("rows")?.split(",");
  if (!named) return;
  const [from, to] = ["from", "to"].map((name) => Date.parse(q.get(name) ?? "") || Number(q.get(name)));
  const { rows } = state.heat;
  let keys = named;
  if (!isOfProjects()) {
    const at = named.map((key) => rows.findIndex((r) => r.key === key));
    if (at.some((i) => i < 0)) return;
    keys = rows.slice(Math.min(...at), Math.max(...at) + 1).map((r) => r.key);
  }
  state.selection = { rows: keys, from, to };
}

/** @param {{rows?: string, from?: number, to?: number}} selected */
function setAddress(selected) {
  const url = new URL(location.href);
  for (const name of /** @type {const} */ (["rows", "from", "to"])) {
    const value = selected[name];
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, String(value));
  }
  replaceAddress(url.href);
}

const parts = ["heat-lead", "heat-fit", "heat-selection", "heat-table", "heat-lists"];

let begun = 0; // reads; only the last one's answer is shown
/** @type {Promise<void>} */
let last = Promise.resolve(); // the read that began last

/**
 * refreshPage shows the page as it is now or, if another read begins meanwhile, as that one finds it.
 * It throws if the page cannot be read.
 */
export async function refreshPage() {
  last = read(++begun);
  for (let reading; reading !== last; ) {
    reading = last;
    await reading;
  }
}

/** @param {number} mine */
async function read(mine) {
  const { answer, page } = await readPage(location.pathname + location.search);
  if (mine !== begun) return;
  if (!answer.ok) throw new Error(answer.statusText || String(answer.status));
  if (Boolean(page.getElementById("heat-map")) !== Boolean(root)) return location.reload(); // counting has started, or the page has changed
  for (const id of parts) {
    const shown = document.getElementById(id);
    const fresh = page.getElementById(id);
    if (shown && fresh) morph(shown, fresh);
  }
}
