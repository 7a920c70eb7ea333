// Keeps the live regions of a page up to date, over one WebSocket on which only the server sends. A
// frame has either the new HTML of a region, or only the new version of its topic. Then the page
// fetches its own address again, because that has the filter and the page number.
import { base, root } from "./address.js";
import { all, first, setText } from "./elements.js";
import { showRegion } from "./live_region.js";
import { serverNow, setServerTime, span } from "./relative_times.js";
import { oneAtATime, parsed, readPage } from "./requests.js";
import { leaveFor, sessionStatus } from "./session.js";
import { word, announce } from "./words.js";

const lateAfter = 10; // age in seconds from which old data is shown as a failure

/**
 * What the server sends: web/live/live_frame.go.
 * @typedef {{status?: Status, topic?: string, v: number, html?: string, moves?: Move[]}} Frame
 * @typedef {{at: string | null, age: number, ok: boolean, text: string, level?: string}} Status age in seconds, below 0 without data
 * @typedef {{ns: string, position: number, from: string, to: string}} Move of the topic map
 */

/** @type {Map<string, number>} */
const versions = new Map(); // topic → version this page shows
/** @type {string[]} */
let topics = [];
/** @type {WebSocket | null} */
let socket = null;
let attempt = 0; // failed ones since the last connection
let timer = 0;
let lost = false; // the page says that the connection is lost
let signedOut = false; // no more requests
let lostTimer = 0;
let dataAt = NaN; // when the data was read that the page shows, ms

// A proxy may pass no WebSockets: then the page asks by HTTP, and tries a socket again seldom.
const tries = 3;
const pollEvery = 10_000; // milliseconds
const retryEvery = 60_000;
let polling = false;
let pollTimer = 0;
const closeEnded = 4401; // close code of an ended session, sent by the server's hub

/** connect opens the socket for the page's topics and keeps it open. */
export function connect() {
  topics = (document.body.dataset.topics ?? "").split(",").filter(Boolean);
  dataAt = Date.parse(document.getElementById("status")?.dataset.at ?? "");
  if (topics.length === 0) return;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    if (!socket) open();
    if (polling) poll();
  });
  addEventListener("online", () => socket || open());
  addEventListener("pagehide", () => socket?.close());
  addEventListener("pageshow", (e) => e.persisted && !socket && open());
  open();
}

// address is the socket's, with the version of each topic that the page has.
function address() {
  const list = topics.map((t) => {
    const v = versions.get(decodeURIComponent(t));
    return v ? `${t}@${v}` : t;
  });
  return `${base}/live?t=${encodeURIComponent(list.join(","))}`;
}

function open() {
  clearTimeout(timer);
  if (socket || signedOut) return;
  const s = new WebSocket(address());
  socket = s;
  s.onopen = () => {
    attempt = 0;
    if (polling) endPolling();
    if (lost) announce(word("resumed"));
    lost = false;
  };
  s.onmessage = (e) => applyFrame(JSON.parse(e.data));
  s.onclose = (e) => {
    if (socket !== s) return;
    socket = null;
    if (e.code === closeEnded) checkSession();
    else reconnect();
  };
}

// checkSession runs when the server has ended the session's socket. Somebody who is signed out leaves
// the page; somebody whose role has changed gets the page of the new session.
async function checkSession() {
  signedOut = true;
  if ((await sessionStatus()) !== 200) return leave();
  leaveFor(() => location.replace(location.pathname + location.search));
}

// leave goes to sign-in, which leads back to this page, so that the page does not stay visible for the next user.
function leave() {
  signedOut = true;
  setStatus("lost", word("out"));
  announce(word("out"));
  leaveFor(() => location.assign(`${root}/login?ended=1&next=${encodeURIComponent(location.pathname + location.search)}`));
}

// reconnect tries again: soon at first, at random times so that browsers do not reconnect together,
// and not while the page is hidden. A refused WebSocket does not say why; a request does.
async function reconnect() {
  attempt++;
  if (polling) return wait(retryEvery);
  if (attempt > 1 || lost) {
    showLost();
    if (!lost) announce(word("lost"));
    lost = true;
  }
  if (attempt === 2 && (await sessionStatus()) === 401) return leave();
  if (attempt === tries && (await poll())) return;
  const most = Math.min(5000, 250 * 2 ** Math.min(attempt, 6));
  wait(most / 2 + Math.random() * (most / 2));
}

// showLost says how old the data is that is still shown, for as long as no newer one comes.
function showLost() {
  setStatus("lost", withAge("lost"));
  clearTimeout(lostTimer);
  lostTimer = setTimeout(() => !socket && !polling && !signedOut && showLost(), 1000);
}

/** withAge is a word with the age of the data, if that is known. @param {string} name */
function withAge(name) {
  return Number.isNaN(dataAt) ? word(name) : `${word(name)}, ${word("old", { span: span(serverNow() - dataAt) })}`;
}

/** @param {number} ms */
function wait(ms) {
  if (!document.hidden && !signedOut) timer = setTimeout(open, ms);
}

// poll asks by HTTP for what a socket would get, again and again until a socket opens. It returns false if that cannot
// be had either, such as while the server is down.
async function poll() {
  clearTimeout(pollTimer);
  if (signedOut || (socket && !polling)) return true;
  try {
    const answer = await fetch(`${address()}&poll=1`);
    if (answer.status === 401) leave();
    if (!answer.ok) throw new Error(String(answer.status));
    const frames = await answer.json();
    if (!polling) wait(retryEvery);
    if (lost) announce(word("resumed"));
    polling = true;
    lost = false;
    for (const frame of frames) applyFrame(frame);
  } catch {
    if (polling) endPolling();
    return false;
  }
  if (!document.hidden) pollTimer = setTimeout(poll, pollEvery);
  return true;
}

// endPolling goes back to sockets.
function endPolling() {
  polling = false;
  attempt = 0;
  clearTimeout(pollTimer);
  if (!socket) open();
}

/** @param {Frame} frame */
function applyFrame(frame) {
  if (frame.status) {
    const { at, age, ok, text, level } = frame.status;
    if (at && age >= 0) setServerTime(Date.parse(at) + age * 1000);
    dataAt = at && age >= 0 ? Date.parse(at) : NaN;
    const bad = level === "failed" || age > lateAfter ? "failed" : age < 0 ? "loading" : "stale";
    setStatus(ok ? (level ?? "ok") : bad, ok && polling ? withAge("polled") : text);
    document.getElementById("polled")?.toggleAttribute("hidden", !polling);
  }
  if (!frame.topic) return;
  document.dispatchEvent(new CustomEvent("live", { detail: frame })); // for what scripts draw
  const known = versions.has(frame.topic);
  versions.set(frame.topic, frame.v);
  const region = first(`[data-live="${CSS.escape(frame.topic)}"]`);
  if (!region) return;
  if (!frame.html || region.dataset.liveUrl) reloadRegions(known);
  else showRegion(region, parsed(frame.html).getElementById(region.id), known);
}

// pageAddress is the page's own address. While the cluster map plays back, the address has a time that the
// rest of the page does not show.
function pageAddress() {
  const own = new URL(location.href);
  if (!document.body.dataset.at) own.searchParams.delete("at");
  return own.pathname + own.search;
}

/** reloadRegions fetches the page's own address and replaces its regions; changed parts are highlighted if that is said. */
export const reloadRegions = oneAtATime(async (/** @type {boolean} */ highlight) => {
  try {
    const { answer, page } = await readPage(pageAddress());
    if (answer.redirected) return leave(); // to sign-in: a page redirects for no other reason
    if (!answer.ok && answer.status !== 404) return;
    const regions = all("[data-live]").filter((region) => page.getElementById(region.id));
    for (const region of regions) showRegion(region, page.getElementById(region.id), highlight);
    // The page's object no longer exists: show the server's answer.
    if (regions.length === 0 && answer.status === 404) first("#main")?.replaceChildren(...(first("#main", page)?.childNodes ?? []));
  } catch {
    // The server is not reachable; the WebSocket will close and show it.
  }
});

/** setStatus changes the dot and the words in the header. @type {(level: string, text: string) => void} */
function setStatus(level, text) {
  const el = document.getElementById("status");
  if (el && el.dataset.level !== level) el.dataset.level = level;
  setText(first("#status .words"), text);
}
