// The locate boxes of the header and of /locate: projects and recent finds while somebody types, and a
// paste anywhere on the page. Enter without a choice sends what was typed, as without script.
import { address, root } from "./address.js";
import { all, first, inField, make } from "./elements.js";
import { listbox } from "./listbox.js";
import { forgetFinds, recentFinds, rememberFind } from "./recent_finds.js";
import { readJSON } from "./requests.js";
/** @import { Found, FoundItem } from "./api.js" */
/** @import { Item } from "./listbox.js" */

const listed = 8; // projects; and as many recent finds

export function listenLocateBoxes() {
  const boxes = all(`form[action="${address("/locate")}"] input[name="q"]:is(#q, #find)`, document, HTMLInputElement);
  boxes.forEach(suggest);
  const box = boxes.find((el) => el.id === "q") ?? boxes[0];
  if (box) document.addEventListener("paste", (e) => pasteInto(box, e));
  const asked = first("#locate[data-found] #q");
  if (asked instanceof HTMLInputElement) rememberFind(asked.value);
  first(`form[action="${root}/logout"]`)?.addEventListener("submit", forgetFinds);
}

// pasteInto puts what is pasted outside fields into the box. It is not sent: a clipboard may hold
// anything, so a person reads it first.
/** @type {(box: HTMLInputElement, e: ClipboardEvent) => void} */
function pasteInto(box, e) {
  const text = e.clipboardData?.getData("text/plain").trim();
  if (!text || e.defaultPrevented || inField(e) || first("dialog[open]")) return;
  e.preventDefault();
  box.focus();
  box.value = text.replace(/\s+/g, " ").slice(0, box.maxLength);
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

/** @param {HTMLInputElement} box */
function suggest(box) {
  const words = first("#palette template")?.dataset ?? {};
  const id = `${box.id}-list`;
  const list = make("ul", { id, className: "suggestions", hidden: true, role: "listbox", ariaLabel: words.suggestions });
  box.after(list);
  box.role = "combobox";
  box.ariaAutoComplete = "list";
  box.ariaExpanded = "false";
  box.setAttribute("aria-controls", id);
  const options = listbox(box, list, { find });
  let fresh = false; // the box has just got the focus

  /** @param {boolean} on */
  function show(on) {
    list.hidden = !on;
    box.ariaExpanded = String(on);
    if (!on) options.choose(-1);
  }

  function close() {
    options.stop();
    show(false);
  }

  /** @param {string} text */
  function take(text) {
    box.value = text;
    close();
    box.form?.requestSubmit();
  }

  function forget() {
    forgetFinds();
    options.look();
  }

  /** @type {(q: string, signal: AbortSignal) => Promise<Item[]>} */
  async function find(q, signal) {
    const untouched = box.value === box.defaultValue; // an answer's question: all recent finds, no matches
    const recent = recentFinds().filter((x) => untouched || x.toLowerCase().includes(q.toLowerCase())).slice(0, listed);
    const projects = q && !untouched && q.length <= 200 ? await projectsOf(q, signal) : [];
    if (signal.aborted) return [];
    // Of projects with one name the id tells which was chosen.
    const shared = (/** @type {string} */ name) => projects.filter((p) => p.name === name).length > 1;
    const items = [
      ...projects.map(({ name, detail, kind }) => ({ name, detail, kind, take: () => take(shared(name) ? (detail ?? name) : name) })),
      ...recent.map((text) => ({ name: text, kind: words.recent, take: () => take(text) })),
    ];
    if (recent.length > 0) items.push({ name: words.forget ?? "", kind: "", take: forget });
    show(items.length > 0 && document.activeElement === box);
    return items;
  }

  box.addEventListener("focus", () => {
    fresh = true;
    box.select();
    options.look();
  });
  box.addEventListener("click", () => {
    // The click that gave the focus has put the caret somewhere: what is typed or pasted next still replaces all.
    if (fresh && box.selectionStart === box.selectionEnd) box.select();
    fresh = false;
    if (list.hidden) options.look();
  });
  box.addEventListener("blur", close);
  box.form?.addEventListener("submit", close);
  list.addEventListener("pointerdown", (e) => e.preventDefault()); // keeps the focus in the box
  box.addEventListener("keydown", (e) => {
    fresh = false;
    if (e.isComposing) return;
    const chosen = options.chosen();
    if (e.key === "Enter" && !list.hidden && chosen) chosen.take?.();
    else if (e.key === "Escape" && !list.hidden) close();
    else return;
    e.preventDefault();
  });
}

/** @type {(q: string, signal: AbortSignal) => Promise<FoundItem[]>} */
async function projectsOf(q, signal) {
  /** @type {Found | null} */
  const found = await readJSON(`${first("#palette")?.dataset.find}?kind=project&q=${encodeURIComponent(q)}`, signal).catch(() => null);
  return found?.items.slice(0, listed) ?? [];
}
