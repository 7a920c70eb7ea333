// The page of a plan: shows how long it can be run, and sends one request per press.
import { word } from "./words.js";
import { serverNow, span } from "./times.js";

export function keepPlan() {
  const until = /** @type {HTMLTimeElement | null} */ (document.querySelector("time[data-until]"));
  if (until) {
    tick(until);
    setInterval(() => document.hidden || tick(until), 1000);
  }
  const form = /** @type {HTMLFormElement | null} */ (document.querySelector("form[data-once]"));
  const button = form?.querySelector("button");
  form?.addEventListener("submit", () => button && setTimeout(() => (button.disabled = true)));
  // Back from the run by the browser's own button: the page is as it was left.
  addEventListener("pageshow", (e) => e.persisted && button && (button.disabled = false));
}

function tick(el) {
  const left = Date.parse(el.dateTime) - serverNow();
  if (left <= 0) {
    if (!el.isConnected) return;
    el.parentElement.textContent = el.dataset.until;
    const button = /** @type {HTMLButtonElement | null} */ (document.querySelector("form[data-once] button"));
    if (button) button.disabled = true;
    return;
  }
  el.dataset.clock ??= el.textContent;
  const text = `${el.dataset.clock}, ${word("in", { span: span(left) })}`;
  if (el.textContent !== text) el.textContent = text;
}
