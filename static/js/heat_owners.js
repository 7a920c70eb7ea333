// Draws who owns the rows of the heat map: a lane on the left with the owners where the view begins,
// one on the right with those where it ends, and a tick in the cells where a row moved.
import { all } from "./elements.js";
import { ownerAt } from "./heat_data.js";
import { laneWidth, xOf, yOf } from "./heat_axes.js";
import { part, state } from "./heat_state.js";
/** @import { Area } from "./heat_axes.js" */

/** @typedef {{color: string, ink: string, label: string, stripes: number}} Owner */

/** @type {Map<string, Owner>} */
let colors = new Map(); // by shard

const palette = 12; // colours that differ; more shards have them again, with stripes

/** readOwnerColors takes the shards' colours from the legend, which the theme colours. */
export function readOwnerColors() {
  colors = new Map();
  const legend = part("legend");
  if (!legend) return;
  all("[data-shard]", legend).forEach((el, i) => {
    const badge = el.querySelector(".sh") ?? el;
    const style = getComputedStyle(badge);
    const [color, ink] = ["--c", "--t"].map((name) => style.getPropertyValue(name).trim());
    colors.set(el.dataset.shard ?? "", { color, ink, label: badge.textContent, stripes: Math.floor(i / palette) });
  });
}

/** ownerLanes draws both lanes and the ticks. @type {(ctx: CanvasRenderingContext2D, area: Area) => void} */
export function ownerLanes(ctx, area) {
  if (colors.size === 0) return;
  // Before the changelog begins owners are not known, so the left lane has those where it begins.
  const since = state.heat.ownersSince;
  lane(ctx, area, area.x - laneWidth() - 1, since < state.view.t1 ? Math.max(state.view.t0, since) : state.view.t0);
  lane(ctx, area, area.x + area.w + 2, state.view.t1);
  moves(ctx, area);
}

// lane draws runs of rows with one owner as one piece.
/** @type {(ctx: CanvasRenderingContext2D, area: Area, x: number, time: number) => void} */
function lane(ctx, area, x, time) {
  const { shown } = state.picture;
  const from = Math.max(Math.floor(state.view.r0), 0);
  const to = Math.min(Math.ceil(state.view.r1), shown.length);
  for (let r = from; r < to; ) {
    const owner = ownerAt(state.heat, shown[r], time);
    let end = r + 1;
    while (end < to && ownerAt(state.heat, shown[end], time) === owner) end++;
    const y = Math.max(yOf(area, r), area.y);
    piece(ctx, x, y, Math.min(yOf(area, end), area.y + area.h) - y, colors.get(owner));
    r = end;
  }
}

// piece draws an owner's rows, with its label where there is room.
/** @type {(ctx: CanvasRenderingContext2D, x: number, y: number, h: number, owner: Owner | undefined) => void} */
function piece(ctx, x, y, h, owner) {
  const w = laneWidth() - 1;
  ctx.fillStyle = owner ? owner.color : state.colors.gap;
  ctx.fillRect(x, y, w, Math.max(h - 0.5, 0.5));
  if (!owner) return;
  const labelled = w > 16 && h >= 12;
  const middle = y + h / 2;
  if (owner.stripes) {
    ctx.fillStyle = state.colors.paper;
    for (let at = y + 3; at < y + h - 1; at += 3 + owner.stripes * 2) {
      if (!labelled || Math.abs(at - middle) > 7) ctx.fillRect(x, at, w, owner.stripes);
    }
  }
  if (!labelled) return;
  ctx.font = "600 10px system-ui, sans-serif";
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillStyle = owner.ink;
  ctx.fillText(owner.label, x + w / 2, middle);
}

// moves draws a tick in the colour of the new owner, with an edge that is visible on any cell.
/** @type {(ctx: CanvasRenderingContext2D, area: Area) => void} */
function moves(ctx, area) {
  const { heat, picture, view } = state;
  const to = Math.min(Math.ceil(view.r1), picture.shown.length);
  for (let r = Math.max(Math.floor(view.r0), 0); r < to; r++) {
    const row = heat.rows[picture.shown[r]];
    for (const w of row.was ?? []) {
      if (w.until < view.t0 || w.until > view.t1) continue;
      const x = xOf(area, w.until);
      const y = yOf(area, r);
      const h = Math.max(yOf(area, r + 1) - y, 3);
      ctx.fillStyle = state.colors.paper;
      ctx.fillRect(x - 2, y, 5, h);
      ctx.fillStyle = colors.get(ownerAt(heat, picture.shown[r], w.until))?.color ?? state.colors.ink;
      ctx.fillRect(x - 1, y, 3, h);
    }
  }
}
