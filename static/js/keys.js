// Keyboard shortcuts; the list in the help dialog (templates/shell.go) must be the same.
import { copyHere } from "./copy.js";
import { toggleTheme } from "./toggle.js";

const places = { o: "/", l: "/locate", p: "/projects", c: "/collections", z: "/zones", h: "/heat", a: "/activity" };
let going = 0; // until when a "g" waits for its second key

export function listenKeys() {
  const help = /** @type {HTMLDialogElement | null} */ (document.getElementById("keys"));
  document.getElementById("help")?.addEventListener("click", () => help.showModal());
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || help?.open) return;
    const field = /** @type {HTMLElement | null} */ (/** @type {Element} */ (e.target).closest?.("input, select, textarea, [contenteditable]"));
    if (field) {
      if (e.key === "Escape") field.blur();
      return;
    }
    if (press(e.key, help)) e.preventDefault();
  });
}

function press(key, help) {
  if (Date.now() < going) {
    going = 0;
    if (places[key]) {
      location.assign(places[key]);
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
      going = Date.now() + 1200;
      return true;
    case "?":
      help?.showModal();
      return true;
    case "t":
      toggleTheme();
      return true;
    case "y":
      return copyHere();
    case "j":
      return step(1);
    case "k":
      return step(-1);
    case "[":
      return follow("prev");
    case "]":
      return follow("next");
  }
  return false;
}

function follow(rel) {
  const link = /** @type {HTMLElement | null} */ (document.querySelector(`main a[rel="${rel}"]`));
  link?.click();
  return Boolean(link);
}

// step moves through the rows of tables and lists by focusing their first link.
function step(by) {
  const rows = [...document.querySelectorAll("main tbody tr, main .attention li, main .events li, main .examples li")].filter((r) => r.querySelector("a"));
  if (rows.length === 0) return false;
  const at = rows.findIndex((r) => r.contains(document.activeElement));
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + by, 0), rows.length - 1)];
  next.querySelector("a").focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}
