// Keyboard shortcuts. The help dialog lists them: keyList in web/templates/shell.go.
import { address } from "./address.js";
import { copyFromRow } from "./copy.js";
import { toggleTheme } from "./theme_choice.js";

/** @type {Record<string, string>} */
const pages = { o: "/", l: "/locate", m: "/map", p: "/projects", c: "/collections", z: "/zones", h: "/heat", a: "/activity" };
let goUntil = 0; // until when a "g" waits for its second key, ms

export function listenShortcuts() {
  const help = /** @type {HTMLDialogElement | null} */ (document.getElementById("keys"));
  document.getElementById("help")?.addEventListener("click", () => help?.showModal());
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || help?.open) return;
    const field = /** @type {HTMLElement | null} */ (/** @type {Element} */ (e.target).closest?.("input, select, textarea, [contenteditable]"));
    if (field) {
      if (e.key === "Escape") field.blur();
      return;
    }
    if (e.key === "Escape") {
      const step = /** @type {Element} */ (e.target).closest?.("#tour-step");
      /** @type {HTMLElement | null} */ (step?.querySelector("[value=skip]"))?.click();
    }
    if (handleKey(e.key, help)) e.preventDefault();
  });
}

/** handleKey returns whether the key was used. @type {(key: string, help: HTMLDialogElement | null) => boolean} */
function handleKey(key, help) {
  if (Date.now() < goUntil) {
    goUntil = 0;
    if (pages[key]) {
      location.assign(address(pages[key]));
      return true;
    }
  }
  switch (key) {
    case "/": {
      const box = /** @type {HTMLInputElement | null} */ (document.getElementById("q") ?? document.getElementById("find"));
      box?.focus();
      box?.select();
      return true;
    }
    case "g":
      goUntil = Date.now() + 1200;
      return true;
    case "?":
      help?.showModal();
      return true;
    case "t":
      toggleTheme();
      return true;
    case "y":
      return copyFromRow();
    case "c": {
      const ticket = /** @type {HTMLElement | null} */ (document.querySelector('[data-copies="ticket-text"]'));
      ticket?.click();
      return Boolean(ticket);
    }
    case "j":
      return focusRow(1);
    case "k":
      return focusRow(-1);
    case "ArrowLeft":
      return Boolean(document.querySelector("main .neighbours")) && turnPage("prev");
    case "ArrowRight":
      return Boolean(document.querySelector("main .neighbours")) && turnPage("next");
    case "[":
      return turnPage("prev");
    case "]":
      return turnPage("next");
  }
  return false;
}

/** @param {string} rel */
function turnPage(rel) {
  const link = /** @type {HTMLElement | null} */ (document.querySelector(`main a[rel="${rel}"]`));
  link?.click();
  return Boolean(link);
}

/** focusRow moves through the rows of tables and lists by focusing their first link. @param {number} by */
function focusRow(by) {
  const rows = [...document.querySelectorAll("main tbody tr, main .attention li, main .events li, main .examples li")].filter((r) => r.querySelector("a"));
  if (rows.length === 0) return false;
  const at = rows.findIndex((r) => r.contains(document.activeElement));
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + by, 0), rows.length - 1)];
  next.querySelector("a")?.focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}
