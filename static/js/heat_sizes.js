// Makes the levels of the heat map's cells smaller, for pictures of many cells on few pixels. A cell of a
// smaller size has the maximum of its cells.

/**
 * @typedef {{levels: Uint8Array, wide: number, rows: number, fy: number, image: HTMLCanvasElement | null}} Size
 * levels of wide columns and rows; fy is how many rows one stands for; image is null until it is painted
 */

const down = [1, 2, 4, 8, 16]; // by how much sizes are made smaller, in rows
const across = [1, 4, 16]; // and in columns

/**
 * sizesOf are all sizes of levels of so many rows and columns. Rows on different scales have no maximum.
 * @type {(levels: Uint8Array, rows: number, columns: number, normalise: boolean) => Map<string, Size>}
 */
export function sizesOf(levels, rows, columns, normalise) {
  const sizes = new Map();
  for (const fy of down) {
    if (fy > 1) {
      if (normalise || rows < 2) break;
      levels = shrunk(levels, rows, columns, 2, 1);
      rows = Math.ceil(rows / 2);
    }
    let part = levels;
    let wide = columns;
    for (const fx of across) {
      if (fx > 1) {
        if (wide < 4) break;
        part = shrunk(part, rows, wide, 1, 4);
        wide = Math.ceil(wide / 4);
      }
      sizes.set(`${fx},${fy}`, { levels: part, wide, rows, fy, image: null });
    }
  }
  return sizes;
}

/**
 * sizeFor is the smallest size that is at least as large as needed, where a pixel stands for so many columns
 * and rows.
 * @type {(sizes: Map<string, Size>, perColumn: number, perRow: number) => { size: Size; x: number; y: number; }}
 */
export function sizeFor(sizes, perColumn, perRow) {
  for (let y = largest(down, perRow); y >= 1; y /= 2) {
    for (let x = largest(across, perColumn); x >= 1; x /= 4) {
      const size = sizes.get(`${x},${y}`);
      if (size) return { size, x, y };
    }
  }
  throw new Error("a layer without a picture");
}

/** @type {(list: number[], most: number) => number} */
function largest(list, most) {
  let best = list[0];
  for (const v of list) if (v <= most) best = v;
  return best;
}

// shrunk has the maximum of each piece of so many rows and columns.
/** @type {(levels: Uint8Array, rows: number, columns: number, down: number, across: number) => Uint8Array} */
function shrunk(levels, rows, columns, down, across) {
  const wide = Math.ceil(columns / across);
  const out = new Uint8Array(Math.ceil(rows / down) * wide);
  for (let r = 0; r < rows; r++) {
    const to = Math.floor(r / down) * wide;
    for (let i = 0; i < columns; i++) {
      const at = to + Math.floor(i / across);
      out[at] = Math.max(out[at], levels[r * columns + i]);
    }
  }
  return out;
}
