// The sentences of scripts. The page has them as data attributes, so that all texts are written by
// the server.
const words = document.getElementById("words")?.dataset ?? {};

/** fill replaces the {names} of a sentence. */
export const fill = (sentence = "", args = {}) => sentence.replace(/\{(\w+)\}/g, (all, name) => args[name] ?? all);

/** word is a sentence of the page, filled in. */
export const word = (name, args = {}) => fill(words[name], args);

/** announce has screen readers read a text when they are done with what they read now. */
export function announce(text) {
  const place = document.getElementById("announce");
  if (place && place.textContent !== text) place.textContent = text;
}
