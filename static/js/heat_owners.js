// Draws who owns the rows of the heat map: a lane on the left with the owners where the view begins,
// one on the right with those where it ends, and a tick in the cells where a row moved.
import { all, first } from "./elements.js";
import { ownerAt } from "./heat_data.js";
import { laneWidth, xOf, yOf } from "./heat_axes.js";
import { state } from "./heat_state.js";
import { colors, drawBadge, fillOf } from "./shard_colors.js";
/** @import { Area } from "./heat_axes.js" */
/** @import { Shard } from "./shard_colors.js" */

/** @type {Map<string, Shard>} */
const owners = new Map(); // by name, from the legend: the page has their labels, and classes of their colours and patterns
for (const el of all('[data-heat="legend"] [data-shard]')) {
  const badge = first(".sh", el);
  const [color = 0, pattern = 0] = ["s", "p"].map((letter) => Number(badge?.className.match(`\\b${letter}(\\d+)`)?.[1] ?? 0));
  owners.set(el.dataset.shard ?? "", { label: badge?.textContent ?? "", color, pattern });
}
const unknown = { label: "", color: 0, pattern: 0 };

/** ownerLanes draws both lanes and the ticks. @type {(ctx: CanvasRenderingContext2D, area: Area) => void} */
export function ownerLanes(ctx, area) {
  if (owners.size === 0) return;
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
  ctx.font = "600 10px system-ui, sans-serif";
  for (let r = from; r < to; ) {
    const owner = ownerAt(state.heat, shown[r], time);
    let end = r + 1;
    while (end < to && ownerAt(state.heat, shown[end], time) === owner) end++;
    const y = Math.max(yOf(area, r), area.y);
    const h = Math.min(yOf(area, end), area.y + area.h) - y;
    const box = { x, y, w: laneWidth() - 1, h: Math.max(h - 0.5, 0.5) };
    const shard = owners.get(owner);
    drawBadge(ctx, shard ?? unknown, shard ? fillOf(shard) : colors.gap, box, shard !== undefined && box.w > 16 && h >= 12);
    r = end;
  }
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
      ctx.fillStyle = colors.paper;
      ctx.fillRect(x - 2, y, 5, h);
      const owner = owners.get(ownerAt(heat, picture.shown[r], w.until));
      ctx.fillStyle = owner ? colors.shards[owner.color] : colors.ink;
      ctx.fillRect(x - 1, y, 3, h);
    }
  }
}
