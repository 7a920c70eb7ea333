// Transforms one part of a page into another in place. Kept elements keep focus, scroll position,
// text selection, typed text and open details. Rows are matched by id or data-key, everything else
// by position.

const keyOf = (n) => (n.nodeType === 1 && (n.getAttribute("id") || n.getAttribute("data-key"))) || null;
const same = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName;

/**
 * morph makes `from` equal to `to` and returns the elements whose shown
 * content changed.
 */
export function morph(from, to) {
  const changed = new Set();
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  node(from, to, changed);
  // A moved element loses focus in browsers without moveBefore.
  if (active && active !== document.activeElement && active.isConnected && from.contains(active)) {
    active.focus({ preventScroll: true });
  }
  return changed;
}

function node(from, to, changed) {
  if (from.nodeType === 3 || from.nodeType === 8) {
    if (from.nodeValue !== to.nodeValue) {
      from.nodeValue = to.nodeValue;
      if (from.nodeType === 3) mark(from.parentElement, changed);
    }
    return;
  }
  // A script has drawn here what the server does not draw.
  if (from.dataset?.kept !== undefined) return;
  // Relative times change as they age; only a new instant is a change.
  if (from.nodeName === "TIME" && from.dateTime === to.dateTime) return;
  if (from.isEqualNode(to)) return; // most of what a version has
  attributes(from, to, changed);
  children(from, to, changed);
}

function attributes(from, to, changed) {
  for (const { name, value } of [...to.attributes]) {
    if (ours(from, name) || from.getAttribute(name) === value) continue;
    from.setAttribute(name, value);
    if (name === "class" && from.nodeName === "g") mark(from, changed);
  }
  for (const { name } of [...from.attributes]) {
    if (!to.hasAttribute(name) && !ours(from, name)) from.removeAttribute(name);
  }
}

// ours are attributes that the user or a script controls.
function ours(el, name) {
  if (name === "open") return el.nodeName === "DETAILS" || el.nodeName === "DIALOG";
  // Of grid.js; without it an element that was given the focus would lose it.
  if (name === "tabindex") return el === document.activeElement || Boolean(el.closest("[data-grid]"));
  if (name === "role") return Boolean(el.closest("[data-grid]"));
  return name === "data-chosen" || name === "data-watched" || name === "data-pressed";
}

function children(from, to, changed) {
  const keyed = new Map();
  for (const c of from.childNodes) {
    const k = keyOf(c);
    if (k) keyed.set(k, c);
  }
  // Rows that left go first: the rows after them then stay where they are and need not be moved.
  const stays = keyed.size > 0 && new Set([...to.children].map(keyOf));
  for (const [k, c] of keyed) if (!stays.has(k)) c.remove();
  let at = from.firstChild;
  for (const next of [...to.childNodes]) {
    const k = keyOf(next);
    let match = null;
    if (k) {
      const c = keyed.get(k);
      if (c && same(c, next)) {
        match = c;
        keyed.delete(k);
      }
    } else {
      // Skip elements with a key: they are matched later or removed below.
      let c = at;
      while (c && keyOf(c)) c = c.nextSibling;
      if (c && same(c, next)) match = c;
    }
    if (!match) {
      const fresh = document.importNode(next, true);
      from.insertBefore(fresh, at);
      if (k) mark(fresh, changed);
      continue;
    }
    if (match !== at) move(from, match, at);
    node(match, next, changed);
    at = match.nextSibling;
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}

function move(parent, child, before) {
  if (parent.moveBefore && child.isConnected) parent.moveBefore(child, before);
  else parent.insertBefore(child, before);
}

// mark marks the smallest element worth highlighting: a cell, a fact, a list entry.
function mark(el, changed) {
  // The stacked bars drift all the time; their widths move, which is enough.
  if (!el || el.closest("time, .status, .stack svg")) return;
  const cell = el.closest("td, th, dd, li, g, .total, h1, tr");
  if (cell) changed.add(cell);
}

const most = 60; // where more changes at once, light would tell nothing, and lighting it would take long
const ends = new WeakMap(); // element → when its light ends

/** glow lights what changed once, for a second. What is lit already stays so, and is lit again after that. */
export function glow(changed) {
  const now = performance.now();
  const lit = changed.size > most ? [] : [...changed].filter((el) => !(ends.get(el) > now));
  if (lit.length === 0) return;
  for (const el of lit) ends.set(el, now + 1200);
  requestAnimationFrame(() => lit.forEach((el) => el.classList.add("changed")));
  setTimeout(() => lit.forEach((el) => el.classList.remove("changed")), 1200);
}
