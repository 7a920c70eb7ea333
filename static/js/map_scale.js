// How high a mark of the cluster map is filled: by the size of its chunks, their writes, the time since they
// moved, or the share of its chunks that are on its shard; and the legend that says so.
import { all, setText } from "./elements.js";
import { part, say, state } from "./map_state.js";
import { isZoomed } from "./map_view.js";
import { bytes, rate } from "./numbers.js";
import { clamp } from "./pictures.js";
import { span } from "./relative_times.js";
/** @import { MapScale, MapSpan } from "./api.js" */
/** @import { Tile } from "./map_tiles.js" */

/** @typedef {(t: Tile, i: number) => number | null} Scale from a tile and the index of a mark to 0…1; null if that is not known */

/** scaleOf is the scale of the measure that is shown. @type {() => Scale} */
export function scaleOf() {
  const { by } = state.view;
  const { heat, age, bytes } = state.map.scale;
  if (by === "heat") return logarithmic("peak", heat);
  if (by === "size") {
    return (t, i) => (t.bytes[i] == null || !bytes.high ? null : clamp(t.bytes[i] / bytes.high, 0, 1));
  }
  if (by === "age") {
    const level = logarithmic("age", age);
    return (t, i) => (t.age[i] == null ? null : Math.min(1.02 - (level(t, i) ?? 0), 1));
  }
  return (t, i) => t.share[i] / 100;
}

/** @type {(column: "peak" | "age", range: MapSpan) => Scale} */
function logarithmic(column, range) {
  if (!range.high) return () => null;
  const { low, high } = decades(range);
  return (t, i) => {
    const v = t[column][i];
    return v == null ? null : v <= 0 ? 0 : clamp(Math.log(v / low) / Math.log(high / low), 0.06, 1);
  };
}

// decades are the ends of a logarithmic scale: at most three powers of ten.
/** @type {(range: MapSpan) => {low: number, high: number}} */
function decades({ low, high }) {
  const top = Math.max(high ?? 0, 1e-3);
  return { low: Math.min(Math.max(low ?? 0, top / 1e3), top / 10), high: top };
}

/** legend writes what the height of a mark stands for, with the ends of the scale, and sets the controls. */
export function legend() {
  const { by, only } = state.view;
  const [low, high] = ends(by, state.map.scale);
  setText(part("scale-what"), say(`by${by}`));
  setText(part("scale-low"), low);
  setText(part("scale-high"), high);
  part("scale").hidden = by === "shard" || low === "";
  for (const input of part("by").querySelectorAll("input")) input.checked = input.value === by;
  part("only").value = only;
  part("all").hidden = !isZoomed(state.view);
  signs();
}

// signs leaves out of the legend what the map cannot have.
function signs() {
  const { bands, moving } = state.map;
  /** @type {Record<string, boolean>} */
  const shown = {
    zone: bands.some((b) => b.zoned),
    jumbo: bands.some((b) => b.jumbo > 0),
    moving: moving.some((m) => !m.arrived),
    unknown: state.view.by !== "shard",
  };
  for (const li of all("[data-sign]", part("body"))) li.hidden = !shown[li.dataset.sign ?? ""];
}

/** @type {(by: string, scale: MapScale) => [low: string, high: string]} */
function ends(by, scale) {
  if (by === "size" && scale.bytes.high) return [bytes(0), bytes(scale.bytes.high)];
  if (by === "heat" && scale.heat.high) {
    const { low, high } = decades(scale.heat);
    return [rate(low), `${rate(high)} ${say("rate")}`];
  }
  if (by === "age" && scale.age.high) {
    const { low, high } = decades(scale.age);
    return [say("ago", { span: span(high * 1000) }), say("ago", { span: span(low * 1000) })];
  }
  return ["", ""];
}
