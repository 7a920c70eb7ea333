// Changes the address of a page in place. Back and forward load the page anew only where the address without its
// fragment differs from what is shown: a link to a part of the page, such as "Skip to content", reloads nothing.

const here = () => location.pathname + location.search;
let shown = here();

/** @param {string} url of what the page shows now */
export function replaceAddress(url) {
  history.replaceState(history.state, "", url);
  shown = here();
}

/** @param {string} url of what the page shows now; back leads to what it showed before */
export function pushAddress(url) {
  history.pushState(null, "", url);
  shown = here();
}

export function listenBack() {
  addEventListener("popstate", () => here() !== shown && location.reload());
}
