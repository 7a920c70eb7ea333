// Keeps relative times like "5 s ago" current while a page is open.
import { all, setText } from "./elements.js";
import { word } from "./words.js";

let serverAhead = 0; // the server's clock minus the browser's, ms

// setServerTime keeps the difference of the clocks, so that a wrong one in the browser does no harm.
/** @param {number} now */
export function setServerTime(now) {
  if (Number.isFinite(now)) serverAhead = now - Date.now();
}

/** serverNow is the time by the server's clock, ms. */
export const serverNow = () => Date.now() + serverAhead;

/** shownNow is serverNow, but of a page of the past its time. */
export const shownNow = (page = document) => Date.parse(page.body.dataset.at ?? "") || serverNow();

/** span writes milliseconds as one unit. @param {number} ms */
export function span(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return word("s", { n: s });
  if (s < 3600) return word("min", { n: Math.floor(s / 60) });
  if (s < 48 * 3600) return word("h", { n: Math.floor(s / 3600) });
  return word("d", { n: Math.floor(s / 86400) });
}

/** refreshTimes rewrites every relative time below root. @param {ParentNode} [root] */
export function refreshTimes(root = document) {
  const now = shownNow();
  for (const el of all("time[datetime]:not([data-until])", root, HTMLTimeElement)) {
    const ago = now - Date.parse(el.dateTime);
    const next = "next" in el.dataset; // counts down
    if (Number.isNaN(ago) || (!next && ago < -60000)) continue;
    const text = next && ago < 0 ? word("in", { span: span(-ago) }) : ago < 1000 || next ? word("now") : word("ago", { span: span(ago) });
    if (!selected(el)) setText(el, text);
  }
}

/** keepTimesCurrent rewrites them every five seconds. */
export function keepTimesCurrent() {
  refreshTimes();
  setInterval(() => document.hidden || refreshTimes(), 5000);
}

/** selected tells whether selected text is in or around a node. @param {Node} node */
export function selected(node) {
  const s = getSelection();
  return Boolean(s && !s.isCollapsed && s.containsNode(node, true));
}
