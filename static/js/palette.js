// The palette goes to any page, project, shard, collection or plan by a few characters of its name:
// Ctrl+K or ⌘K opens it, arrows choose, Enter goes there. The server does the matching.
import { listbox } from "./listbox.js";
import { fill } from "./words.js";

const waitMs = 60; // between the last key and the request
let dialog = null; // HTMLDialogElement
let field = null; // HTMLInputElement
let list = null; // the options
let options = null; // and the choice among them
let timer = 0;
let request = null; // aborts the running request
let shown = null; // the query whose matches are listed

/** listenPalette opens the palette by its keys and its button. */
export function listenPalette() {
  dialog = /** @type {HTMLDialogElement | null} */ (document.getElementById("palette"));
  if (!dialog) return;
  field = /** @type {HTMLInputElement} */ (document.getElementById("palette-text"));
  list = document.getElementById("palette-list");
  options = listbox(field, list, { first: true });
  document.addEventListener("keydown", (e) => {
    if (e.key.toLowerCase() !== "k" || !(e.ctrlKey || e.metaKey) || e.altKey || e.shiftKey) return;
    e.preventDefault();
    dialog.open ? dialog.close() : open();
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

function open() {
  if (document.querySelector("dialog[open]")) return;
  dialog.showModal();
  field.select();
  look();
}

const words = () => dialog.querySelector("template").dataset;

async function look() {
  const q = field.value.trim();
  request?.abort();
  request = new AbortController();
  try {
    const answer = await fetch(`${dialog.dataset.find}?q=${encodeURIComponent(q)}`, { signal: request.signal, credentials: "same-origin" });
    if (!answer.ok) throw new Error(String(answer.status));
    const found = await answer.json();
    show(q, found.items, found.more);
  } catch (err) {
    if (err.name === "AbortError") return;
    show(q, [], 0);
    note(words().failed);
  }
}

function show(q, items, more) {
  const w = words();
  const all = q && w.locates ? [...items, { kind: "", name: fill(w.locate, { q }), detail: "", url: w.locates + encodeURIComponent(q) }] : items;
  options.show(all.map((item) => ({ ...item, kind: w[item.kind] ?? item.kind })));
  shown = q;
  note(more > 0 ? fill(w.more, { n: more }) : items.length === 0 && q ? fill(w.none, { q }) : "");
}

const note = (text) => (document.getElementById("palette-note").textContent = text ?? "");

async function moveOrGo(e) {
  if (e.key === "ArrowDown" || e.key === "ArrowUp") {
    e.preventDefault();
    options.move(e.key === "ArrowDown" ? 1 : -1);
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
