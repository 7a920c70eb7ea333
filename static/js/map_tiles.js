// Reads tiles of the cluster map and keeps them. What is visible is read first, a few at a time; a
// request that nobody needs any more is aborted.
import { address } from "./address.js";
import { state, timed } from "./map_state.js";
import { lastAt } from "./pictures.js";
import { readNewer } from "./requests.js";
/** @import { MapMarks, MapTile } from "./api.js" */
/** @import { Band } from "./map_state.js" */
/** @import { Answer } from "./requests.js" */

/**
 * @typedef {Omit<MapTile, "marks"> & MapMarks} Tile with a list for each property of its marks
 * @typedef {{tile: Tile, etag: string}} Kept
 * @typedef {{key: string, place: string, ns: string, level: number, index: number, marks: number, at: number}} Wanted
 */

export const JUMBO = 1;
export const OUTSIDE = 2;
export const MOVING = 4;

const atOnce = 4; // requests in flight
const kept = 240; // tiles in memory

/** @type {Map<string, Kept>} */
const tiles = new Map(); // with the version in the key; the least recently used first
/** @type {Map<string, string>} */
const newest = new Map(); // a tile's place → the key of what was last shown there
/** @type {Map<string, Wanted>} */
const wanted = new Map(); // key → what to read, in the order of need
/** @type {Map<string, AbortController>} */
const running = new Map(); // key → what aborts its request
/** @type {Set<string>} */
const failed = new Set(); // keys that could not be read, so that they are not asked for in a loop

let arrived = () => {};

/** onTile sets what is called after a tile was read, or could not be. @param {() => void} f */
export const onTile = (f) => (arrived = f);

// tile is a tile of a collection, or null while it has not been read. An older version is returned while
// the newest is read. A version stands for the same content at any time, so that a replay reads only
// what changed.
/** @type {(band: Band, level: number, index: number, marks: number) => Tile | null} */
export function tile(band, level, index, marks) {
  const place = `${band.ns} ${level} ${index} ${marks}`;
  const key = `${place} ${band.version}`;
  const have = tiles.get(key);
  if (have) {
    tiles.delete(key);
    tiles.set(key, have);
    newest.set(place, key);
  } else if (!failed.has(key)) {
    wanted.set(key, { key, place, ns: band.ns, level, index, marks, at: state.view.at });
  }
  return (have ?? shown(place))?.tile ?? null;
}

// shown is what was last shown at a place.
const shown = (/** @type {string} */ place) => tiles.get(newest.get(place) ?? "");

// cached is the tile last shown at a place, or null; it does not ask for it.
/** @type {(ns: string, level: number, index: number, marks: number) => Tile | null} */
export const cached = (ns, level, index, marks) => shown(`${ns} ${level} ${index} ${marks}`)?.tile ?? null;

/** forget starts a frame: what it asks for is all that is wanted. */
export const forget = () => wanted.clear();

/** fetchWanted reads what the frame asked for, and aborts what it did not ask for. */
export function fetchWanted() {
  for (const [key, request] of running) {
    if (!wanted.has(key)) request.abort();
  }
  for (const want of wanted.values()) {
    if (running.size >= atOnce) break;
    if (!running.has(want.key)) read(want);
  }
}

/** settled is true when all that is visible has been read. */
export const settled = () => wanted.size === 0 && running.size === 0;

/** @param {Wanted} wanted */
async function read({ key, place, ns, level, index, marks, at }) {
  const request = new AbortController();
  running.set(key, request);
  const have = shown(place);
  const q = timed(at, { level: String(level), index: String(index), marks: String(marks) });
  try {
    /** @type {Answer<MapTile> | null} */
    const answer = await readNewer(address(`/api/v1/map/${encodeURIComponent(ns)}/tile?${q}`), have?.etag, request.signal);
    if (answer) keep(key, place, { tile: flat(answer.body), etag: answer.etag });
    else if (have) keep(key, place, have);
  } catch {
    if (!request.signal.aborted) failed.add(key);
  } finally {
    running.delete(key);
    wanted.delete(key);
    arrived();
  }
}

// keep stores a tile under the version it was asked for. If the collection changed between its list and
// its tile, the next list has another version.
/** @type {(key: string, place: string, entry: Kept) => void} */
function keep(key, place, entry) {
  tiles.set(key, entry);
  newest.set(place, key);
  for (const old of tiles.keys()) {
    if (tiles.size <= kept) break;
    tiles.delete(old);
  }
}

/** @type {(answer: MapTile) => Tile} */
const flat = ({ marks, ...rest }) => ({ ...rest, ...marks, zones: rest.zones ?? [] });

/** retry lets tiles that could not be read be asked for again. */
export const retry = () => failed.clear();

/** markAt is the mark of a tile that holds a chunk. @type {(tile: Tile, position: number) => number} */
export const markAt = (tile, position) => lastAt(tile.at, position);
