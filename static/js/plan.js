// The page of a plan: counts down how long it can be run, and sends its form only once.
import { all, setText } from "./elements.js";
import { word } from "./words.js";
import { serverNow, span } from "./relative_times.js";

/** enhancePlan starts both where the page shows a plan. */
export function enhancePlan() {
  for (const form of all("form[data-once]")) {
    form.addEventListener("submit", () => setTimeout(() => allow(false)));
    // The browser's back button shows the page as it was left, with the button disabled.
    addEventListener("pageshow", (e) => e.persisted && allow(true));
  }
  if (all("time[data-until]").length === 0) return;
  countDown();
  setInterval(() => document.hidden || countDown(), 1000);
}

/** @param {boolean} yes */
function allow(yes) {
  for (const button of all("form[data-once] button", document, HTMLButtonElement)) button.disabled = !yes;
}

// countDown writes the time left. At its end it says that the plan has expired.
function countDown() {
  for (const el of all("time[data-until]", document, HTMLTimeElement)) {
    const left = Date.parse(el.dateTime) - serverNow();
    if (left <= 0) {
      setText(el.parentElement, el.dataset.until ?? "");
      allow(false);
      continue;
    }
    el.dataset.clock ??= el.textContent;
    setText(el, `${el.dataset.clock}, ${word("in", { span: span(left) })}`);
  }
}
