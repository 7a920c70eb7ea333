// Transforms one part of a page into another in place. Kept elements keep focus, scroll position,
// text selection, typed text and open details. Rows are matched by id or data-key, everything else
// by position.

// HTMLElement stands for other kinds of elements too: it has all that is asked of them here.
/** @param {Node} n @returns {n is HTMLElement} */
const isElement = (n) => n.nodeType === 1;

/** @param {Node} n */
const keyOf = (n) => (isElement(n) && (n.getAttribute("id") || n.getAttribute("data-key"))) || null;

/** @type {(a: Node, b: Node) => boolean} */
const same = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName;

// morph makes `from` equal to `to` and returns the elements whose shown content changed. The event "morph" tells those
// who add to what the server has written.
/** @type {(from: Element, to: Element) => Set<Element>} */
export function morph(from, to) {
  /** @type {Set<Element>} */
  const changed = new Set();
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  node(from, to, changed);
  // A moved element loses focus in browsers without moveBefore.
  if (active && active !== document.activeElement && active.isConnected && from.contains(active)) {
    active.focus({ preventScroll: true });
  }
  document.dispatchEvent(new Event("morph"));
  return changed;
}

/** @type {(from: Node, to: Node, changed: Set<Element>) => void} */
function node(from, to, changed) {
  if (!isElement(from) || !isElement(to)) {
    if (from.nodeValue !== to.nodeValue) {
      from.nodeValue = to.nodeValue;
      if (from.nodeType === 3) mark(from.parentElement, changed);
    }
    return;
  }
  // A script has drawn here what the server does not draw.
  if (from.dataset?.kept !== undefined) return;
  // Relative times change as they age; only a new instant is a change.
  if (from.nodeName === "TIME" && from.getAttribute("datetime") === to.getAttribute("datetime")) return;
  if (from.isEqualNode(to)) return; // most of what a version has
  attributes(from, to, changed);
  children(from, to, changed);
}

/** @type {(from: Element, to: Element, changed: Set<Element>) => void} */
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

/** ours are attributes that the user or a script controls. @type {(el: Element, name: string) => boolean} */
function ours(el, name) {
  if (name === "open") return el.nodeName === "DETAILS" || el.nodeName === "DIALOG";
  // Of grid.js; without it an element that was given the focus would lose it.
  if (name === "tabindex") return el === document.activeElement || Boolean(el.closest("[data-grid]"));
  if (name === "role") return Boolean(el.closest("[data-grid]"));
  return name === "data-chosen" || name === "data-watched" || name === "data-pressed";
}

/** @type {(from: Element, to: Element, changed: Set<Element>) => void} */
function children(from, to, changed) {
  /** @type {Map<string, ChildNode>} */
  const keyed = new Map(); // those of from by their keys
  for (const c of from.childNodes) {
    const k = keyOf(c);
    if (k) keyed.set(k, c);
  }
  // Rows that left go first: the rows after them then stay where they are and need not be moved.
  const stays = new Set(keyed.size > 0 ? [...to.children].map(keyOf) : []);
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
      let c = /** @type {ChildNode | null} */ (at);
      while (c && keyOf(c)) c = c.nextSibling;
      if (c && same(c, next)) match = c;
    }
    if (!match) {
      const fresh = document.importNode(next, true);
      from.insertBefore(fresh, at);
      if (k && isElement(fresh)) mark(fresh, changed);
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

/** @type {(parent: Element, child: Node, before: Node | null) => void} */
function move(parent, child, before) {
  if (parent.moveBefore && child.isConnected) parent.moveBefore(child, before);
  else parent.insertBefore(child, before);
}

// mark marks the smallest element worth highlighting: a cell, a fact, a list entry.
/** @type {(el: Element | null, changed: Set<Element>) => void} */
function mark(el, changed) {
  // The stacked bars drift all the time; their widths move, which is enough.
  if (!el || el.closest("time, .status, .stack svg")) return;
  const cell = el.closest("td, th, dd, li, g, .total, h1, tr");
  if (cell) changed.add(cell);
}

const most = 60; // where more changes at once, light would tell nothing, and lighting it would take long
/** @type {WeakMap<Element, number>} */
const ends = new WeakMap(); // element → when its light ends

// glow lights what changed once, for a second. What is lit already stays so, and is lit again after that.
/** @param {Set<Element>} changed */
export function glow(changed) {
  const now = performance.now();
  const lit = changed.size > most ? [] : [...changed].filter((el) => !((ends.get(el) ?? 0) > now));
  if (lit.length === 0) return;
  for (const el of lit) ends.set(el, now + 1200);
  requestAnimationFrame(() => lit.forEach((el) => el.classList.add("changed")));
  setTimeout(() => lit.forEach((el) => el.classList.remove("changed")), 1200);
}
