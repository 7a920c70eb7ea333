// Marks watched projects and chunks wherever they appear, and lists where they are. Only the browser
// knows what is watched: pages and live regions are the same for everybody, and their attributes say
// which element shows what.
import { address, base } from "./address.js";
import { all, around, first, modified, setText } from "./elements.js";
import { readPage } from "./requests.js";
import { store, storedJSON, texts } from "./storage.js";

const storageKey = `watch${base}`; // things of one cluster are not in another
const most = 20; // watched at once; the server answers no more
const pause = 500; // ms from a change of the page to the next update

let watched = read();
let timer = 0;
let updates = 0; // started so far: only the newest one's answer is shown

export function listenWatch() {
  document.addEventListener("click", (e) => {
    const link = around(e, "a[data-watch]");
    if (!link || modified(e) || e.shiftKey) return;
    const item = link.dataset.watch ?? "";
    if (inAddress().includes(item)) return;
    e.preventDefault();
    toggle(item);
  });
  addEventListener("storage", (e) => {
    if (e.key !== storageKey) return;
    watched = read();
    update();
  });
  for (const news of ["morph", "live"]) document.addEventListener(news, updateSoon);
  labelLinks();
  if (everything().length > 0) update();
}

const inAddress = () => new URLSearchParams(location.search).getAll("watch");

/** everything is what is watched, here and in the address. */
const everything = () => [...new Set([...inAddress(), ...watched])].slice(0, most);

function read() {
  return texts(storedJSON(storageKey)).filter((x) => x.length < 2000).slice(0, most);
}

/** @param {string} item */
function toggle(item) {
  watched = watched.includes(item) ? watched.filter((x) => x !== item) : [...watched, item].slice(-most);
  store(storageKey, JSON.stringify(watched));
  update();
}

function updateSoon() {
  labelLinks();
  if (everything().length === 0 || timer) return;
  timer = setTimeout(update, pause);
}

// update fetches where the watched objects are, shows the list and marks them on the page.
async function update() {
  clearTimeout(timer);
  timer = 0;
  labelLinks();
  const items = everything();
  const mine = ++updates;
  if (items.length === 0) {
    document.getElementById("watching")?.remove();
    mark([]);
    return;
  }
  const query = new URLSearchParams(items.map((i) => ["watch", i]));
  if (document.body.dataset.at) query.set("at", document.body.dataset.at);
  try {
    const { page } = await readPage(address(`/watch?${query}`));
    const fresh = page.getElementById("watching");
    if (!fresh || mine !== updates) return;
    showList(fresh);
    mark(all("li[data-item]", fresh));
  } catch {
    // The server is not reachable: what is shown stays until the next update.
  }
}

/** showList puts the list where it was, or above the content. @param {HTMLElement} fresh */
function showList(fresh) {
  const old = document.getElementById("watching");
  const bar = document.getElementById("timebar");
  if (old?.isEqualNode(fresh)) return;
  if (old) old.replaceWith(fresh);
  else if (bar) bar.after(fresh);
  else document.getElementById("main")?.prepend(fresh);
}

/** mark sets data-watched on what shows a watched object, and on nothing else. @param {HTMLElement[]} rows */
function mark(rows) {
  const here = document.getElementById("live-collection")?.dataset.live?.slice("collection:".length);
  const shows = new Set(rows.flatMap((row) => elementsOf(row, here)));
  for (const el of all("[data-watched]")) if (!shows.has(el)) el.removeAttribute("data-watched");
  for (const el of shows) el.setAttribute("data-watched", "");
  all("line.watchmark").forEach((line) => line.remove());
  for (const { dataset } of rows) if (dataset.ns === here && dataset.place) drawPosition(Number(dataset.place));
}

// elementsOf are the elements that show the object of a row of the list. here is the collection of
// the page, if it is one's page.
/** @type {(row: HTMLElement, here: string | undefined) => Element[]} */
function elementsOf(row, here) {
  const { key, chunk, ns } = row.dataset;
  /** @type {Element[]} */
  const out = [];
  const find = (/** @type {string} */ selector) => out.push(...all(selector));
  if (chunk) find(`#main [data-chunk="${CSS.escape(chunk)}"]:not(#watching *)`);
  if (key && !ns) find(`#live-projects tr[data-key="${CSS.escape(key)}"]`);
  if (key && ns && ns === here) find(`#live-collection .chunks tr[data-key="${CSS.escape(key)}"]`);
  /** @type {string[][]} */
  const spaces = JSON.parse(row.dataset.spaces || "[]"); // the collections that have parts of it: [collection, shard, shard, …]
  for (const [collection, ...shards] of spaces) {
    find(`#live-collections tr[data-key="${CSS.escape(collection)}"]`);
    for (const shard of shards.map((name) => CSS.escape(name))) {
      find(`:is(#live-overview, #live-shards) tr[data-key="${shard}"]`);
      if (collection === here) find(`#live-collection .lanes tr[data-key="${shard}"]`);
    }
  }
  return out;
}

/** drawPosition draws a watched chunk's position, 0 to 1, into the picture of the key space. @param {number} at */
function drawPosition(at) {
  const strip = first("#live-collection .strip");
  if (!strip || !(at >= 0 && at <= 1)) return;
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  const x = `${at * 100}%`;
  for (const [name, value] of Object.entries({ class: "watchmark", x1: x, x2: x, y1: "0", y2: "100%" })) line.setAttribute(name, value);
  strip.append(line);
}

// labelLinks writes on each watch link what it does.
function labelLinks() {
  const list = everything();
  for (const link of all("a.watch[data-watch]")) {
    const on = list.includes(link.dataset.watch ?? "");
    setText(link, link.dataset[on ? "on" : "off"] ?? "");
    link.toggleAttribute("data-pressed", on);
  }
}
