// Plays a game of the lab card by card. The page has the table after any card: the script shows the table of that
// page in place of its own.
import { replaceAddress } from "./address.js";
import { around, modified, setText } from "./elements.js";
import { morph } from "./morph.js";
import { clamp } from "./pictures.js";
import { player } from "./player.js";
import { latest, readPage } from "./requests.js";

const root = /** @type {HTMLElement} */ (document.getElementById("lab-game"));
const words = root.dataset;
const cards = Number(words.cards);
const play = root.querySelector('[data-go="play"]');
const speed = /** @type {HTMLSelectElement} */ (document.getElementById("lab-speed"));
const text = /** @type {HTMLElement} */ (document.getElementById("lab-turn"));
const requests = latest();

let step = Number(words.step); // whose table was asked for last
let asked = 0; // when that was, ms

// show asks for the table after so many cards and shows it. It returns whether that was possible and cards are left.
/** @param {number} to */
async function show(to) {
  step = clamp(to, 0, cards);
  asked = performance.now();
  const address = new URL(words.page ?? "", location.href);
  address.searchParams.set("step", String(step));
  const signal = requests.begin();
  try {
    const { answer, page } = await readPage(address.href, signal);
    const table = page.getElementById("lab-game");
    if (!table) throw new Error(answer.statusText);
    morph(root, table);
    label(playing());
    replaceAddress(address.href);
    return step < cards;
  } catch {
    if (signal.aborted) return false;
    stop();
    setText(text, words.failed ?? "");
    return false;
  }
}

/** label says what the button does now. @param {boolean} on */
function label(on) {
  setText(play, (on ? words.pause : words.play) ?? "");
  text.ariaLive = on ? "off" : "polite"; // a screen reader would fall behind; at the end it says where the game stands
}

const { playing, stop, toggle } = player(
  () => {
    if (step >= cards) return show(0); // begins again, with the empty table
    // While an answer takes longer than a card, several cards pass.
    return show(step + Math.max(1, Math.round(((performance.now() - asked) * Number(speed.value)) / 1000)));
  },
  () => 1000 / Number(speed.value),
  (on) => {
    asked = performance.now();
    label(on);
  },
);

/** @type {Record<string, () => void>} */
const actions = {
  first: () => show(0),
  back: () => show(step - 1),
  next: () => show(step + 1),
  end: () => show(cards),
  play: toggle,
};
/** @type {Record<string, string>} */
const keys = { Home: "first", ArrowLeft: "back", ArrowRight: "next", End: "end", " ": "play" };

/** @type {(name: string | undefined, e: MouseEvent | KeyboardEvent) => void} */
function act(name, e) {
  if (!name || !actions[name] || modified(e)) return;
  e.preventDefault();
  if (name !== "play" && playing()) stop();
  actions[name]();
}

root.addEventListener("click", (e) => act(around(e, "[data-go]")?.dataset.go, e));
root.addEventListener("keydown", (e) => e.target === root && act(keys[e.key], e));
