// Small controls of pages, which are listened to in the whole document: regions may get them later.
import { all, around, first, setText } from "./elements.js";
import { clamp } from "./pictures.js";

export function listenControls() {
  document.addEventListener("input", (e) => {
    const box = around(e, "[data-filter]");
    if (box instanceof HTMLInputElement) filterList(box);
  });
  document.addEventListener("click", (e) => {
    if (around(e, "[data-print]")) print();
    openKeySpace(e);
  });
  addEventListener("beforeprint", prepareReport);
}

// filterList hides items of the list after a box whose text lacks the words that are typed.
/** @param {HTMLInputElement} box */
function filterList(box) {
  const words = box.value.toLowerCase().split(/\s+/);
  for (const item of all("li", box.parentElement ?? undefined)) {
    const text = item.textContent.toLowerCase();
    item.hidden = !words.every((w) => text.includes(w));
  }
}

// openKeySpace lists the chunks at a place of the picture of the key space, also where the picture is
// too dense for a link per chunk.
/** @param {MouseEvent} e */
function openKeySpace(e) {
  const strip = around(e, ".strip, .lane svg");
  if (!strip || around(e, "a")) return;
  const box = strip.getBoundingClientRect();
  const pos = clamp((e.clientX - box.left) / box.width, 0, 0.999999);
  location.assign(`${location.pathname}?pos=${pos.toFixed(6)}#chunks`);
}

// prepareReport opens what is folded until the page is printed. Its head gets the time of printing and the age of
// the data, which live updates change.
function prepareReport() {
  const folded = all("main details:not([open], .timebar)");
  for (const el of folded) el.setAttribute("open", "");
  addEventListener("afterprint", () => folded.forEach((el) => el.removeAttribute("open")), { once: true });
  setText(first('[data-report="time"]'), new Date().toISOString().slice(0, 19).replace("T", " ") + " UTC");
  setText(first('[data-report="age"]'), first("#status .words")?.textContent ?? "");
}
