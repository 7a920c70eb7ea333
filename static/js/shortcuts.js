// Keyboard shortcuts. The help dialog lists them: keyList in web/templates/shell.go.
import { address } from "./address.js";
import { copyFromRow } from "./copy.js";
import { all, around, first, inField, modified } from "./elements.js";
import { toggleTheme } from "./theme_choice.js";

/** @type {Record<string, string>} */
const pages = { o: "/", l: "/locate", m: "/map", p: "/projects", c: "/collections", z: "/zones", h: "/heat", a: "/activity" };
let goUntil = 0; // until when a "g" waits for its second key, ms

/** @type {Record<string, () => boolean | void>} */
const actions = {
  "/": () => {
    const box = first("#q") ?? first("#find");
    box?.focus();
    if (box instanceof HTMLInputElement) box.select();
  },
  g: () => void (goUntil = Date.now() + 1200),
  "?": showHelp,
  t: toggleTheme,
  y: copyFromRow,
  c: () => press('[data-copies="ticket-text"]'),
  j: () => focusRow(1),
  k: () => focusRow(-1),
  ArrowLeft: () => first("main .neighbours") !== null && press('main a[rel="prev"]'),
  ArrowRight: () => first("main .neighbours") !== null && press('main a[rel="next"]'),
  "[": () => press('main a[rel="prev"]'),
  "]": () => press('main a[rel="next"]'),
  ",": () => press('#timebar a[data-step="prev"]'),
  ".": () => press('#timebar a[data-step="next"]'),
  n: () => press('#timebar a[data-step="now"]'),
};

export function listenShortcuts() {
  document.getElementById("help")?.addEventListener("click", showHelp);
  document.addEventListener("keydown", (e) => {
    if (modified(e) || e.defaultPrevented || first("dialog[open]")) return;
    if (e.key === "Escape") leave(e);
    if (!inField(e) && handleKey(e.key)) e.preventDefault();
  });
}

function showHelp() {
  const help = first("#keys");
  if (help instanceof HTMLDialogElement) help.showModal();
}

/** leave leaves a field, or the tour. @param {KeyboardEvent} e */
function leave(e) {
  if (inField(e)) /** @type {HTMLElement} */ (e.target).blur();
  else if (around(e, "#tour-step")) press("#tour-step [value=skip]");
}

/** handleKey returns whether the key was used. @param {string} key */
function handleKey(key) {
  const page = Date.now() < goUntil && pages[key];
  goUntil = 0;
  if (page) location.assign(address(page));
  return Boolean(page) || (key in actions && actions[key]() !== false);
}

/** press clicks what a key stands for, and returns whether the page has it. @param {string} selector */
function press(selector) {
  const el = first(selector);
  el?.click();
  return el !== null;
}

/** focusRow moves through the rows of tables and lists by focusing their first link. @param {number} by */
function focusRow(by) {
  const rows = all(":is(main tbody tr, main .attention li, main .events li, main .examples li):has(a)");
  if (rows.length === 0) return false;
  const at = rows.findIndex((r) => r.contains(document.activeElement));
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + by, 0), rows.length - 1)];
  next.querySelector("a")?.focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}
