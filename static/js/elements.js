// Finds elements of the page and writes into them.

// all are the elements of a selector; of one type only, if it is given.
/** @type {<E extends Element = HTMLElement>(selector: string, root?: ParentNode, type?: new () => E) => E[]} */
export function all(selector, root = document, type) {
  if (!type) return Array.from(root.querySelectorAll(selector));
  return all(selector, root).flatMap((el) => (el instanceof type ? [el] : []));
}

// first is the first of them.
/** @type {<E extends Element = HTMLElement>(selector: string, root?: ParentNode) => E | null} */
export const first = (selector, root = document) => root.querySelector(selector);

// around is the element of a selector that an event is in.
/** @type {<E extends Element = HTMLElement>(e: Event, selector: string) => E | null} */
export const around = (e, selector) => (e.target instanceof Element ? e.target.closest(selector) : null);

/** inField tells whether a key is typed into a field. @param {Event} e */
export const inField = (e) => around(e, "input, select, textarea, [contenteditable]") !== null;

/** modified tells whether a key or a click means something to the browser. @param {KeyboardEvent | MouseEvent} e */
export const modified = (e) => e.ctrlKey || e.metaKey || e.altKey;

/**
 * make is a new element with properties and children.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Partial<HTMLElementTagNameMap[T]>} properties
 * @param {(Node | string)[]} children
 */
export function make(tag, properties = {}, ...children) {
  const el = Object.assign(document.createElement(tag), properties);
  el.append(...children);
  return el;
}

// setText writes a text, unless it is there already: screen readers read out what is written.
/** @type {(el: Node | null, text: string) => void} */
export function setText(el, text) {
  if (el && el.textContent !== text) el.textContent = text;
}
