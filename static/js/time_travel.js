// Moves a page through time without leaving it. Links of the time bar are followed in place, the
// slider acts when it is released, and "play" steps through the changes. Without this script the
// links and the form do the same.
import { morph, glow } from "./morph.js";
import { refreshTimes } from "./relative_times.js";
import { pushAddress } from "./shown_address.js";
import { minuteText, showZone } from "./zone.js";
import { announce } from "./words.js";

const playEvery = 1500; // ms to look at a change before the next
let playing = 0; // the timer of the next step; 0 while not playing
/** @type {AbortController | null} */
let request = null; // aborts the running request

export function listenTimeTravel() {
  document.addEventListener("click", (e) => {
    const at = /** @type {Element} */ (e.target);
    if (at.closest?.("#timeplay")) return playing ? stop() : play();
    const link = /** @type {HTMLAnchorElement | null} */ (at.closest?.("#timebar a[data-step]"));
    if (!link || !past() || link.dataset.step === "now" || e.ctrlKey || e.metaKey || e.shiftKey || e.button !== 0) return;
    e.preventDefault();
    stop();
    goTo(link.href);
  });
  document.addEventListener("input", (e) => showSliderTime(e.target));
  document.addEventListener("change", (e) => {
    const slider = showSliderTime(e.target);
    if (slider) goTo(timeURL(Number(slider.value)));
  });
  document.addEventListener("keydown", followKey);
}

const past = () => Boolean(document.body.dataset.at);

/** @type {Record<string, string>} */
const stepOfKey = { ",": "prev", ".": "next", n: "now" };

/** followKey follows the link of the time bar that a key stands for. @param {KeyboardEvent} e */
function followKey(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
  if (/** @type {Element} */ (e.target).closest?.("input, select, textarea, [contenteditable]")) return;
  const step = stepOfKey[e.key];
  const link = step && /** @type {HTMLElement | null} */ (document.querySelector(`#timebar a[data-step="${step}"]`));
  if (!link) return;
  e.preventDefault();
  link.click();
}

// showSliderTime writes the time at the slider's position. It returns the slider, or null if the
// element is another.
/** @type {(el: EventTarget | null) => HTMLInputElement | null} */
function showSliderTime(el) {
  if (!(el instanceof HTMLInputElement) || el.id !== "timeslider") return null;
  const text = minuteText(Number(el.value));
  el.setAttribute("aria-valuetext", text);
  const out = document.getElementById("timeout");
  if (out) out.textContent = text;
  return el;
}

/** @param {number} ms */
const instant = (ms) => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

/** @param {number} ms */
function timeURL(ms) {
  const to = new URL(location.href);
  to.searchParams.set("at", instant(ms));
  to.hash = "";
  return to.href;
}

// goTo replaces the page's content by that of another address. It returns false if there is no such
// page, or if it leads back to now.
/** @type {(url: string) => Promise<boolean>} */
async function goTo(url) {
  request?.abort();
  request = new AbortController();
  const { signal } = request;
  try {
    const answer = await fetch(url, { headers: { Accept: "text/html" }, credentials: "same-origin", signal });
    const doc = new DOMParser().parseFromString(await answer.text(), "text/html");
    const main = document.getElementById("main");
    const fresh = doc.getElementById("main");
    if (!answer.ok && fresh && playing) return false;
    if (!answer.ok || !main || !fresh || !doc.body.dataset.at) {
      location.assign(answer.ok ? answer.url : url);
      return false;
    }
    document.body.dataset.at = doc.body.dataset.at;
    const [status, newStatus] = [document, doc].map((d) => d.getElementById("status"));
    if (status && newStatus) morph(status, newStatus);
    showZone(fresh);
    const changed = morph(main, fresh);
    // morph keeps what a person has typed or slid, but here the new page's values are wanted.
    const inputs = /** @type {NodeListOf<HTMLInputElement>} */ (main.querySelectorAll("#timebar input"));
    for (const el of inputs) el.value = el.defaultValue;
    refreshTimes(main);
    glow(changed);
    pushAddress(answer.url);
    announce(main.querySelector(".looking strong")?.textContent ?? "");
    labelPlay();
    return true;
  } catch {
    if (!signal.aborted) location.assign(url);
    return false;
  }
}

async function play() {
  playing = 1;
  labelPlay();
  while (playing) {
    const next = /** @type {HTMLAnchorElement | null} */ (document.querySelector('#timebar a[data-step="next"]'));
    if (!next || !(await goTo(next.href))) break;
    await new Promise((done) => (playing = playing && setTimeout(done, playEvery)));
  }
  stop();
}

function stop() {
  clearTimeout(playing);
  playing = 0;
  labelPlay();
}

// labelPlay writes on the button what it does now.
function labelPlay() {
  const button = document.getElementById("timeplay");
  if (button) button.textContent = (playing ? button.dataset.stop : button.dataset.play) ?? "";
}
