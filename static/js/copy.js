// Copies an id or key with one click, whole even where it is shown shortened.
import { word, announce } from "./words.js";

export function listenCopy() {
  if (!navigator.clipboard) return; // browsers offer it on https and localhost only
  document.documentElement.classList.add("can-copy");
  document.addEventListener("click", async (e) => {
    const at = /** @type {Element} */ (e.target);
    const el = /** @type {HTMLElement | null} */ (at.closest("[data-copy]"));
    if (el && !at.closest("a") && !String(getSelection())) await copy(el);
  });
}

async function copy(el) {
  try {
    await navigator.clipboard.writeText(el.title || el.textContent);
  } catch {
    return;
  }
  announce(word("copied"));
  el.dataset.copied = word("copied");
  setTimeout(() => delete el.dataset.copied, 1000);
}

/** copyFromRow copies the first id or key of the row in focus, else of the page. */
export function copyFromRow() {
  if (!navigator.clipboard) return false;
  const row = document.activeElement?.closest("main tr, main li, main section");
  const el = /** @type {HTMLElement | null} */ ((row ?? document.querySelector("main"))?.querySelector("[data-copy]"));
  if (el) copy(el);
  return Boolean(el);
}
