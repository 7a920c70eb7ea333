// Starts the modules of every page. Each enhances a page that works without it; one that fails does
// not stop the others.
import { connect } from "./live.js";
import { listenKeys } from "./keys.js";
import { listenCopy } from "./copy.js";
import { keepTimes } from "./times.js";
import { listenStrip } from "./strip.js";
import { toggleTheme } from "./toggle.js";
import { listenTime } from "./timeline.js";
import { listenWatch } from "./watch.js";
import { listenTheme } from "./settings.js";
import { keepPlan } from "./plan.js";

const starts = [
  keepTimes,
  connect,
  listenKeys,
  listenCopy,
  listenStrip,
  listenTheme,
  listenTime,
  listenWatch,
  keepPlan,
  // On a phone the navigation is a strip that may be longer than the screen.
  () => document.querySelector('.side [aria-current="page"]')?.scrollIntoView({ block: "nearest", inline: "nearest" }),
  () => document.getElementById("theme")?.addEventListener("click", toggleTheme),
];
for (const start of starts) {
  try {
    start();
  } catch (err) {
    console.error(err);
  }
}
