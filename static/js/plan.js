// The page of a plan: counts down how long it can be run, and sends its form only once.
import { word } from "./words.js";
import { serverNow, span } from "./relative_times.js";

/** enhancePlan starts both where the page shows a plan. */
export function enhancePlan() {
  const forms = /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll("form[data-once]"));
  for (const form of forms) {
    const button = form.querySelector("button");
    form.addEventListener("submit", () => button && setTimeout(() => (button.disabled = true)));
    // The browser's back button shows the page as it was left, with the button disabled.
    addEventListener("pageshow", (e) => e.persisted && button && (button.disabled = false));
  }
  if (!document.querySelector("time[data-until]")) return;
  countDown();
  setInterval(() => document.hidden || countDown(), 1000);
}

/** countDown writes the time left. At its end it says that the plan has expired. */
function countDown() {
  for (const el of /** @type {NodeListOf<HTMLTimeElement>} */ (document.querySelectorAll("time[data-until]"))) {
    const left = Date.parse(el.dateTime) - serverNow();
    if (left <= 0) {
      if (el.parentElement) el.parentElement.textContent = el.dataset.until ?? "";
      const buttons = /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("form[data-once] button"));
      for (const button of buttons) button.disabled = true;
      continue;
    }
    el.dataset.clock ??= el.textContent;
    const text = `${el.dataset.clock}, ${word("in", { span: span(left) })}`;
    if (el.textContent !== text) el.textContent = text;
  }
}
