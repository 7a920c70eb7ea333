// Renders the heat map's picture anew: for new data, another shard, other brightness or colours.
import { color } from "./heat_picture.js";
import { whole } from "./heat_view.js";
import { rate } from "./numbers.js";
import { contextOf } from "./pictures.js";
import { colors, readColors } from "./shard_colors.js";
import { part, say, state } from "./heat_state.js";
/** @import { Picture } from "./heat_picture.js" */

/** render paints the picture for what is chosen on the page, and the colour scale above it. */
export function render() {
  readColors();
  const zero = zeroColor();
  const dark = zero[0] < 128;
  const rows = state.picture.shown.length;
  state.picture.render({
    shard: part("shard").value,
    brightness: brightness(),
    normalise: part("normalise").checked,
    dark,
    zero,
  });
  if (state.picture.shown.length !== rows) {
    state.all = whole(state.heat, state.picture.shown.length);
    state.view = state.all;
    state.cursor = null;
  }
  scale(dark);
  paintAhead(state.picture);
}

const brightness = () => Number(part("brightness").value);

// zeroColor is the colour of cells without writes. It is needed as numbers, so one pixel of it is painted and read.
function zeroColor() {
  const ctx = contextOf(document.createElement("canvas"));
  ctx.fillStyle = colors.track;
  ctx.fillRect(0, 0, 1, 1);
  return [...ctx.getImageData(0, 0, 1, 1).data].slice(0, 3);
}

/** @param {boolean} dark */
function scale(dark) {
  const bar = part("scale");
  const ctx = contextOf(bar);
  const power = 2 ** (-brightness() / 5);
  for (let x = 0; x < bar.width; x++) {
    ctx.fillStyle = `rgb(${color((x / (bar.width - 1)) ** power, dark).join()})`;
    ctx.fillRect(x, 0, 1, bar.height);
  }
  const spans = [...state.picture.spans.values()];
  const least = Math.min(...spans.map((span) => span[0]));
  const most = Math.max(0, ...spans.map((span) => span[1]));
  part("least").textContent = most ? rate(state.heat.rate(least)) : "";
  part("most").textContent = most ? `${rate(state.heat.rate(most))} ${say("more")}` : "";
}

/** paintAhead paints in idle time what a zoom will need. @param {Picture} picture */
function paintAhead(picture) {
  /** @type {(f: (left: Pick<IdleDeadline, "timeRemaining">) => void) => void} */
  const whenIdle = globalThis.requestIdleCallback ?? ((f) => setTimeout(() => f({ timeRemaining: () => 10 }), 50));
  whenIdle((left) => {
    if (picture !== state.picture) return; // replaced meanwhile
    if (left.timeRemaining() < 5 || picture.paintNext()) paintAhead(picture);
  });
}
