// Runs before the first paint, so that the other theme never flashes. Without a choice CSS follows
// the system.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const saved = localStorage.getItem("theme");
    if (saved === "light" || saved === "dark") root.dataset.theme = saved;
  } catch {
    // Storage may be forbidden; the system's theme stays.
  }
})();
