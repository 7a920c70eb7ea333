// What a page does when its session is over, or has another role: it hides what it shows and is left. What somebody has
// typed stays readable for half a minute, to be copied.
import { root } from "./address.js";

const holdFor = 30_000; // milliseconds
const texts = "main textarea, main input:not([type=hidden], [type=range], [type=checkbox], [type=radio], [type=color])";

/** @typedef {HTMLInputElement | HTMLTextAreaElement} Field */

/** @type {Set<Field>} */
const typed = new Set(); // fields into which a person has typed
let over = false; // the page is about to be left

/** listenTyping notes what a person types. What scripts set, sliders and checkboxes are no text. */
export function listenTyping() {
  document.addEventListener("input", (e) => {
    const field = /** @type {Field} */ (e.target);
    if (e.isTrusted && field.matches?.(texts)) typed.add(field);
  });
}

// sessionStatus is the HTTP status of a request with the session, 0 if the server is not reachable.
/** @returns {Promise<number>} */
export const sessionStatus = () => fetch(`${root}/api/v1/me`).then(({ status }) => status, () => 0);

// leaveFor hides the page and goes on: at once, or after a while if somebody has typed something.
/** @param {() => void} go */
export function leaveFor(go) {
  if (over) return;
  over = true;
  document.documentElement.dataset.over = "";
  const kept = [...typed].filter((f) => f.isConnected && f.value !== f.defaultValue);
  for (const field of kept) field.dataset.kept = "";
  if (kept.length > 0) setTimeout(go, holdFor);
  else go();
}
