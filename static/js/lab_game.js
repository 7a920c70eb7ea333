// Plays a game of the lab card by card. The page has the table after one card; the script reads the turns once and moves
// the cards itself.
import { replaceAddress } from "./address.js";
import { player } from "./player.js";
import { readJSON } from "./requests.js";
import { fill } from "./words.js";
/** @import { LabGameTurn, LabGameTurns } from "./api.js" */

/** @typedef {LabGameTurn} Turn */
/** @typedef {{ player: number, cards: number, stuck: boolean }} Chunk */

const root = /** @type {HTMLElement} */ (document.getElementById("lab-game"));
const words = root.dataset;
const of = Number(words.cards);
const full = 4; // cards of a chunk
const mostChunks = 60; // of a player that are drawn, as on the page
const play = /** @type {HTMLElement} */ (root.querySelector('[data-go="play"]'));
const speed = /** @type {HTMLSelectElement} */ (document.getElementById("lab-speed"));
const position = /** @type {HTMLElement} */ (document.getElementById("lab-position"));
const text = /** @type {HTMLElement} */ (document.getElementById("lab-turn"));
const hands = /** @type {HTMLElement} */ (document.getElementById("lab-hands"));

/** @type {Promise<Turn[]> | undefined} */
let reading;
/** @type {Chunk[]} */
let chunks = []; // in the order of their ranges
let players = 0;
let dealt = -1; // cards in chunks; -1: they are not known yet
let step = Number(words.step); // that is shown

/** read is all turns, read once. */
function read() {
  reading ??= readAll();
  reading.catch(() => (reading = undefined));
  return reading;
}

async function readAll() {
  const all = [];
  const address = new URL(words.turns ?? "", location.href);
  address.searchParams.set("limit", "1000");
  for (;;) {
    /** @type {LabGameTurns} */
    const page = await readJSON(address);
    all.push(...page.items);
    if (!page.next) return all;
    address.searchParams.set("cursor", page.next);
  }
}

/** deal takes over what came of a card. @param {Turn} t */
function deal(t) {
  players = Math.max(players, t.joined);
  const chunk = chunks[t.position];
  chunk.cards = t.held;
  chunk.stuck = t.stuck;
  if (!t.split) return;
  const upper = { player: t.player, cards: t.split.upper, stuck: t.split.upper >= full };
  chunk.cards = t.split.lower;
  chunk.stuck = t.split.lower >= full; // else it would have been split before
  chunks.splice(t.position + 1, 0, upper);
  if (t.pass) (t.pass.upper ? upper : chunk).player = t.pass.to;
}

/** go shows the table after so many cards. @param {number} to */
async function go(to) {
  let turns;
  try {
    turns = await read();
  } catch {
    stop();
    text.textContent = words.failed ?? "";
    return;
  }
  step = Math.min(Math.max(to, 0), of);
  if (dealt < 0 || step < dealt) {
    chunks = [{ player: 1, cards: 0, stuck: false }];
    players = Number(words.players);
    dealt = 0;
  }
  while (dealt < step) deal(turns[dealt++]);
  draw(turns[step - 1]);
}

/** @param {Turn} [t] the last card */
function draw(t) {
  position.textContent = fill(words.position, { n: step, of });
  text.textContent = t?.text ?? words.begin ?? "";
  /** @type {Chunk[][]} */
  const by = Array.from({ length: players }, () => []);
  for (const c of chunks) by[c.player - 1].push(c);
  while (hands.children.length > players) hands.lastElementChild?.remove();
  while (hands.children.length < players) {
    const li = /** @type {HTMLElement} */ (hands.children[0].cloneNode(true));
    const name = /** @type {HTMLElement} */ (li.querySelector("b"));
    name.textContent = (name.textContent ?? "").replace("1", String(hands.children.length + 1));
    hands.append(li);
  }
  by.forEach((mine, i) => {
    const li = hands.children[i];
    li.className = `s${(i % 12) + 1}${t?.player === i + 1 ? " took" : ""}${t?.pass?.to === i + 1 ? " got" : ""}`;
    const cards = mine.reduce((sum, c) => sum + c.cards, 0);
    /** @type {HTMLElement} */ (li.querySelector("small")).textContent = fill(words.hand, { cards, chunks: mine.length });
    const boxes = mine.slice(-mostChunks).map((c) => {
      const box = document.createElement("i");
      box.className = `c${Math.min(c.cards, 4)}${c.stuck ? " stuck" : ""}`;
      return box;
    });
    const more = document.createElement("small");
    if (mine.length > mostChunks) more.textContent = `+ ${mine.length - mostChunks}`;
    li.querySelector(".lab-chunks")?.replaceChildren(more, ...boxes);
  });
}

/** show is go, and keeps the step in the address. @param {number} to */
async function show(to) {
  await go(to);
  const address = new URL(words.page ?? "", location.href);
  address.searchParams.set("step", String(step));
  replaceAddress(address.href);
}

const { playing, stop, toggle } = player(
  async () => {
    if (step >= of) step = -1; // begins again, with the empty table
    await show(step + 1);
    return step < of;
  },
  () => 1000 / Number(speed.value),
  (on) => {
    play.textContent = (on ? words.pause : words.play) ?? "";
    text.ariaLive = on ? "off" : "polite"; // a screen reader would fall behind; at the end it says where the game stands
  },
);

/** @type {Record<string, () => void>} */
const actions = {
  first: () => show(0),
  back: () => show(step - 1),
  next: () => show(step + 1),
  end: () => show(of),
  play: toggle,
};
/** @type {Record<string, string>} */
const keys = { Home: "first", ArrowLeft: "back", ArrowRight: "next", End: "end", " ": "play" };

/** @param {string | undefined} name @param {Event} e */
function act(name, e) {
  if (!name || !actions[name]) return;
  e.preventDefault();
  if (name !== "play" && playing()) stop();
  actions[name]();
}

root.addEventListener("click", (e) => {
  const on = e.target instanceof Element ? e.target.closest("[data-go]") : null;
  if (on instanceof HTMLElement && !e.ctrlKey && !e.metaKey) act(on.dataset.go, e);
});
root.addEventListener("keydown", (e) => {
  if (e.target === root && !e.ctrlKey && !e.metaKey && !e.altKey) act(keys[e.key], e);
});
