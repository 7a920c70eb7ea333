// The palette goes to any page, project, shard, collection or plan by a few characters of its name:
// Ctrl+K or ⌘K opens it, arrows choose, Enter goes there. The server does the matching.
import { listbox } from "./listbox.js";
import { recentFinds } from "./recent_finds.js";
import { fill } from "./words.js";

const waitMs = 60; // between the last key and the request
const recent = 5; // finds offered before anything is typed

/** listenPalette opens the palette by its keys and its button. */
export function listenPalette() {
  const [dialog, field, list, note] = ["palette", "palette-text", "palette-list", "palette-note"].map((id) => document.getElementById(id));
  if (dialog instanceof HTMLDialogElement && field instanceof HTMLInputElement && list && note) attach(dialog, field, list, note);
}

/**
 * @param {HTMLDialogElement} dialog
 * @param {HTMLInputElement} field what is typed
 * @param {HTMLElement} list the options
 * @param {HTMLElement} note the line below them
 */
function attach(dialog, field, list, note) {
  const options = listbox(field, list, { first: true });
  const words = dialog.querySelector("template")?.dataset ?? {};
  let timer = 0;
  /** @type {AbortController | null} */
  let request = null;
  /** @type {string | null} */
  let shown = null; // the query whose matches are listed

  function open() {
    if (document.querySelector("dialog[open]")) return;
    dialog.showModal();
    field.select();
    look();
  }

  async function look() {
    const q = field.value.trim();
    request?.abort();
    request = new AbortController();
    const { signal } = request;
    try {
      const answer = await fetch(`${dialog.dataset.find}?q=${encodeURIComponent(q)}`, { signal, credentials: "same-origin" });
      if (!answer.ok) throw new Error(String(answer.status));
      show(q, await answer.json());
    } catch {
      if (signal.aborted) return;
      show(q, { items: [], more: 0 });
      note.textContent = words.failed ?? "";
    }
  }

  /** @type {(q: string, found: Pick<import("./api.js").Found, "items" | "more">) => void} */
  function show(q, { items, more }) {
    const all = items.map((item) => ({ ...item, kind: words[item.kind] ?? item.kind }));
    if (q && words.locates) all.push({ kind: "", name: fill(words.locate, { q }), detail: "", url: words.locates + encodeURIComponent(q) });
    if (!q && words.locates) {
      // What was found before leads: people come back to the same few projects.
      const finds = recentFinds().slice(0, recent);
      all.unshift(...finds.map((name) => ({ kind: words.recent ?? "", name, detail: "", url: words.locates + encodeURIComponent(name) })));
    }
    options.show(all);
    shown = q;
    note.textContent = more > 0 ? fill(words.more, { n: more }) : items.length === 0 && q ? fill(words.none, { q }) : "";
  }

  /** @param {KeyboardEvent} e */
  async function moveOrGo(e) {
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      e.preventDefault();
      options.move(e.key === "ArrowDown" ? 1 : -1);
    } else if ((e.key === "Home" || e.key === "End") && !e.shiftKey && field.selectionStart === field.selectionEnd) {
      // In the text first, as in any field; from the end of it, in the list.
      if (field.selectionStart !== (e.key === "Home" ? 0 : field.value.length)) return;
      e.preventDefault();
      options.choose(e.key === "Home" ? 0 : list.children.length - 1);
    } else if (e.key === "Enter" && !e.isComposing) {
      e.preventDefault();
      clearTimeout(timer);
      // Who types fast presses Enter before the matches of the last characters are there.
      if (shown !== field.value.trim()) await look();
      const link = options.link();
      if (!link) return;
      if (e.ctrlKey || e.metaKey) window.open(link.href, "_blank", "noopener");
      else location.assign(link.href);
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
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, waitMs);
  });
  field.addEventListener("keydown", moveOrGo);
  list.addEventListener("click", (e) => {
    if (/** @type {Element} */ (e.target).closest("a")) dialog.close();
  });
  dialog.addEventListener("click", (e) => e.target === dialog && dialog.close()); // beside it
}
