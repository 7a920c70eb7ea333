// A click on the picture of the key space lists the chunks at that place, also where the picture is
// too dense for a link per chunk.
export function listenKeySpace() {
  document.addEventListener("click", (e) => {
    const at = /** @type {Element} */ (e.target);
    const strip = at.closest?.(".strip, .lane svg");
    if (!strip || at.closest("a")) return;
    const box = strip.getBoundingClientRect();
    const pos = Math.min(Math.max((e.clientX - box.left) / box.width, 0), 0.999999);
    location.assign(`${location.pathname}?pos=${pos.toFixed(6)}#chunks`);
  });
}
