// What the pictures on canvases share: the cluster map and the heat picture.
import { make } from "./elements.js";
/** @import { Box } from "./map_layout.js" */

/** contextOf is what a canvas is drawn with. @param {HTMLCanvasElement} canvas */
export const contextOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/** @typedef {{ground?: string, width?: number, round?: boolean, strength?: number}} Look of lines in a pattern */

/** clamp is the number of a range that is nearest to n. @type {(n: number, least: number, most: number) => number} */
export const clamp = (n, least, most) => Math.min(Math.max(n, least), most);

// frames is a function that requests a frame. Any number of requests before it make one. A frame that returns true is followed
// by another, because something moves.
/** @type {(frame: (now: number) => boolean | void) => () => void} */
export function frames(frame) {
  let requested = false;
  return function draw() {
    if (requested) return;
    requested = true;
    requestAnimationFrame((now) => {
      requested = false;
      if (frame(now)) draw();
    });
  };
}

// fitted gives a canvas the pixels of the screen for a size in CSS pixels.
/** @type {(canvas: HTMLCanvasElement, width: number, height: number) => CanvasRenderingContext2D} */
export function fitted(canvas, width, height) {
  const ratio = pixelRatio();
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
  const ctx = contextOf(canvas);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  return ctx;
}

/** pixelRatio is how many pixels of a picture a CSS pixel has: no more than can be told apart. */
export const pixelRatio = () => Math.min(devicePixelRatio || 1, 2);

/** isTouched tells whether the pictures are used with fingers. */
export const isTouched = () => matchMedia("(pointer: coarse)").matches;

/** styleColor is a colour of the style sheet, which knows the theme. @param {string} name */
export const styleColor = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** onTheme calls a function after the theme has changed. @param {() => void} f */
export function onTheme(f) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", f);
  new MutationObserver(f).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
}

// tiled is a pattern of lines in a square of a size in pixels.
/** @type {(size: number, ink: string, lines: string, look?: Look) => CanvasPattern | string} */
export function tiled(size, ink, lines, { ground = "transparent", width = 1, round = false, strength = 1 } = {}) {
  const tile = make("canvas", { width: size, height: size });
  const ctx = contextOf(tile);
  ctx.fillStyle = ground;
  ctx.fillRect(0, 0, size, size);
  ctx.globalAlpha = strength;
  ctx.strokeStyle = ink;
  ctx.lineWidth = width;
  ctx.lineCap = round ? "round" : "butt";
  ctx.stroke(new Path2D(lines));
  return ctx.createPattern(tile, "repeat") ?? ink;
}

// outline draws a box in two colours, so that it is visible on any: the outer line is wider by so much.
/** @type {(ctx: CanvasRenderingContext2D, box: Box, outer: string, inner: string, width: number) => void} */
export function outline(ctx, { x, y, w, h }, outer, inner, width) {
  for (const [color, wide] of /** @type {const} */ ([[outer, width + 2], [inner, width]])) {
    ctx.lineWidth = wide;
    ctx.strokeStyle = color;
    ctx.strokeRect(x, y, w, h);
  }
}

// lastAt is the place of the last of ascending numbers that is not above n; 0 if all are.
/** @type {(ascending: ArrayLike<number>, n: number) => number} */
export function lastAt(ascending, n) {
  let lo = 0;
  let hi = ascending.length - 1;
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    if (ascending[mid] <= n) lo = mid;
    else hi = mid - 1;
  }
  return lo;
}
