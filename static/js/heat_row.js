// Shows a row of the heat map when it is opened: its chunk, and who writes to it.
import { keyText } from "./heat_data.js";
import { number, say } from "./heat_state.js";

const link = (href, text) => {
  const a = document.createElement("a");
  a.href = href;
  a.textContent = text;
  return a;
};

/** openRow fills a place below the picture and puts the focus there. */
export async function openRow(into, { row, name, max, ns, window }) {
  into.hidden = false;
  const head = document.createElement("p");
  const title = document.createElement("strong");
  title.textContent = name;
  head.append(title);
  if (row.shard) head.append(" · ", link(`/shards/${encodeURIComponent(row.shard)}`, row.shard));
  let first = null;
  if (row.ref) {
    first = link(`/collections/${encodeURIComponent(ns)}/chunks/${encodeURIComponent(row.ref)}`, say("open"));
    head.append(" · ", first);
  } else if (row.project) {
    first = link(row.name ? `/projects/${row.project}` : `/locate?q=${row.project}`, row.name || row.project);
    head.replaceChildren(first);
  }
  into.replaceChildren(head);
  first?.focus({ preventScroll: true });
  if (!row.min || !row.ref) return; // a project's row, or one whose bounds are hidden
  const note = document.createElement("p");
  note.className = "muted";
  note.textContent = say("busy");
  into.append(note);
  try {
    const q = new URLSearchParams({ ns, window, min: JSON.stringify(row.min), max: JSON.stringify(max) });
    const answer = await fetch(`/api/v1/heat/range?${q}`, { credentials: "same-origin" });
    const body = await answer.json();
    if (!answer.ok) throw new Error(body.detail ?? answer.statusText);
    if (!note.isConnected) return; // another row was opened meanwhile
    note.textContent = say("writers", { window: body.window });
    note.after(body.projects.length ? writers(body) : noWriters());
    if (max) head.title = `${keyText(row.min)} – ${keyText(max)}`;
  } catch (err) {
    note.textContent = say("failed", { error: err.message });
  }
}

function noWriters() {
  const p = document.createElement("p");
  p.textContent = say("nobody");
  return p;
}

function writers(body) {
  const lists = document.createElement("div");
  lists.className = "halves";
  const list = (items, href, text) => {
    const ul = document.createElement("ul");
    for (const it of items) {
      const li = document.createElement("li");
      const rate = document.createElement("span");
      rate.className = "n";
      rate.textContent = ` ${it.atLeast ? "≥ " : it.exact ? "" : "≈ "}${number(it.writesPerSecond)}/s`;
      li.append(link(href(it), text(it)), rate);
      ul.append(li);
    }
    return ul;
  };
  lists.append(
    list(
      body.projects,
      (p) => (p.name ? `/projects/${p.id}` : `/locate?q=${p.id}`),
      (p) => p.name || p.id,
    ),
    list(
      body.documents,
      (d) => `/locate?q=${d.id}`,
      (d) => (d.name ? `${d.name} / ${d.id}` : d.id),
    ),
  );
  return lists;
}
