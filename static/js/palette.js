// The palette goes to any page, project, shard, collection or plan by a few characters of its name:
// Ctrl+K or ⌘K opens it, arrows choose, Enter goes there. The server does the matching.
import { listbox } from "./listbox.js";
import { recentFinds } from "./recent_finds.js";
import { readJSON } from "./requests.js";
import { fill } from "./words.js";
/** @import { Found } from "./api.js" */
/** @import { Item } from "./listbox.js" */

const recent = 5; // finds offered before anything is typed

/** listenPalette opens the palette by its keys and its button. */
export function listenPalette() {
  const [dialog, field, list, note] = ["palette", "palette-text", "palette-list", "palette-note"].map((id) => document.getElementById(id));
  if (dialog instanceof HTMLDialogElement && field instanceof HTMLInputElement && list && note) attach(dialog, field, list, note);
}

// attach has the options in a list below the field, and a note below them.
/** @type {(dialog: HTMLDialogElement, field: HTMLInputElement, list: HTMLElement, note: HTMLElement) => void} */
function attach(dialog, field, list, note) {
  const words = dialog.querySelector("template")?.dataset ?? {};
  const options = listbox(field, list, { first: true, find });
  /** @type {string | null} */
  let shown = null; // the query whose matches are listed

  function open() {
    if (document.querySelector("dialog[open]")) return;
    dialog.showModal();
    field.select();
    options.look();
  }

  /** @type {(q: string, signal: AbortSignal) => Promise<Item[]>} */
  async function find(q, signal) {
    /** @type {Found | null} */
    const found = await readJSON(`${dialog.dataset.find}?q=${encodeURIComponent(q)}`, signal).catch(() => null);
    if (signal.aborted) return [];
    const { items, more } = found ?? { items: [], more: 0 };
    shown = q;
    note.textContent = found ? fill(more > 0 ? words.more : items.length === 0 && q ? words.none : "", { n: more, q }) : (words.failed ?? "");
    const take = () => dialog.close();
    const matches = items.map((item) => ({ ...item, kind: words[item.kind] ?? item.kind, take }));
    /** @type {(name: string, text: string, kind?: string) => Item} */
    const located = (name, text, kind = "") => ({ kind, name, url: words.locates + encodeURIComponent(text), take });
    if (!words.locates) return matches;
    if (q) return [...matches, located(fill(words.locate, { q }), q)];
    // What was found before leads: people come back to the same few projects.
    return [...recentFinds().slice(0, recent).map((text) => located(text, text, words.recent)), ...matches];
  }

  /** @param {KeyboardEvent} e */
  async function jumpOrGo(e) {
    if ((e.key === "Home" || e.key === "End") && !e.shiftKey && field.selectionStart === field.selectionEnd) {
      // In the text first, as in any field; from the end of it, in the list.
      if (field.selectionStart !== (e.key === "Home" ? 0 : field.value.length)) return;
      e.preventDefault();
      options.choose(e.key === "Home" ? 0 : list.children.length - 1);
    } else if (e.key === "Enter" && !e.isComposing) {
      e.preventDefault();
      // Who types fast presses Enter before the matches of the last characters are there.
      if (shown !== field.value.trim()) await options.look();
      const url = options.chosen()?.url;
      if (!url) return;
      if (e.ctrlKey || e.metaKey) window.open(url, "_blank", "noopener");
      else location.assign(url);
      dialog.close();
    }
  }

  document.addEventListener("keydown", (e) => {
    if (e.key.toLowerCase() !== "k" || !(e.ctrlKey || e.metaKey) || e.altKey || e.shiftKey) return;
    e.preventDefault();
    if (dialog.open) dialog.close();
    else open();
  });
  document.getElementById("go")?.addEventListener("click", open);
  field.addEventListener("keydown", jumpOrGo);
  dialog.addEventListener("click", (e) => e.target === dialog && dialog.close()); // beside it
}
