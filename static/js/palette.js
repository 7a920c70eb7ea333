// The palette goes to any page, project, shard, collection or plan by a few characters of its name:
// Ctrl+K or ⌘K opens it, arrows choose, Enter goes there. The server does the matching.
import { fill } from "./words.js";

const waitMs = 60; // between the last key and the request
let dialog = null; // HTMLDialogElement
let field = null; // HTMLInputElement
let list = null; // the options
let chosen = 0;
let timer = 0;
let request = null; // aborts the running request
let shown = null; // the query whose matches are listed

/** listenPalette opens the palette by its keys and its button. */
export function listenPalette() {
  dialog = /** @type {HTMLDialogElement | null} */ (document.getElementById("palette"));
  if (!dialog) return;
  field = /** @type {HTMLInputElement} */ (document.getElementById("palette-text"));
  list = document.getElementById("palette-list");
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
  list.replaceChildren(...all.map(option));
  shown = q;
  choose(0);
  note(more > 0 ? fill(w.more, { n: more }) : items.length === 0 && q ? fill(w.none, { q }) : "");
}

function option(item, i) {
  const li = document.createElement("li");
  li.id = `palette-${i}`;
  li.setAttribute("role", "option");
  const a = document.createElement("a");
  a.href = item.url;
  a.tabIndex = -1;
  const name = document.createElement("bdi");
  name.textContent = item.name;
  const detail = document.createElement("small");
  detail.textContent = item.detail;
  const kind = document.createElement("span");
  kind.textContent = words()[item.kind] ?? item.kind;
  a.append(name, detail, kind);
  li.append(a);
  li.addEventListener("pointermove", () => choose(i));
  return li;
}

const note = (text) => (document.getElementById("palette-note").textContent = text ?? "");

function choose(i) {
  const n = list.children.length;
  chosen = n ? (i + n) % n : 0;
  [...list.children].forEach((li, k) => li.setAttribute("aria-selected", String(k === chosen)));
  const li = list.children[chosen];
  if (li) field.setAttribute("aria-activedescendant", li.id);
  else field.removeAttribute("aria-activedescendant");
  li?.scrollIntoView({ block: "nearest" });
}

async function moveOrGo(e) {
  if (e.key === "ArrowDown" || e.key === "ArrowUp") {
    e.preventDefault();
    choose(chosen + (e.key === "ArrowDown" ? 1 : -1));
  } else if (e.key === "Enter" && !e.isComposing) {
    e.preventDefault();
    clearTimeout(timer);
    // Who types fast presses Enter before the matches of the last characters are there.
    if (shown !== field.value.trim()) await look();
    const link = list.children[chosen]?.querySelector("a");
    if (!link) return;
    if (e.ctrlKey || e.metaKey) window.open(link.href, "_blank", "noopener");
    else location.assign(link.href);
    dialog.close();
  }
}
