// The options under a combobox: arrows or the pointer choose one, screen readers hear it.

/**
 * @typedef {{name: string, detail?: string, kind?: string, url?: string}} Item
 */

/**
 * listbox shows items in a list that a field controls. With first, the first one is chosen by itself;
 * else none is until somebody chooses.
 * @param {HTMLInputElement} field
 * @param {HTMLElement} list
 * @param {{first?: boolean}} [options]
 */
export function listbox(field, list, { first = false } = {}) {
  let chosen = -1;

  /** @param {number} i */
  function choose(i) {
    const n = list.children.length;
    // Without a first choice there is one more place: none, between the last option and the first.
    const places = first ? n : n + 1;
    chosen = n === 0 ? -1 : (i + places) % places;
    if (!first && (chosen === n || i === -1)) chosen = -1;
    [...list.children].forEach((li, k) => li.firstElementChild?.setAttribute("aria-selected", String(k === chosen)));
    const li = list.children[chosen];
    if (li?.firstElementChild) field.setAttribute("aria-activedescendant", li.firstElementChild.id);
    else field.removeAttribute("aria-activedescendant");
    li?.scrollIntoView({ block: "nearest" });
  }

  /** @type {(item: Item, i: number) => HTMLLIElement} */
  function option(item, i) {
    const li = document.createElement("li");
    li.setAttribute("role", "none"); // an option may not have a link in it, but be one
    const a = document.createElement(item.url ? "a" : "div");
    a.id = `${list.id}-${i}`;
    a.setAttribute("role", "option");
    if (item.url) {
      a.setAttribute("href", item.url);
      a.tabIndex = -1;
    }
    for (const [tag, text] of Object.entries({ bdi: item.name, small: item.detail, span: item.kind })) {
      const part = document.createElement(tag);
      part.textContent = text ?? "";
      a.append(part);
    }
    li.append(a);
    li.addEventListener("pointermove", () => choose(i));
    return li;
  }

  return {
    /** @param {Item[]} items */
    show(items) {
      list.replaceChildren(...items.map(option));
      choose(first ? 0 : -1);
    },
    choose,
    /**
     * move chooses the next option, or the one before.
     * @param {number} by
     */
    move: (by) => choose(chosen < 0 && by < 0 ? list.children.length - 1 : chosen + by),
    /** chosen is the position of the chosen option, -1 for none. */
    chosen: () => chosen,
    link: () => list.children[chosen]?.querySelector("a"),
  };
}
