// Moves a page through time without leaving it: links of the time bar are followed in place, the
// slider acts when released, and play steps through the changes. Without this file the links and
// the form do the same.
import { morph, glow } from "./morph.js";
import { refreshTimes } from "./times.js";
import { announce } from "./words.js";

const playEvery = 1500; // ms to look at a change before the next
let playing = 0;
let under = null; // the running request

export function listenTime() {
  document.addEventListener("click", (e) => {
    const at = /** @type {Element} */ (e.target);
    if (at.closest?.("#timeplay")) return playing ? stop() : play();
    const link = /** @type {HTMLAnchorElement | null} */ (at.closest?.("#timebar a[data-step]"));
    if (!link || !past() || link.dataset.step === "now" || e.ctrlKey || e.metaKey || e.shiftKey || e.button !== 0) return;
    e.preventDefault();
    stop();
    go(link.href);
  });
  document.addEventListener("input", (e) => slide(e.target));
  document.addEventListener("change", (e) => {
    const slider = slide(e.target);
    if (slider) go(timeURL(Number(slider.value)));
  });
  document.addEventListener("keydown", press);
  addEventListener("popstate", () => location.reload());
}

const past = () => Boolean(document.body.dataset.at);

function press(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
  if (/** @type {Element} */ (e.target).closest?.("input, select, textarea, [contenteditable]")) return;
  const step = { ",": "prev", ".": "next", n: "now" }[e.key];
  const link = step && /** @type {HTMLElement | null} */ (document.querySelector(`#timebar a[data-step="${step}"]`));
  if (!link) return;
  e.preventDefault();
  link.click();
}

// slide shows the time at the slider's position.
function slide(el) {
  if (!(el instanceof HTMLInputElement) || el.id !== "timeslider") return null;
  const text = instant(Number(el.value)).replace("T", " ").replace("Z", " UTC");
  el.setAttribute("aria-valuetext", text);
  const out = document.getElementById("timeout");
  if (out) out.textContent = text;
  return el;
}

const instant = (ms) => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

function timeURL(ms) {
  const to = new URL(location.href);
  to.searchParams.set("at", instant(ms));
  to.hash = "";
  return to.href;
}

// go replaces the page's content by another address. It returns false if there is no such page, or
// if it leads back to now.
async function go(url) {
  under?.abort();
  under = new AbortController();
  const mine = under;
  try {
    const answer = await fetch(url, { headers: { Accept: "text/html" }, credentials: "same-origin", signal: mine.signal });
    const doc = new DOMParser().parseFromString(await answer.text(), "text/html");
    const main = /** @type {any} */ (document.getElementById("main"));
    const fresh = doc.getElementById("main");
    if (!answer.ok && fresh && playing) return false;
    if (!answer.ok || !fresh || !doc.body.dataset.at) {
      location.assign(answer.ok ? answer.url : url);
      return false;
    }
    document.body.dataset.at = doc.body.dataset.at;
    const status = document.getElementById("status");
    if (status) morph(status, doc.getElementById("status"));
    const changed = morph(main, fresh);
    // What is typed or slid is the person's own and morph leaves it.
    for (const el of main.querySelectorAll("#timebar input")) el.value = el.defaultValue;
    refreshTimes(main);
    glow(changed);
    history.pushState(null, "", answer.url);
    announce(main.querySelector(".looking strong")?.textContent ?? "");
    mark();
    return true;
  } catch (err) {
    if (err.name !== "AbortError") location.assign(url);
    return false;
  }
}

async function play() {
  playing = 1;
  mark();
  while (playing) {
    const next = /** @type {HTMLAnchorElement | null} */ (document.querySelector('#timebar a[data-step="next"]'));
    if (!next || !(await go(next.href))) break;
    await new Promise((done) => (playing = playing && setTimeout(done, playEvery)));
  }
  stop();
}

function stop() {
  clearTimeout(playing);
  playing = 0;
  mark();
}

// mark labels the button with what it does.
function mark() {
  const button = document.getElementById("timeplay");
  if (button) button.textContent = (playing ? button.dataset.stop : button.dataset.play) ?? "";
}
