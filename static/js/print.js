// Prints the page at its button, and prepares it for print: what is folded is opened, and the report's head has the time of printing
// and the age of the data, which live updates change.
export function listenPrint() {
  document.addEventListener("click", (e) => {
    if (/** @type {Element} */ (e.target).closest("[data-print]")) print();
  });
  /** @type {HTMLDetailsElement[]} */
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details")].filter((d) => d.closest("main") && !d.open && !d.matches(".timebar"));
    for (const d of opened) d.open = true;
    const [time, age] = ["time", "age"].map((name) => document.querySelector(`[data-report="${name}"]`));
    if (time) time.textContent = new Date().toISOString().slice(0, 19).replace("T", " ") + " UTC";
    if (age) age.textContent = document.querySelector("#status .words")?.textContent ?? "";
  });
  addEventListener("afterprint", () => {
    for (const d of opened) d.open = false;
  });
}
