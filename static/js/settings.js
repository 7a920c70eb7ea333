// Sets the appearance on the settings page; theme.js applies it on the next load.
export function listenTheme() {
  const choices = /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("[data-theme-choice]"));
  const show = () => {
    const now = document.documentElement.dataset.theme ?? "";
    for (const c of choices) c.setAttribute("aria-pressed", String(c.dataset.themeChoice === now));
  };
  for (const c of choices) {
    c.addEventListener("click", () => {
      const theme = c.dataset.themeChoice;
      if (theme) document.documentElement.dataset.theme = theme;
      else delete document.documentElement.dataset.theme;
      try {
        if (theme) localStorage.setItem("theme", theme);
        else localStorage.removeItem("theme");
      } catch {
        // Not remembered; still chosen.
      }
      show();
    });
  }
  if (choices.length > 0) show();
}
