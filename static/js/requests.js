// What scripts read from the server.
import { showZone } from "./zone.js";

/** @template T @typedef {{body: T, etag: string}} Answer */

// readJSON reads an address of the JSON API. It throws the server's reason if it refuses.
/** @type {<T>(url: string | URL, signal?: AbortSignal) => Promise<T>} */
export const readJSON = async (url, signal) => bodyOf(await fetch(url, { signal }));

// readNewer is readJSON for what the page has already in the version of an etag: null if that is still the newest.
/** @type {<T>(url: string, etag?: string, signal?: AbortSignal) => Promise<Answer<T> | null>} */
export async function readNewer(url, etag, signal) {
  const answer = await fetch(url, { headers: etag ? { "If-None-Match": etag } : {}, signal });
  return answer.status === 304 ? null : { body: await bodyOf(answer), etag: answer.headers.get("ETag") ?? "" };
}

/** @param {Response} answer */
async function bodyOf(answer) {
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.detail || answer.statusText);
  return body;
}

/** readPage reads a page. @type {(url: string, signal?: AbortSignal) => Promise<{answer: Response, page: Document}>} */
export async function readPage(url, signal) {
  const answer = await fetch(url, { headers: { Accept: "text/html" }, signal });
  return { answer, page: parsed(await answer.text()) };
}

/** parsed makes a document of HTML of the server, with times in the zone of this browser. @param {string} html */
export function parsed(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  showZone(page.body);
  return page;
}

/** messageOf is the text of what was thrown. @param {unknown} err */
export const messageOf = (err) => (err instanceof Error ? err.message : String(err));

// oneAtATime is a function that runs another one at a time: calls meanwhile cause exactly one more run, some ms later.
/** @type {<A extends unknown[]>(run: (...args: A) => Promise<void>, pause?: number) => (...args: A) => Promise<void>} */
export function oneAtATime(run, pause = 0) {
  let running = false;
  let again = false;
  return async function start(...args) {
    again = running;
    if (running) return;
    running = true;
    await run(...args).finally(() => (running = false));
    if (again) setTimeout(() => start(...args), pause);
    again = false;
  };
}

/** latest lets one request run at a time: the next one aborts the one before. */
export function latest() {
  let running = new AbortController();
  return {
    abort: () => running.abort(),
    begin() {
      running.abort();
      running = new AbortController();
      return running.signal;
    },
  };
}
