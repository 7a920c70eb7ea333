// Moves a page through time without leaving it. Links of the time bar are followed in place, the
// slider acts when it is released, and "play" steps through the changes. Without this script the
// links and the form do the same.
import { all, around, first, modified, setText } from "./elements.js";
import { morph, glow } from "./morph.js";
import { player } from "./player.js";
import { refreshTimes } from "./relative_times.js";
import { latest, readPage } from "./requests.js";
import { pushAddress } from "./address.js";
import { minuteText } from "./zone.js";
import { announce } from "./words.js";

const playEvery = 1500; // ms to look at a change before the next
const requests = latest();

export function listenTimeTravel() {
  document.addEventListener("click", (e) => {
    if (around(e, "#timeplay")) return toggle();
    const link = around(e, "#timebar a[data-step]:not([data-step=now])");
    if (!(link instanceof HTMLAnchorElement) || !document.body.dataset.at || modified(e) || e.shiftKey) return;
    e.preventDefault();
    stop();
    goTo(link.href);
  });
  document.addEventListener("input", (e) => showSliderTime(e.target));
  document.addEventListener("change", (e) => {
    const slider = showSliderTime(e.target);
    if (slider) goTo(timeURL(Number(slider.value)));
  });
}

// showSliderTime writes the time at the slider's position. It returns the slider, or null if the
// element is another.
/** @type {(el: EventTarget | null) => HTMLInputElement | null} */
function showSliderTime(el) {
  if (!(el instanceof HTMLInputElement) || el.id !== "timeslider") return null;
  const text = minuteText(Number(el.value));
  el.setAttribute("aria-valuetext", text);
  setText(first("#timeout"), text);
  return el;
}

/** @param {number} ms */
function timeURL(ms) {
  const to = new URL(location.href);
  to.searchParams.set("at", new Date(ms).toISOString().replace(/\.\d+Z$/, "Z"));
  to.hash = "";
  return to.href;
}

// goTo replaces the page's content by that of another address. It returns false if there is no such
// page, or if it leads back to now.
/** @type {(url: string) => Promise<boolean>} */
async function goTo(url) {
  const signal = requests.begin();
  try {
    const { answer, page } = await readPage(url, signal);
    const main = document.getElementById("main");
    const fresh = page.getElementById("main");
    if (!answer.ok && fresh && playing()) return false;
    if (!answer.ok || !main || !fresh || !page.body.dataset.at) {
      location.assign(answer.ok ? answer.url : url);
      return false;
    }
    document.body.dataset.at = page.body.dataset.at;
    const [status, newStatus] = [document, page].map((d) => d.getElementById("status"));
    if (status && newStatus) morph(status, newStatus);
    const changed = morph(main, fresh);
    // morph keeps what a person has typed or slid, but here the new page's values are wanted.
    for (const el of all("#timebar input", main, HTMLInputElement)) el.value = el.defaultValue;
    refreshTimes(main);
    glow(changed);
    pushAddress(answer.url);
    announce(main.querySelector(".looking strong")?.textContent ?? "");
    labelPlay(playing());
    return true;
  } catch {
    if (!signal.aborted) location.assign(url);
    return false;
  }
}

const { playing, stop, toggle } = player(
  async () => {
    const next = first('#timebar a[data-step="next"]');
    return next instanceof HTMLAnchorElement && goTo(next.href);
  },
  () => playEvery,
  labelPlay,
);

/** labelPlay writes on the button what it does now. @param {boolean} on */
function labelPlay(on) {
  const button = document.getElementById("timeplay");
  setText(button, button?.dataset[on ? "stop" : "play"] ?? "");
}
