// Lets people choose light or dark: by the button in the header, which toggles, and by those of the
// settings page, which also offer the system's choice. theme.js applies it when the next page loads.
import { all } from "./elements.js";
import { store } from "./storage.js";

const root = document.documentElement;

/** listenThemeChoice attaches the buttons. */
export function listenThemeChoice() {
  document.getElementById("theme")?.addEventListener("click", toggleTheme);
  for (const button of all("[data-theme-choice]")) button.addEventListener("click", () => choose(button.dataset.themeChoice ?? ""));
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
  store("theme", theme || null);
  markChoice();
}

function markChoice() {
  for (const button of all("[data-theme-choice]")) button.ariaPressed = String(button.dataset.themeChoice === (root.dataset.theme ?? ""));
}
