// Where the addresses of the page begin: at the root, below a path of the public address, or below the cluster's own.

/** root is what all addresses of the server have before them: "" or as "/shardboard". */
export const root = document.body.dataset.root ?? "";

/** base is "" or as "/c/name" or "/shardboard/c/name". */
export const base = document.body.dataset.base ?? "";

/** address is the whole address of a local one. @param {string} local */
export const address = (local) => base + local;
