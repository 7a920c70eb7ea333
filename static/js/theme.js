// Runs before the first paint, so that a chosen theme never flashes the other
// one. Without a choice the system decides, in CSS alone.
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
