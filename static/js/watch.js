// Marks watched objects wherever they appear, and updates their position. Only this browser knows
// what is watched: pages and live regions are the same for everybody and contain what is needed to
// find objects.
const store = "watch";
const most = 20;
const again = 500; // ms between two updates

let watched = read();
let timer = 0;
let asked = 0;

export function listenWatch() {
  document.addEventListener("click", (e) => {
    const link = /** @type {HTMLElement | null} */ (/** @type {Element} */ (e.target).closest?.("a[data-watch]"));
    if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
    const item = link.dataset.watch ?? "";
    if (new URL(location.href).searchParams.getAll("watch").includes(item)) return; // asked for in the address
    e.preventDefault();
    toggle(item);
  });
  addEventListener("storage", (e) => {
    if (e.key !== store) return;
    watched = read();
    follow();
  });
  const main = document.getElementById("main");
  if (!main) return;
  new MutationObserver((list) => list.some(news) && soon()).observe(main, { childList: true, subtree: true });
  links();
  if (all().length > 0) follow();
}

// news reports whether a change of the page was not made by this file.
function news(m) {
  const at = /** @type {Element} */ (m.target);
  return !at.closest?.("#watching, time, a.watch") && ![...m.addedNodes, ...m.removedNodes].every(own);
}

const own = (n) => n.nodeType === 1 && (n.id === "watching" || n.classList.contains("watchmark"));

/** all is what is watched, here and in the address. */
function all() {
  return [...new Set([...new URL(location.href).searchParams.getAll("watch"), ...watched])].slice(0, most);
}

function read() {
  try {
    const list = JSON.parse(localStorage.getItem(store) ?? "[]");
    return Array.isArray(list) ? list.filter((x) => typeof x === "string" && x.length < 2000).slice(0, most) : [];
  } catch {
    return [];
  }
}

function toggle(item) {
  watched = watched.includes(item) ? watched.filter((x) => x !== item) : [...watched, item].slice(-most);
  try {
    localStorage.setItem(store, JSON.stringify(watched));
  } catch {
    // Kept for this page only.
  }
  follow();
}

function soon() {
  links();
  if (all().length === 0 || timer) return;
  timer = setTimeout(follow, again);
}

// follow fetches where the watched objects are, shows the list and marks them below.
async function follow() {
  clearTimeout(timer);
  timer = 0;
  links();
  const items = all();
  const turn = ++asked;
  if (items.length === 0) {
    document.getElementById("watching")?.remove();
    mark([]);
    return;
  }
  const ask = new URLSearchParams(items.map((i) => ["watch", i]));
  if (document.body.dataset.at) ask.set("at", document.body.dataset.at);
  try {
    const answer = await fetch(`/watch?${ask}`, { headers: { Accept: "text/html" }, credentials: "same-origin" });
    if (!answer.ok || turn !== asked) return;
    const doc = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = doc.getElementById("watching");
    if (!fresh) return;
    if (document.body.dataset.page) fresh.classList.remove("on-page");
    place(fresh);
    mark([.../** @type {NodeListOf<HTMLElement>} */ (fresh.querySelectorAll("li[data-item]"))]);
  } catch {
    // The server is away; what is shown stays until it is back.
  }
}

// place puts the list in its previous place, or above the content.
function place(fresh) {
  const old = document.getElementById("watching");
  if (old?.outerHTML === fresh.outerHTML) return;
  if (old) {
    old.replaceWith(fresh);
    return;
  }
  const main = document.getElementById("main");
  const after = document.getElementById("timebar");
  if (after) after.after(fresh);
  else main?.prepend(fresh);
}

/** mark sets data-watched on what shows a watched thing, and on nothing else. */
function mark(rows) {
  const hits = new Set();
  const here = document.getElementById("live-collection")?.dataset.live?.slice("collection:".length);
  document.querySelectorAll("line.watchmark").forEach((x) => x.remove());
  for (const row of rows) {
    const { key, chunk, ns: home } = row.dataset;
    if (chunk) for (const el of document.querySelectorAll(`#main [data-chunk="${CSS.escape(chunk)}"]`)) if (!el.closest("#watching")) hits.add(el);
    // Rows of chunk and project lists have their names already.
    const list = !home ? "#live-projects" : home === here ? "#live-collection .chunks" : "";
    if (key && list) for (const el of document.querySelectorAll(`${list} tr[data-key="${CSS.escape(key)}"]`)) hits.add(el);
    let spaces = [];
    try {
      spaces = JSON.parse(row.dataset.spaces || "[]");
    } catch {
      continue;
    }
    for (const [ns, ...shards] of spaces) {
      for (const shard of shards) {
        // In the matrix the row is the collection and the cell the shard.
        const cell = document.querySelector(`#live-collections tr[data-key="${CSS.escape(ns)}"] td[data-shard="${CSS.escape(shard)}"]`);
        if (cell) hits.add(cell);
        const line = document.querySelector(`#live-overview tr[data-key="${CSS.escape(shard)}"]`);
        if (line) hits.add(line);
        if (ns === here) {
          const lane = document.querySelector(`#live-collection .lanes tr[data-key="${CSS.escape(shard)}"]`);
          if (lane) hits.add(lane);
        }
      }
    }
    if (row.dataset.ns === here && row.dataset.place) point(Number(row.dataset.place));
  }
  for (const el of document.querySelectorAll("[data-watched]")) if (!hits.has(el)) el.removeAttribute("data-watched");
  for (const el of hits) el.setAttribute("data-watched", "");
}

// point draws a watched chunk's position in the key space.
function point(at) {
  const strip = document.querySelector("#live-collection .strip");
  if (!strip || !(at >= 0 && at <= 1)) return;
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  for (const [name, value] of [["class", "watchmark"], ["x1", `${at * 100}%`], ["x2", `${at * 100}%`], ["y1", "0"], ["y2", "100%"]]) line.setAttribute(name, value);
  strip.append(line);
}

// links labels each watch link with what it does.
function links() {
  const list = all();
  for (const link of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("a.watch[data-watch]"))) {
    const on = list.includes(link.dataset.watch ?? "");
    const text = (on ? link.dataset.on : link.dataset.off) ?? "";
    if (link.textContent !== text) link.textContent = text;
    link.toggleAttribute("data-pressed", on);
  }
}
