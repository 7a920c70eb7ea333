// The locate boxes of the header and of /locate: projects and recent finds while somebody types, and a
// paste anywhere on the page. Enter without a choice sends what was typed, as without script.
import { address, root } from "./address.js";
import { listbox } from "./listbox.js";
import { forgetFinds, recentFinds, rememberFind } from "./recent_finds.js";

/** @typedef {import("./api.js").Found} Found */

/** @typedef {import("./api.js").FoundItem} FoundItem */

const waitMs = 80; // between the last key and the request
const listed = 8; // projects; and as many recent finds

export function listenLocateBoxes() {
  const boxes = ["q", "find"].map((id) => /** @type {HTMLInputElement | null} */ (document.getElementById(id)));
  const ours = boxes.filter((el) => el !== null).filter((el) => el.name === "q" && el.form?.getAttribute("action") === address("/locate"));
  ours.forEach(suggest);
  const [box] = ours;
  if (box) document.addEventListener("paste", (e) => pasteInto(box, e));
  const asked = /** @type {HTMLInputElement | null} */ (document.querySelector("#locate[data-found] #q"));
  if (asked) rememberFind(asked.value);
  document.querySelector(`form[action="${root}/logout"]`)?.addEventListener("submit", forgetFinds);
}

// pasteInto puts what is pasted outside fields into the box. It is not sent: a clipboard may hold
// anything, so a person reads it first.
/** @type {(box: HTMLInputElement, e: ClipboardEvent) => void} */
function pasteInto(box, e) {
  const at = /** @type {Element} */ (e.target);
  const text = e.clipboardData?.getData("text/plain").trim();
  if (!text || e.defaultPrevented || at.closest?.("input, select, textarea, [contenteditable]") || document.querySelector("dialog[open]")) return;
  e.preventDefault();
  box.focus();
  box.value = text.replace(/\s+/g, " ").slice(0, box.maxLength);
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

const words = () => /** @type {HTMLElement | null} */ (document.querySelector("#palette template"))?.dataset ?? {};

/** @param {HTMLInputElement} box */
function suggest(box) {
  const list = document.createElement("ul");
  list.id = `${box.id}-list`;
  list.className = "suggestions";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", words().suggestions ?? "");
  box.after(list);
  for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-expanded", "false"], ["aria-controls", list.id]])
    box.setAttribute(name, value);
  const options = listbox(box, list);
  /** @type {(string | null)[]} */
  let texts = []; // what each option stands for; null clears the recent finds
  let timer = 0;
  /** @type {AbortController | null} */
  let request = null; // aborts the running request
  let fresh = false; // the box has just got the focus

  /** @param {boolean} on */
  function show(on) {
    list.hidden = !on || texts.length === 0;
    box.setAttribute("aria-expanded", String(!list.hidden));
    if (list.hidden) options.choose(-1);
  }

  function close() {
    clearTimeout(timer);
    request?.abort();
    show(false);
  }

  /** @type {(recent: string[], projects: FoundItem[]) => void} */
  function fill(recent, projects) {
    /** @type {import("./listbox.js").Item[]} */
    const items = [
      ...projects.map((p) => ({ name: p.name, detail: p.detail, kind: p.kind })),
      ...recent.map((text) => ({ name: text, kind: words().recent })),
    ];
    // Of projects with one name the id tells which was chosen.
    const shared = (/** @type {string} */ name) => projects.filter((p) => p.name === name).length > 1;
    texts = [...projects.map((p) => (shared(p.name) ? (p.detail ?? p.name) : p.name)), ...recent];
    if (recent.length > 0) {
      items.push({ name: words().forget ?? "", kind: "" });
      texts.push(null);
    }
    options.show(items);
    show(document.activeElement === box);
  }

  async function look() {
    const q = box.value.trim();
    const untouched = box.value === box.defaultValue; // an answer's question: all recent finds, no matches
    const recent = recentFinds().filter((x) => untouched || x.toLowerCase().includes(q.toLowerCase())).slice(0, listed);
    request?.abort();
    request = new AbortController();
    const { signal } = request;
    /** @type {FoundItem[]} */
    let projects = [];
    if (q && !untouched && q.length <= 200) {
      try {
        const find = document.getElementById("palette")?.dataset.find;
        const got = await fetch(`${find}?kind=project&q=${encodeURIComponent(q)}`, { signal, credentials: "same-origin" });
        if (got.ok) projects = /** @type {Found} */ (await got.json()).items.slice(0, listed);
      } catch {
        if (signal.aborted) return;
      }
    }
    fill(recent, projects);
  }

  /** @param {number} i */
  function take(i) {
    const text = texts[i];
    if (text === null) {
      forgetFinds();
      look();
      return;
    }
    box.value = text;
    close();
    box.form?.requestSubmit();
  }

  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, waitMs);
  });
  box.addEventListener("focus", () => {
    fresh = true;
    box.select();
    look();
  });
  box.addEventListener("click", () => {
    // The click that gave the focus has put the caret somewhere: what is typed or pasted next still replaces all.
    if (fresh && box.selectionStart === box.selectionEnd) box.select();
    fresh = false;
    if (list.hidden) look();
  });
  box.addEventListener("blur", close);
  box.form?.addEventListener("submit", close);
  list.addEventListener("pointerdown", (e) => e.preventDefault()); // keeps the focus in the box
  list.addEventListener("click", (e) => {
    const li = /** @type {Element} */ (e.target).closest("li");
    if (li) take([...list.children].indexOf(li));
  });
  box.addEventListener("keydown", (e) => {
    fresh = false;
    if (e.isComposing) return;
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      e.preventDefault();
      if (list.hidden) look();
      else options.move(e.key === "ArrowDown" ? 1 : -1);
    } else if (e.key === "Enter" && !list.hidden && options.chosen() >= 0) {
      e.preventDefault();
      take(options.chosen());
    } else if (e.key === "Escape" && !list.hidden) {
      e.preventDefault();
      close();
    }
  });
}
