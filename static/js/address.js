// Where the addresses of the page begin: at the root, or below the cluster's own on a server of several.

/** base is "" or as "/c/name". */
export const base = document.body.dataset.base ?? "";

/** address is the whole address of a local one. @param {string} local */
export const address = (local) => base + local;
