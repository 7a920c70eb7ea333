// Copies an id or key with one click, whole even where it is shown shortened.
import { around, first } from "./elements.js";
import { word, announce } from "./words.js";

export function listenCopy() {
  document.addEventListener("click", (e) => {
    const button = around(e, "[data-copies]");
    if (button) copyBlock(button, document.getElementById(button.dataset.copies ?? ""));
  });
  if (!navigator.clipboard) return; // browsers offer it on https and localhost only
  document.documentElement.classList.add("can-copy");
  document.addEventListener("click", (e) => {
    const el = around(e, "[data-copy]");
    if (el && !around(e, "a") && !String(getSelection())) copy(el);
  });
}

/** copy copies an id or key, if the browser lets it. @param {HTMLElement} el */
const copy = (el) => navigator.clipboard.writeText(el.title || el.textContent).then(() => tell(el, "copied"), () => {});

// copyBlock copies all text of an element. Where the browser offers no clipboard, the text is shown and
// selected, so that Ctrl+C copies it.
/** @type {(button: HTMLElement, from: HTMLElement | null) => Promise<void>} */
async function copyBlock(button, from) {
  if (!from) return;
  try {
    await navigator.clipboard.writeText(from.textContent);
    tell(button, "copied");
  } catch {
    from.hidden = false;
    getSelection()?.selectAllChildren(from);
    tell(button, document.execCommand("copy") ? "copied" : "selected");
  }
}

/** tell shows for a while, at what was pressed, what came of it. @type {(el: HTMLElement, what: string) => void} */
function tell(el, what) {
  announce(word(what));
  el.dataset.copied = word(what);
  setTimeout(() => delete el.dataset.copied, 1500);
}

/** copyFromRow copies the first id or key of the row in focus, else of the page. It returns whether there is one. */
export function copyFromRow() {
  if (!navigator.clipboard) return false;
  const row = document.activeElement?.closest("main tr, main li, main section");
  const el = first("[data-copy]", row ?? document.querySelector("main") ?? document);
  if (el) copy(el);
  return el !== null;
}
