// Starts the modules of every page. Each enhances a page that works without it; one that fails does
// not stop the others.
import { connect } from "./live.js";
import { listenTyping } from "./session.js";
import { listenHeld } from "./live_region.js";
import { listenHistogram } from "./histogram.js";
import { listenShortcuts } from "./shortcuts.js";
import { listenCopy } from "./copy.js";
import { keepTimesCurrent } from "./relative_times.js";
import { listenThemeChoice } from "./theme_choice.js";
import { listenTimeTravel } from "./time_travel.js";
import { listenWatch } from "./watch.js";
import { enhancePlan } from "./plan.js";
import { listenControls } from "./page_controls.js";
import { listenPalette } from "./palette.js";
import { enhanceGrid } from "./grid.js";
import { listenBack } from "./address.js";
import { listenLocateBoxes } from "./locate_box.js";
import { listenZone } from "./zone.js";

// A page may get its map only with the first data.
function startMap() {
  if (document.querySelector('[data-map="canvas"]')) import("./map.js");
}

// showCurrentTab scrolls the tabs of a phone to the one that is shown.
function showCurrentTab() {
  document.querySelector('.entry [aria-current="page"]')?.scrollIntoView({ block: "nearest", inline: "center" });
}

const starts = [
  showCurrentTab,
  keepTimesCurrent,
  listenZone,
  listenTyping,
  connect,
  listenHeld,
  listenHistogram,
  listenShortcuts,
  listenCopy,
  listenThemeChoice,
  listenTimeTravel,
  listenBack,
  listenWatch,
  enhancePlan,
  listenControls,
  listenPalette,
  enhanceGrid,
  listenLocateBoxes,
  startMap,
  () => document.addEventListener("live", () => setTimeout(startMap)),
];
for (const start of starts) {
  try {
    start();
  } catch (err) {
    console.error(err);
  }
}
