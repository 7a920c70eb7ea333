// The page of a plan: counts down how long it can be run, and sends its form only once.
import { word } from "./words.js";
import { serverNow, span } from "./relative_times.js";

/** enhancePlan starts both where the page shows a plan. */
export function enhancePlan() {
  const until = /** @type {HTMLTimeElement | null} */ (document.querySelector("time[data-until]"));
  if (until) {
    countDown(until);
    setInterval(() => document.hidden || countDown(until), 1000);
  }
  const form = /** @type {HTMLFormElement | null} */ (document.querySelector("form[data-once]"));
  const button = form?.querySelector("button");
  form?.addEventListener("submit", () => button && setTimeout(() => (button.disabled = true)));
  // The browser's back button shows the page as it was left, with the button disabled.
  addEventListener("pageshow", (e) => e.persisted && button && (button.disabled = false));
}

/**
 * countDown writes the time left. At its end it says that the plan has expired.
 * @param {HTMLTimeElement} el
 */
function countDown(el) {
  const left = Date.parse(el.dateTime) - serverNow();
  if (left <= 0) {
    if (!el.isConnected) return;
    if (el.parentElement) el.parentElement.textContent = el.dataset.until ?? "";
    const button = /** @type {HTMLButtonElement | null} */ (document.querySelector("form[data-once] button"));
    if (button) button.disabled = true;
    return;
  }
  el.dataset.clock ??= el.textContent;
  const text = `${el.dataset.clock}, ${word("in", { span: span(left) })}`;
  if (el.textContent !== text) el.textContent = text;
}
