// The heat page: keeps the heat map and the lists around it up to date. The table on the page has
// the same data without this script.
import { address } from "./address.js";
import { messageOf, readNewer } from "./requests.js";
import { columnAt, read } from "./heat_data.js";
import { help, readout } from "./heat_cell.js";
import { draw } from "./heat_frame.js";
import { listen } from "./heat_input.js";
import { Picture } from "./heat_picture.js";
import { render } from "./heat_render.js";
import { isRead, root, say, state } from "./heat_state.js";
import { moved, whole, within } from "./heat_view.js";
import { refreshPage, selectionOfAddress } from "./heat_selection.js";
/** @import { HeatMap } from "./api.js" */
/** @import { Answer } from "./requests.js" */

const minute = 60_000;
let version = ""; // of the data that is shown

// fetchMap reads the map's data. A view that ends at the newest data follows it; any other stays.
/** @param {HTMLElement} map */
async function fetchMap(map) {
  const { ns = "", by = "", from = "" } = map.dataset;
  /** @type {Answer<HeatMap> | null} */
  const answer = await readNewer(address(`/api/v1/heat/map?${new URLSearchParams({ ns, by, from })}`), version);
  if (!answer) return;
  version = answer.body.version;
  const heat = read(answer.body);
  map.classList.toggle("is-empty", heat.columns.length === 0);
  const { view } = state;
  const before = isRead() ? state.all : null;
  const follow = !before || view.t1 >= before.t1;
  const cursorTime = state.cursor && before ? state.heat.columns[state.cursor.column]?.from : 0;
  state.heat = heat;
  state.picture = new Picture(heat);
  if (state.cursor) state.cursor.column = Math.max(columnAt(heat, cursorTime), 0);
  render();
  state.all = whole(heat, state.picture.shown.length);
  const sameRows = before && before.r1 === state.all.r1;
  const zoomedIn = sameRows && (state.view.t0 > before.t0 || state.view.t1 < before.t1 || state.view.r0 > 0 || state.view.r1 < before.r1);
  state.view = zoomedIn ? within(follow ? moved(state.view, heat.to - before.t1, 0) : state.view, state.all) : state.all;
  draw();
}

async function refresh() {
  try {
    if (!document.hidden) await refreshPage();
    if (root) await fetchMap(root);
  } catch {
    // The server is not reachable, as the header shows. The next refresh tries again.
  }
}

async function start() {
  if (root) {
    listen();
    try {
      await fetchMap(root);
      selectionOfAddress();
      readout(help());
      if (state.heat.columns.length === 0) readout(say("empty"));
    } catch (err) {
      readout(say("failed", { error: messageOf(err) }));
    }
  }
  // Rates are counted every ten seconds and available about three seconds later. A long window
  // changes little in that time and costs the server more.
  const long = ["1h", "6h", "24h"].includes(root?.dataset.window ?? "");
  const every = long ? minute : minute / 6;
  const next = () => setTimeout(() => refresh().finally(next), every - ((Date.now() - 5000) % every));
  next();
  document.addEventListener("visibilitychange", () => document.hidden || refresh());
}

// A choice by mouse or finger shows the page at once. By keyboard each arrow is a choice, so that needs
// the button.
function submitChoices() {
  const form = document.querySelector(".heatchoices");
  let pointed = false;
  form?.addEventListener("pointerdown", () => (pointed = true));
  form?.addEventListener("keydown", () => (pointed = false));
  form?.addEventListener("change", () => pointed && /** @type {HTMLFormElement} */ (form).requestSubmit());
}

submitChoices();
start();
