// Follows the server's live topics over one WebSocket that only the server
// speaks on. A topic's frame either carries its region's HTML, or tells that
// the topic has a new version: then the page re-reads its own address, which
// knows its filter and page number.
import { morph, glow } from "./morph.js";
import { refreshTimes, serverClock } from "./times.js";
import { word, announce } from "./words.js";

const lateAfter = 10; // seconds from which old data is a failure and not a hiccup
const versions = new Map(); // topic → version this page shows
let topics = [];
let socket = null;
let attempt = 0;
let timer = 0;
let lost = false;
let over = false; // signed out: nothing is asked any more
const closeEnded = 4401; // web/live_conn.go says it when the session is over

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

// ended finds out whether one is signed out, or has another role: then there is
// another session, and the page is made anew for it.
async function ended() {
  over = true;
  if ((await me()) !== 200) return out();
  over = false;
  if (typing()) open();
  else location.replace(location.pathname + location.search);
}

// me is the status of who one is, 0 when the server is away.
async function me() {
  try {
    return (await fetch("/api/v1/me", { credentials: "same-origin" })).status;
  } catch {
    return 0;
  }
}

// What is being typed is not taken away.
function typing() {
  const fields = /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("main input:not([type=hidden]), main textarea"));
  return [...fields].some((f) => f.value !== f.defaultValue);
}

// out leads to sign-in and back to this page, so that it does not stay open
// before somebody else.
function out() {
  over = true;
  status("lost", word("out"));
  announce(word("out"));
  if (typing()) return;
  location.assign(`/login?ended=1&next=${encodeURIComponent(location.pathname + location.search)}`);
}

// A socket that is refused does not tell why; this address does.
async function askWhetherOut() {
  if ((await me()) === 401) out(); // else later() goes on
}

// later tries again: sooner at first, never in step with other browsers, and
// not at all while nobody looks.
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

// reread fetches the page's own address and takes the same regions from it. One
// request at a time; news that come meanwhile cause exactly one more.
async function reread(show) {
  if (reading) {
    again = true;
    return;
  }
  reading = true;
  try {
    const answer = await fetch(location.pathname + location.search, { headers: { Accept: "text/html" }, credentials: "same-origin" });
    const doc = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (answer.redirected) return out(); // to sign-in: no page of ours moves
    if (!answer.ok && answer.status !== 404) return;
    const regions = document.querySelectorAll("[data-live]");
    let found = false;
    for (const region of regions) {
      const fresh = doc.getElementById(region.id);
      if (fresh) replace(region, fresh, show);
      found ||= Boolean(fresh);
    }
    // What the page is about is gone: show what the server says of it.
    if (!found && answer.status === 404) {
      document.getElementById("main")?.replaceChildren(...doc.getElementById("main").childNodes);
    }
  } catch {
    // The server is away; the socket will close and say so.
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
