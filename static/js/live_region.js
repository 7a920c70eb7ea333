// Shows new versions of live regions without disturbing who reads them. A version that would, waits;
// the newest is shown when its button is pressed or nobody is disturbed any more.
import { around } from "./elements.js";
import { morph, glow } from "./morph.js";
import { refreshTimes, selected } from "./relative_times.js";
import { holdRows, listsOf, notice } from "./held_rows.js";
import { focusOn, keepPlace } from "./keep_place.js";
import { word } from "./words.js";
import { showZone } from "./zone.js";

/** @type {Map<HTMLElement, HTMLElement>} */
const waiting = new Map(); // region → its newest version, not all of which is shown
const every = 400; // ms after which what waits is looked at again
let timer = 0; // of the next look; 0 for none

/**
 * showRegion makes a region equal to a new version of it, if there is one, as far as that disturbs nobody.
 * @type {(region: HTMLElement, fresh: HTMLElement | null, highlight: boolean) => void}
 */
export function showRegion(region, fresh, highlight) {
  if (!fresh) return;
  waiting.delete(region);
  showZone(fresh);
  if (selected(region) || region.querySelector("dialog[open], [data-dragging]")) {
    waiting.set(region, fresh);
    if (!region.querySelector(":scope > .held")) region.append(notice("held", word("paused")));
  } else {
    const version = holdRows(region, fresh);
    if (version !== fresh) waiting.set(region, fresh);
    show(region, version, highlight);
  }
  if (!timer && waiting.size > 0) timer = setTimeout(lookAgain, every);
}

function lookAgain() {
  timer = 0;
  for (const [region, fresh] of [...waiting]) {
    if (region.isConnected) showRegion(region, fresh, true);
    else waiting.delete(region);
  }
}

/** @type {(region: HTMLElement, version: HTMLElement, highlight: boolean) => void} */
function show(region, version, highlight) {
  const changed = keepPlace(region, () => morph(region, version));
  refreshTimes(region);
  if (highlight) glow(changed);
}

/** listenHeld shows what waits when its button is pressed. The focus goes to the first row then. */
export function listenHeld() {
  document.addEventListener("click", (e) => {
    const button = around(e, ".held button");
    const region = around(e, "[data-live]");
    const fresh = region && waiting.get(region);
    if (!button || !fresh) return;
    const nth = listsOf(region).findIndex((list) => button.parentElement?.nextElementSibling?.contains(list));
    waiting.delete(region);
    getSelection()?.removeAllRanges();
    button.blur(); // it leaves, and need not hand its focus on
    show(region, fresh, true);
    const list = listsOf(region)[nth];
    if (!list) return;
    list.scrollIntoView({ block: "nearest", behavior: "instant" });
    if (list.firstElementChild) focusOn(list.firstElementChild.querySelector("a[href], button, summary") ?? list.firstElementChild);
  });
}
