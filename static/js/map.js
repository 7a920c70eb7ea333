// The cluster map: reads the list of collections, keeps it current and puts the view into the address. The
// page has the same as a picture and a table without this script.
import { address, replaceAddress } from "./address.js";
import { all } from "./elements.js";
import { epoch, readColors } from "./shard_colors.js";
import { draw } from "./map_draw.js";
import { onView, setView } from "./map_goto.js";
import { listen } from "./map_input.js";
import { noteMoves } from "./map_moves.js";
import { describe, write as writeReadout } from "./map_readout.js";
import { listenReplay, showTime } from "./map_replay.js";
import { part, root, say, state, take, timed } from "./map_state.js";
import { legend } from "./map_scale.js";
import { onTheme } from "./pictures.js";
import { latest, messageOf, oneAtATime, readNewer } from "./requests.js";
import { onTile, retry, settled } from "./map_tiles.js";
import { parse, write } from "./map_view.js";
/** @import { Frame } from "./live.js" */
/** @import { Cluster } from "./map_state.js" */
/** @import { Answer } from "./requests.js" */

const every = 15_000; // ms between readings without news: sizes and rates change without one
const least = 200; // ms between readings with news
const writeAfter = 300; // ms of rest before the address is replaced: browsers allow about three a second

let etag = "";
/** @type {AbortSignal | null} */
let reading = null; // of the running request
const requests = latest();
let addressTimer = 0;

// readMap reads the list of collections for a time, 0 for now. It returns whether there is one.
/** @type {(at: number) => Promise<boolean>} */
async function readMap(at) {
  const signal = requests.begin();
  reading = signal;
  const q = timed(at);
  if (root?.dataset.internal) q.set("internal", "1");
  try {
    /** @type {Answer<Cluster> | null} */
    const answer = await readNewer(address(`/api/v1/map?${q}`), at === state.view.at ? etag : "", signal);
    if (!answer) return true;
    const { body } = answer;
    const { shards } = state.map;
    etag = answer.etag;
    if (JSON.stringify(shards) === JSON.stringify(body.shards)) body.shards = shards; // the rows' pictures stay good
    take(body);
    part("body").classList.toggle("is-empty", !at && body.bands.length === 0); // a past time keeps its slider
    return true;
  } catch (err) {
    if (!signal.aborted) writeReadout(say("failed", { error: messageOf(err) }));
    return false;
  } finally {
    if (reading === signal) reading = null;
  }
}

// refresh reads what is new, unless another time is being read.
const refresh = oneAtATime(async () => {
  if (reading) return;
  retry();
  if (!(await readMap(state.view.at))) return;
  legend();
  showTime();
  draw();
  describe();
}, least);

// goTo shows another time and waits until what is visible of it has been read.
/** @type {(at: number) => Promise<boolean>} */
async function goTo(at) {
  if (!(await readMap(at))) return false;
  setView({ ...state.view, at });
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  while (!settled()) await new Promise((done) => (ready = done));
  return state.view.at === at;
}

/** @type {(value?: unknown) => void} */
let ready = () => {}; // ends a wait for what is visible

// writeAddress replaces the page's address, so that a link to it shows the same and "back" leads away.
function writeAddress() {
  clearTimeout(addressTimer);
  addressTimer = setTimeout(() => {
    const total = state.bands.get(state.view.ns)?.total ?? 0;
    const search = write(location.search, state.view, total);
    if (search === location.search) return;
    replaceAddress(location.pathname + search + location.hash);
    for (const a of all(".windows a", document, HTMLAnchorElement)) {
      const query = new URLSearchParams(search);
      const over = new URLSearchParams(a.search).get("window"); // null for the usual time that writes are of
      if (over) query.set("window", over);
      else query.delete("window");
      a.search = query.toString();
    }
  }, writeAfter);
}

function listenControls() {
  part("by").addEventListener("input", (e) => (setView({ ...state.view, by: /** @type {HTMLInputElement} */ (e.target).value }), legend()));
  part("only").addEventListener("input", () => setView({ ...state.view, only: part("only").value }));
  new ResizeObserver(draw).observe(part("space"));
  onTheme(() => (readColors(), draw()));
  document.addEventListener("live", (e) => onNews(/** @type {CustomEvent} */ (e).detail));
  new MutationObserver(followTime).observe(document.body, { attributes: true, attributeFilter: ["data-at"] });
  document.addEventListener("visibilitychange", () => document.hidden || refresh());
  setInterval(() => document.hidden || state.view.at || refresh(), every);
}

// followTime shows the time of a page of the past, which its time bar changes.
function followTime() {
  const at = Date.parse(document.body.dataset.at ?? "") || 0;
  if (at !== state.view.at) goTo(at);
}

/** @param {Frame} frame */
function onNews({ topic, moves = [] }) {
  if (topic !== "map" || state.view.at) return;
  noteMoves(moves, performance.now());
  refresh();
}

async function start() {
  if (!root || epoch) return;
  readColors();
  state.view = parse(location.search);
  onView(() => (writeAddress(), legend()));
  onTile(() => {
    draw();
    describe();
    if (settled()) ready();
  });
  if (!(await readMap(state.view.at))) {
    setTimeout(start, every); // the server's picture stays until then
    return;
  }
  part("body").dataset.drawn = "yes";
  // A link with a shard or a time shows the controls that say so.
  part("more").open = Boolean(state.view.only || state.view.at);
  listen();
  listenReplay(goTo);
  listenControls();
  legend();
  describe();
  draw();
}
start();
