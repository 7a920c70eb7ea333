// Reads the heat page again and takes over what changed: lists and what is selected. Kept
// elements keep the focus, the scroll position and what is open.
import { morph } from "./morph.js";
import { readPage } from "./requests.js";
import { root } from "./heat_state.js";

const parts = ["heat-lead", "heat-fit", "heat-selection", "heat-table", "heat-lists"];

let begun = 0; // reads; only the last one's answer is shown
/** @type {Promise<void>} */
let last = Promise.resolve(); // the read that began last

/**
 * refreshPage shows the page as it is now or, if another read begins meanwhile, as that one finds it.
 * It throws if the page cannot be read.
 */
export async function refreshPage() {
  last = read(++begun);
  for (let reading; reading !== last; ) {
    reading = last;
    await reading;
  }
}

/** @param {number} mine */
async function read(mine) {
  const { answer, page } = await readPage(location.pathname + location.search);
  if (mine !== begun) return;
  if (!answer.ok) throw new Error(answer.statusText || String(answer.status));
  if (Boolean(page.getElementById("heat-map")) !== Boolean(root)) return location.reload(); // counting has started, or the page has changed
  for (const id of parts) {
    const shown = document.getElementById(id);
    const fresh = page.getElementById(id);
    if (shown && fresh) morph(shown, fresh);
  }
}
