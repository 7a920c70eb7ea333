// Says why something failed, in words that can be shown.

/** reasonOf is why the JSON API refused. @param {Response} answer */
export async function reasonOf(answer) {
  /** @type {import("./api.js").Problem} */
  const { detail } = await answer.json();
  return detail || answer.statusText;
}

/** messageOf is the text of what was thrown. @param {unknown} err */
export const messageOf = (err) => (err instanceof Error ? err.message : String(err));
