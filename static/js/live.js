// Follows the server's live topics over one WebSocket on which only the server sends. A topic's
// frame either has its region's HTML, or says that the topic has a new version: then the page
// fetches its own address, which has its filter and page number.
import { morph, glow } from "./morph.js";
import { refreshTimes, serverClock } from "./times.js";
import { word, announce } from "./words.js";

const lateAfter = 10; // age in seconds from which old data is shown as a failure
const versions = new Map(); // topic → version this page shows
let topics = [];
let socket = null;
let attempt = 0;
let timer = 0;
let lost = false;
let over = false; // signed out: no more requests
const closeEnded = 4401; // close code of an ended session, sent by the server's hub

/** connect opens the socket for the page's topics and keeps it open. */
export function connect() {
  topics = (document.body.dataset.topics ?? "").split(",").filter(Boolean);
  if (topics.length === 0) return;
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && !socket) open();
  });
  addEventListener("online", () => socket || open());
  addEventListener("pagehide", () => socket?.close());
  addEventListener("pageshow", (e) => e.persisted && !socket && open());
  open();
}

function address() {
  const list = topics.map((t) => {
    const v = versions.get(decodeURIComponent(t));
    return v ? `${t}@${v}` : t;
  });
  return `/live?t=${encodeURIComponent(list.join(","))}`;
}

function open() {
  clearTimeout(timer);
  if (socket || over) return;
  const s = new WebSocket(address());
  socket = s;
  s.onopen = () => {
    attempt = 0;
    if (lost) announce(word("resumed"));
    lost = false;
  };
  s.onmessage = (e) => take(JSON.parse(e.data));
  s.onclose = (e) => {
    if (socket !== s) return;
    socket = null;
    if (e.code === closeEnded) ended();
    else later();
  };
}

// ended checks after a close: if the user is signed out it leaves the page; if the role changed it
// reloads the page for the new session.
async function ended() {
  over = true;
  if ((await me()) !== 200) return out();
  over = false;
  if (typing()) open();
  else location.replace(location.pathname + location.search);
}

// me returns the status of the me request, 0 if the server is not reachable.
async function me() {
  try {
    return (await fetch("/api/v1/me", { credentials: "same-origin" })).status;
  } catch {
    return 0;
  }
}

// Do not reload while somebody is typing.
function typing() {
  const fields = /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("main input:not([type=hidden]), main textarea"));
  return [...fields].some((f) => f.value !== f.defaultValue);
}

// out goes to sign-in and back to this page, so that the page does not stay visible for the next
// user.
function out() {
  over = true;
  status("lost", word("out"));
  announce(word("out"));
  if (typing()) return;
  location.assign(`/login?ended=1&next=${encodeURIComponent(location.pathname + location.search)}`);
}

// A refused WebSocket does not say why; this request does.
async function askWhetherOut() {
  if ((await me()) === 401) out(); // else later() goes on
}

// later reconnects: soon at first, at random times so that browsers do not reconnect together, and
// not while the page is hidden.
function later() {
  attempt++;
  if (attempt > 1 || lost) status("lost", word("lost"));
  if (attempt > 1 && !lost) {
    lost = true;
    announce(word("lost"));
  }
  if (attempt === 2) askWhetherOut();
  if (document.hidden) return;
  const most = Math.min(5000, 250 * 2 ** Math.min(attempt, 6));
  timer = setTimeout(open, most / 2 + Math.random() * (most / 2));
}

function take(frame) {
  if (frame.status) {
    const { at, age, ok, text, level } = frame.status;
    if (at && age >= 0) serverClock(Date.parse(at) + age * 1000);
    status(ok ? (level ?? "ok") : age < 0 ? "loading" : age > lateAfter ? "failed" : "stale", text);
  }
  if (!frame.topic) return;
  const first = !versions.has(frame.topic);
  versions.set(frame.topic, frame.v);
  const region = /** @type {HTMLElement | null} */ (document.querySelector(`[data-live="${CSS.escape(frame.topic)}"]`));
  if (!region) return;
  if (frame.html && !region.dataset.liveUrl) {
    const doc = new DOMParser().parseFromString(frame.html, "text/html");
    replace(region, doc.body.firstElementChild, !first);
  } else {
    reread(!first);
  }
}

let reading = false;
let again = false;

// reread fetches the page's own address and replaces its regions. Only one request runs at a time;
// changes meanwhile cause exactly one more.
async function reread(show) {
  if (reading) {
    again = true;
    return;
  }
  reading = true;
  try {
    const answer = await fetch(location.pathname + location.search, { headers: { Accept: "text/html" }, credentials: "same-origin" });
    const doc = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (answer.redirected) return out(); // redirected to sign-in, which no page of ours does otherwise
    if (!answer.ok && answer.status !== 404) return;
    const regions = document.querySelectorAll("[data-live]");
    let found = false;
    for (const region of regions) {
      const fresh = doc.getElementById(region.id);
      if (fresh) replace(region, fresh, show);
      found ||= Boolean(fresh);
    }
    // The page's object no longer exists: show the server's answer.
    if (!found && answer.status === 404) {
      document.getElementById("main")?.replaceChildren(...doc.getElementById("main").childNodes);
    }
  } catch {
    // The server is not reachable; the WebSocket will close and show it.
  } finally {
    reading = false;
    if (again) {
      again = false;
      reread(show);
    }
  }
}

function replace(region, fresh, show) {
  if (!fresh || fresh.id !== region.id) return;
  const changed = morph(region, fresh);
  refreshTimes(region);
  if (show) glow(changed);
}

function status(level, text) {
  const el = document.getElementById("status");
  if (!el) return;
  if (el.dataset.level !== level) el.dataset.level = level;
  const words = el.querySelector(".words");
  if (words && words.textContent !== text) words.textContent = text;
}
