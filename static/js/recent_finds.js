// What was found before, as it was typed: kept in this browser for the person signed in, sent nowhere
// unless chosen again, and forgotten at sign-out.
import { base } from "./address.js";

const every = "recent finds"; // begins the place of each cluster
const place = every + base;
const most = 20;
const longest = 300; // characters; longer texts are log lines, which nobody types again

const who = () => document.querySelector("header .you bdi")?.textContent ?? "";

/** recentFinds lists what this person found, the latest first. @type {() => string[]} */
export function recentFinds() {
  try {
    const kept = JSON.parse(localStorage.getItem(place) ?? "null");
    if (kept?.by !== who() || !Array.isArray(kept.finds)) return [];
    return kept.finds.filter((/** @type {unknown} */ x) => typeof x === "string").slice(0, most);
  } catch {
    return []; // storage is denied, or holds something else
  }
}

/** rememberFind puts a text first. @param {string} text */
export function rememberFind(text) {
  text = text.trim();
  if (!text || text.length > longest) return;
  const finds = [text, ...recentFinds().filter((x) => x !== text)].slice(0, most);
  try {
    localStorage.setItem(place, JSON.stringify({ by: who(), finds }));
  } catch {
    // Storage is denied or full: nothing is remembered.
  }
}

/** forgetFinds empties the list. */
export function forgetFinds() {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(every)) localStorage.removeItem(key);
  } catch {
    // Storage is denied: nothing is kept anyway.
  }
}
