// Copies an id or key with one click, whole even where it is shown shortened.
import { word, announce } from "./words.js";

export function listenCopy() {
  document.addEventListener("click", (e) => {
    const button = /** @type {HTMLElement | null} */ (/** @type {Element} */ (e.target).closest("[data-copies]"));
    if (button) copyBlock(button, document.getElementById(button.dataset.copies ?? ""));
  });
  if (!navigator.clipboard) return; // browsers offer it on https and localhost only
  document.documentElement.classList.add("can-copy");
  document.addEventListener("click", async (e) => {
    const at = /** @type {Element} */ (e.target);
    const el = /** @type {HTMLElement | null} */ (at.closest("[data-copy]"));
    if (el && !at.closest("a") && !String(getSelection())) await copy(el);
  });
}

/** @param {HTMLElement} el */
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

// copyBlock copies all text of an element. Where the browser offers no clipboard, the text is shown and
// selected, so that Ctrl+C copies it.
/** @type {(button: HTMLElement, from: HTMLElement | null) => Promise<void>} */
async function copyBlock(button, from) {
  if (!from) return;
  try {
    await navigator.clipboard.writeText(from.textContent);
  } catch {
    from.hidden = false;
    getSelection()?.selectAllChildren(from);
    if (!document.execCommand("copy")) {
      announce(word("selected"));
      mark(button, word("selected"));
      return;
    }
  }
  announce(word("copied"));
  mark(button, word("copied"));
}

/** @type {(button: HTMLElement, text: string) => void} */
function mark(button, text) {
  button.dataset.copied = text;
  setTimeout(() => delete button.dataset.copied, 2000);
}

/** copyFromRow copies the first id or key of the row in focus, else of the page. */
export function copyFromRow() {
  if (!navigator.clipboard) return false;
  const row = document.activeElement?.closest("main tr, main li, main section");
  const el = /** @type {HTMLElement | null} */ ((row ?? document.querySelector("main"))?.querySelector("[data-copy]"));
  if (el) copy(el);
  return Boolean(el);
}
