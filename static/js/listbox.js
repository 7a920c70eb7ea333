// The options under a combobox, for what somebody types: arrows or the pointer choose one, screen readers hear it.
import { around, make } from "./elements.js";
import { latest } from "./requests.js";

const waitMs = 70; // between the last key and the request

/**
 * @typedef {{name: string, detail?: string, kind?: string, url?: string, take?: () => void}} Item take is what choosing it does
 */

/**
 * listbox shows in a list the items that find has for a field's text. With first, the first one is chosen by itself; else
 * none is until somebody chooses.
 * @param {HTMLInputElement} field
 * @param {HTMLElement} list
 * @param {{first?: boolean, find: (q: string, signal: AbortSignal) => Promise<Item[]>}} options
 */
export function listbox(field, list, { first = false, find }) {
  /** @type {Item[]} */
  let items = [];
  let chosen = -1;
  let timer = 0;
  const requests = latest();

  async function look() {
    clearTimeout(timer);
    const signal = requests.begin();
    const found = await find(field.value.trim(), signal);
    if (signal.aborted) return;
    items = found;
    list.replaceChildren(...items.map(option));
    choose(first ? 0 : -1);
  }

  /** @param {number} i */
  function choose(i) {
    // Without a first choice there is one more place: none, between the last option and the first.
    const places = items.length + (first ? 0 : 1);
    chosen = items.length === 0 || (!first && i === -1) ? -1 : (i + places) % places;
    if (chosen === items.length) chosen = -1;
    const options = [...list.children].map((li) => li.firstElementChild);
    options.forEach((el, k) => el?.setAttribute("aria-selected", String(k === chosen)));
    const option = options[chosen];
    if (option) field.setAttribute("aria-activedescendant", option.id);
    else field.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  }

  /** @type {(item: Item, i: number) => HTMLElement} */
  function option(item, i) {
    const texts = [make("bdi", {}, item.name), make("small", {}, item.detail ?? ""), make("span", {}, item.kind ?? "")];
    const properties = { id: `${list.id}-${i}`, role: "option" };
    const { url } = item;
    const a = url ? make("a", { ...properties, href: url, tabIndex: -1 }, ...texts) : make("div", properties, ...texts);
    const li = make("li", { role: "none" }, a); // an option may not have a link in it, but be one
    li.addEventListener("pointermove", () => choose(i));
    return li;
  }

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, waitMs);
  });
  field.addEventListener("keydown", (e) => {
    const by = e.isComposing ? 0 : { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (!by) return;
    e.preventDefault();
    if (list.hidden) look();
    else choose(chosen < 0 && by < 0 ? items.length - 1 : chosen + by);
  });
  list.addEventListener("click", (e) => {
    const li = around(e, "li");
    if (li) items[[...list.children].indexOf(li)].take?.();
  });

  return {
    look,
    choose,
    /** chosen is the chosen item. */
    chosen: () => items.at(chosen < 0 ? items.length : chosen),
    stop() {
      clearTimeout(timer);
      requests.abort();
    },
  };
}
