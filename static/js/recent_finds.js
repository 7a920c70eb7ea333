// What was found before, as it was typed: kept in this browser for the person signed in, sent nowhere
// unless chosen again, and forgotten at sign-out.
import { base } from "./address.js";
import { first } from "./elements.js";
import { store, storedJSON, texts } from "./storage.js";

const every = "recent finds"; // begins the place of each cluster
const place = every + base;
const most = 20;
const longest = 300; // characters; longer texts are log lines, which nobody types again

const who = () => first("header .you bdi")?.textContent ?? "";

/** recentFinds lists what this person found, the latest first. */
export function recentFinds() {
  const kept = /** @type {{by?: unknown, finds?: unknown} | null} */ (storedJSON(place));
  return kept?.by === who() ? texts(kept.finds).slice(0, most) : [];
}

/** rememberFind puts a text first. @param {string} text */
export function rememberFind(text) {
  text = text.trim();
  if (!text || text.length > longest) return;
  const finds = [text, ...recentFinds().filter((x) => x !== text)].slice(0, most);
  store(place, JSON.stringify({ by: who(), finds }));
}

/** forgetFinds empties the list of each cluster. */
export function forgetFinds() {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(every)) localStorage.removeItem(key);
  } catch {
    // Storage is denied: nothing is kept.
  }
}
