// The live text below the cluster map: the mark under the pointer or the cursor, with its bounds and its
// project once the server has told them, and links to it.
import { address } from "./address.js";
import { setText } from "./elements.js";
import { draw } from "./map_draw.js";
import { markOf } from "./map_lane.js";
import { part, root, say, screen, state, timed } from "./map_state.js";
import { bandText, chunkText, markText } from "./map_text.js";
import { isTouched } from "./pictures.js";
import { latest, messageOf, readJSON } from "./requests.js";
/** @import { MapChunk } from "./api.js" */
/** @import { Mark } from "./map_lane.js" */
/** @import { Row } from "./map_layout.js" */

const rest = 150; // ms that a pointer rests on a chunk before its bounds are read

let asked = ""; // what the text is about
let timer = 0;
const requests = latest();

/** describe writes what is at the pointer, else at the cursor, else how the map is used. */
export function describe() {
  const at = state.hover ?? state.cursor;
  const row = at && rowOf(at.ns);
  if (!row) return write(say(isTouched() ? "touch" : "help"));
  const mark = row.band.total > 0 ? markOf(row, at.position) : null;
  if (!mark) return write(row.band.total > 0 ? say("reading") : bandText(row));
  const text = markText(row, mark);
  const { tile, i } = mark;
  if (tile.chunks[i] > 1) return write(text, `${text} · ${say("zoom")}`);
  const key = `${row.band.ns} ${row.band.version} ${tile.at[i]} ${text}`;
  if (key === asked) return;
  write(text);
  asked = key;
  timer = setTimeout(() => readChunk(row.band.ns, tile.at[i], key, text), rest);
}

/** rowOf is the row of a collection. @type {(ns: string) => Row | undefined} */
export const rowOf = (ns) => screen.layout.rows.find((r) => r.band.ns === ns);

/** write replaces the text, which screen readers read out. @type {(text: string, full?: string) => void} */
export function write(text, full = text) {
  clearTimeout(timer);
  requests.abort();
  asked = "";
  setText(part("readout"), full);
}

/** chunkAt reads one chunk. @type {(ns: string, position: number, signal?: AbortSignal) => Promise<MapChunk>} */
function chunkAt(ns, position, signal) {
  const q = timed(state.view.at, { position: String(position) });
  return readJSON(address(`/api/v1/map/${encodeURIComponent(ns)}/chunk?${q}`), signal);
}

/** @type {(ns: string, position: number, key: string, text: string) => Promise<void>} */
async function readChunk(ns, position, key, text) {
  try {
    const more = chunkText(await chunkAt(ns, position, requests.begin()));
    if (asked === key && more) setText(part("readout"), `${text} · ${more}`);
  } catch {
    // The mark's own facts stay; the header shows when the server is not reachable.
  }
}

// open leads to the chunk at the cursor, or zooms into a mark of several chunks by calling zoom.
/** @param {(row: Row, mark: Mark) => void} zoom */
export async function open(zoom) {
  const { cursor } = state;
  const row = cursor && rowOf(cursor.ns);
  if (!row) return;
  if (row.band.total === 0) return location.assign(address(`/collections/${encodeURIComponent(row.band.ns)}`));
  const mark = markOf(row, cursor.position);
  if (!mark) return;
  if (mark.tile.chunks[mark.i] > 1) return zoom(row, mark);
  try {
    const { url } = await chunkAt(row.band.ns, mark.tile.at[mark.i]);
    if (url) location.assign(root?.dataset.window ? `${url}?window=${root.dataset.window}` : url);
    else write(say("hidden"));
  } catch (err) {
    write(say("failed", { error: messageOf(err) }));
  }
  draw();
}
