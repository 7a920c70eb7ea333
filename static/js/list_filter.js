// Filters the list after a box with data-filter while somebody types: items whose text lacks the words are hidden.
export function listenFilters() {
  document.addEventListener("input", (e) => {
    const box = /** @type {HTMLInputElement} */ (e.target);
    if (box.dataset?.filter === undefined) return;
    const words = box.value.toLowerCase().split(/\s+/);
    const items = /** @type {NodeListOf<HTMLElement>} */ (box.parentElement?.querySelectorAll("li") ?? []);
    for (const item of items) {
      const text = item.textContent.toLowerCase();
      item.hidden = !words.every((w) => text.includes(w));
    }
  });
}
