// Plays the last hours of the cluster map back: a slider, play and pause, and how fast. It shows the past from
// the placement history, in the same view.
import { setText } from "./elements.js";
import { part, say, state } from "./map_state.js";
import { player } from "./player.js";
import { serverNow } from "./relative_times.js";
import { minuteText, shifted } from "./zone.js";

const steps = 60; // of a whole replay
const shortest = 5_000; // ms of a step
const newest = 500; // ms before now that count as now
const hour = 3_600_000;

/** @type {(at: number) => Promise<boolean>} */
let show = async () => true;

const { stop, toggle } = player(
  () => {
    const { from, to } = range();
    return go(state.view.at ? state.view.at + Math.max((to - from) / steps, shortest) : from).then((shown) => shown && state.view.at > 0);
  },
  () => Number(part("speed").value),
  (playing) => setText(part("play"), say(playing ? "pause" : "play")),
);

// listenReplay attaches the controls. goTo shows a time, 0 for now, and tells when all of it is visible, or
// false if there is nothing of that time.
/** @param {(at: number) => Promise<boolean>} goTo */
export function listenReplay(goTo) {
  show = goTo;
  const slider = part("time");
  slider.addEventListener("input", () => {
    stop();
    go(Number(slider.value));
  });
  part("play").addEventListener("click", toggle);
  part("span").addEventListener("input", () => (stop(), showTime()));
  part("now").addEventListener("click", () => (stop(), go(Infinity)));
  addEventListener("visibilitychange", () => document.hidden && stop());
  showTime();
}

// range is what the slider spans: the chosen hours, or what of them is known.
function range() {
  const now = serverNow();
  const known = Math.ceil((Date.parse(state.map.since ?? "") || 0) / 1000) * 1000;
  const from = Math.min(Math.max(now - Number(part("span").value) * hour, known), now - 1000);
  return { from: Math.min(from, state.view.at || from), to: now };
}

/** go shows a time; the newest is now. @param {number} at */
async function go(at) {
  const past = at < range().to - newest;
  const shown = await show(past ? Math.ceil(at / 1000) * 1000 : 0);
  showTime();
  return shown;
}

/** showTime puts the slider where the shown time is. */
export function showTime() {
  const slider = part("time");
  const { from, to } = range();
  const at = state.view.at || to;
  slider.min = String(Math.floor(from));
  slider.max = String(Math.floor(to));
  slider.step = "any";
  slider.value = String(at);
  const text = state.view.at ? minuteText(at) : say("live");
  slider.setAttribute("aria-valuetext", text);
  setText(part("when"), text);
  part("now").hidden = !state.view.at;
  // On a page of the past its time bar plays; without a history nothing does.
  part("replay").hidden = Boolean(document.body.dataset.at) || !state.map.since;
  part("body").toggleAttribute("data-past", state.view.at > 0);
  part("begin").textContent = shifted(from).toISOString().slice(11, 16);
}
