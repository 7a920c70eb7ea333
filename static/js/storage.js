// Keeps texts in this browser. Where storage is denied or full nothing is kept: what somebody chose is for this page only.

/** stored is what is kept under a name; null for nothing. @param {string} name */
export function stored(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** store keeps a text; null forgets it. @type {(name: string, text: string | null) => void} */
export function store(name, text) {
  try {
    if (text === null) localStorage.removeItem(name);
    else localStorage.setItem(name, text);
  } catch {
    // denied or full
  }
}

// storedJSON is what is kept under a name as JSON; null if that is nothing, or something else.
/** @type {(name: string) => unknown} */
export function storedJSON(name) {
  try {
    return JSON.parse(stored(name) ?? "null");
  } catch {
    return null;
  }
}

/** texts are those of a list that was kept. @type {(list: unknown) => string[]} */
export const texts = (list) => (Array.isArray(list) ? list.filter((x) => typeof x === "string") : []);
