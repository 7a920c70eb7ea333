// Reads the heat page again and takes over what changed: lists and what is selected. Kept
// elements keep the focus, the scroll position and what is open.
import { morph } from "./morph.js";
import { root } from "./heat_state.js";

const parts = ["heat-lead", "heat-fit", "heat-selection", "heat-table", "heat-lists"];

let newest = 0; // reads that were begun; only the last one's answer is shown

/** refreshPage shows the page as it is now. It throws if the page cannot be read. */
export async function refreshPage() {
  const mine = ++newest;
  const answer = await fetch(location.pathname + location.search, { headers: { Accept: "text/html" }, credentials: "same-origin" });
  if (!answer.ok) throw new Error(answer.statusText || String(answer.status));
  const doc = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (mine !== newest) return;
  if (Boolean(doc.getElementById("heat-map")) !== Boolean(root)) {
    location.reload(); // counting has started, or the page has changed
    return;
  }
  for (const id of parts) {
    const shown = document.getElementById(id);
    const fresh = doc.getElementById(id);
    if (shown && fresh) morph(shown, fresh);
  }
}
