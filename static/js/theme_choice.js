// Lets people choose light or dark: by the button in the header, which toggles, and by those of the
// settings page, which also offer the system's choice. theme.js applies it when the next page loads.
const root = document.documentElement;

/** listenThemeChoice attaches the settings page's buttons. */
export function listenThemeChoice() {
  for (const button of choices()) button.addEventListener("click", () => choose(button.dataset.themeChoice ?? ""));
  markChoice();
}

/** toggleTheme switches between light and dark, from what is shown now. */
export function toggleTheme() {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  choose(dark ? "light" : "dark");
}

/** choose applies a theme and remembers it; "" follows the system. @param {string} theme */
function choose(theme) {
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  try {
    if (theme) localStorage.setItem("theme", theme);
    else localStorage.removeItem("theme");
  } catch {
    // Storage is forbidden: the choice is for this page only.
  }
  markChoice();
}

function markChoice() {
  for (const button of choices()) button.setAttribute("aria-pressed", String(button.dataset.themeChoice === (root.dataset.theme ?? "")));
}

const choices = () => /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("[data-theme-choice]"));
