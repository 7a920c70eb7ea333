// The legend of the cluster map: what a mark's height stands for, with the ends of its scale.
import { bytes, rate } from "./map_numbers.js";
import { decades } from "./map_scale.js";
import { part, say, state } from "./map_state.js";
import { isZoomed } from "./map_view.js";
import { span } from "./relative_times.js";

/** legend writes it for the measure that is shown. */
export function legend() {
  const { by } = state.view;
  const [low, high] = ends(by, state.map.scale);
  write("scale-what", say(`by${by}`, { window: span(milliseconds(state.map.scale.heat.window)) }));
  write("scale-low", low);
  write("scale-high", high);
  part("scale").hidden = by === "shard" || low === "";
  for (const input of part("by").querySelectorAll("input")) input.checked = input.value === by;
  part("only").value = state.view.only;
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
  const list = /** @type {NodeListOf<HTMLElement>} */ (part("body").querySelectorAll("[data-sign]"));
  for (const li of list) li.hidden = !shown[li.dataset.sign ?? ""];
}

// milliseconds reads a duration such as 1h5m0s.
function milliseconds(duration = "") {
  /** @type {Record<string, number>} */
  const units = { h: 3600_000, m: 60_000, s: 1000 };
  return [...duration.matchAll(/(\d+)([hms])/g)].reduce((sum, [, n, unit]) => sum + Number(n) * units[unit], 0);
}

/** @type {(by: string, scale: import("./api.js").MapScale) => [string, string]} */
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

/** @type {(name: "scale-what" | "scale-low" | "scale-high", text: string) => void} */
function write(name, text) {
  if (part(name).textContent !== text) part(name).textContent = text;
}
