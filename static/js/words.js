// Scripts take their sentences from the page, so that the server has all of them in one catalogue.
const words = document.getElementById("words")?.dataset ?? {};

/** word fills {n}-like placeholders of a sentence. */
export function word(name, args = {}) {
  return (words[name] ?? "").replace(/\{(\w+)\}/g, (all, key) => args[key] ?? all);
}

/** announce tells people who do not see the page; politely. */
export function announce(text) {
  const place = document.getElementById("announce");
  if (place && place.textContent !== text) place.textContent = text;
}
