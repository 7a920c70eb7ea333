// Where the addresses of the page begin: at the root, below a path of the public address, or below the cluster's own.

/** root is what all addresses of the server have before them: "" or as "/shardboard". */
export const root = document.body.dataset.root ?? "";

/** base is "" or as "/c/name" or "/shardboard/c/name". */
export const base = document.body.dataset.base ?? "";

/** address is the whole address of a local one. @param {string} local */
export const address = (local) => base + local;

const here = () => location.pathname + location.search;
let shown = here(); // what the page shows: another one is loaded, but for its fragment

/** replaceAddress says of what address the page is now. @param {string} url */
export function replaceAddress(url) {
  history.replaceState(history.state, "", url);
  shown = here();
}

/** pushAddress is replaceAddress; back leads to what the page showed before. @param {string} url */
export function pushAddress(url) {
  history.pushState(null, "", url);
  shown = here();
}

/** listenBack loads the page of another address anew. A link to a part of the page, such as "Skip to content", reloads nothing. */
export function listenBack() {
  addEventListener("popstate", () => here() !== shown && location.reload());
}
