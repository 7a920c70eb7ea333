// Shows times in the browser's zone, with UTC on hover. Pages are made in UTC, for everybody alike; "2 Jan 06:48 UTC" in
// their text becomes "2 Jan 08:48 GMT+2". What is typed, copied and exported stays UTC.
import { all } from "./elements.js";
import { shownNow } from "./relative_times.js";
import { store, stored } from "./storage.js";

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const day = "(?:(\\d{4})-(\\d\\d)-(\\d\\d) |(\\d{1,2}) (" + months.join("|") + ")(?: (\\d{4}))? )?";
const written = new RegExp(day + "(?<![\\d:–-])(\\d\\d):(\\d\\d)(?::(\\d\\d))?[ \u2009\u00a0]UTC", "g");
const clocks = /\d\d:\d\d(?::\d\d)?/g;
const untouched = "script, style, template, textarea, input, option, code, pre, kbd, svg, [data-utc], time:not([data-until])";

/** utcOnly tells whether this browser shows UTC everywhere. */
export const utcOnly = () => stored("zone") === "utc";

/** showZone rewrites the times in what is below root, once. @param {ParentNode & Node} root */
export function showZone(root) {
  if (utcOnly()) return;
  const now = shownNow(root.ownerDocument ?? document);
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  /** @type {Text[]} */
  const found = [];
  for (let n = walk.nextNode(); n; n = walk.nextNode()) {
    const text = /** @type {Text} */ (n);
    if (text.data.includes("UTC") && !text.parentElement?.closest(untouched)) found.push(text);
  }
  for (const text of found) rewrite(text, now);
  for (const el of all("time[datetime][title]", root, HTMLTimeElement)) {
    const ms = Date.parse(el.dateTime);
    if (el.title === el.dateTime && away(ms)) el.title = `${local(ms, true, true, true)} · ${el.dateTime}`;
  }
}

/** @param {Text} text @param {number} now */
function rewrite(text, now) {
  const all = [...text.data.matchAll(written)];
  // A range whose beginning has no zone would be half in one zone and half in another.
  if (all.length === 0 || all.length !== (text.data.match(clocks)?.length ?? 0)) return;
  const parts = document.createDocumentFragment();
  let end = 0;
  for (const m of all) {
    const ms = instant(m, now);
    if (!away(ms)) continue;
    const span = document.createElement("span");
    span.dataset.utc = span.title = m[0];
    span.textContent = local(ms, Boolean(m[1] ?? m[4]), Boolean(m[1] ?? m[6]), Boolean(m[9]));
    parts.append(text.data.slice(end, m.index), span);
    end = m.index + m[0].length;
  }
  if (end === 0) return;
  parts.append(text.data.slice(end));
  text.replaceWith(parts);
}

// instant is the time that is meant: without a day or a year the one nearest to now.
/** @type {(m: RegExpMatchArray, now: number) => number} */
function instant([, y, mo, d, day, month, year, h, min, s], now) {
  if (y) return Date.parse(`${y}-${mo}-${d}T${h}:${min}:${s ?? "00"}Z`);
  const base = new Date(now);
  base.setUTCHours(Number(h), Number(min), Number(s ?? 0), 0);
  if (month) base.setUTCMonth(months.indexOf(month), Number(day));
  if (year) return base.setUTCFullYear(Number(year));
  const step = month ? 365.25 * 86_400_000 : 86_400_000;
  const by = Math.round((now - base.getTime()) / step);
  return month ? base.setUTCFullYear(base.getUTCFullYear() + by) : base.getTime() + by * step;
}

/** away tells whether the browser's clock differs from UTC at a time. @param {number} ms */
const away = (ms) => !Number.isNaN(ms) && new Date(ms).getTimezoneOffset() !== 0;

/** shifted is a date whose UTC fields are those of the shown zone. @param {number} ms */
export const shifted = (ms) => new Date(utcOnly() ? ms : ms - new Date(ms).getTimezoneOffset() * 60_000);

/** zoneName is the shown zone at a time: UTC, GMT+2. @param {number} ms */
export function zoneName(ms) {
  if (utcOnly() || !away(ms)) return "UTC";
  return new Date(ms).toLocaleTimeString("en-GB", { timeZoneName: "short" }).split(" ").slice(-1)[0] ?? "";
}

/** minuteText writes a time as scales do: 2026-11-29 08:48 GMT+2. @param {number} ms */
export const minuteText = (ms) => `${shifted(ms).toISOString().slice(0, 16).replace("T", " ")} ${zoneName(ms)}`;

// local writes a time in the browser's zone.
/** @type {(ms: number, withDay: boolean, withYear: boolean, withSeconds: boolean) => string} */
function local(ms, withDay, withYear, withSeconds) {
  const d = new Date(ms);
  const [date, clock] = [d.toDateString().split(" "), d.toTimeString().slice(0, withSeconds ? 8 : 5)];
  return `${withDay ? `${d.getDate()} ${date[1]} ` : ""}${withYear ? `${date[3]} ` : ""}${clock} ${zoneName(ms)}`;
}

/** listenZone shows the page's times, and attaches the choice of the settings page. */
export function listenZone() {
  showZone(document.body);
  for (const button of all("[data-zone-choice]")) {
    const utc = button.dataset.zoneChoice === "utc";
    button.ariaPressed = String(utc === utcOnly());
    button.addEventListener("click", () => {
      store("zone", utc ? "utc" : null);
      location.reload();
    });
  }
}
