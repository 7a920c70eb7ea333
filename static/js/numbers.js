// Writes numbers of the pictures as all pages do: thin spaces between groups of digits and before units.

const thin = "\u202f";

/** count writes a whole number: 12 345. @param {number} n */
export const count = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, thin);

/** bytes writes a size in IEC units with three digits: 1.24 GiB. @param {number} n */
export function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  if (n < 1024) return `${Math.round(n)}${thin}B`;
  let u = 0;
  for (; n >= 999.5 && u < units.length - 1; u++) n /= 1024;
  return `${n >= 99.95 ? n.toFixed(0) : n >= 9.995 ? n.toFixed(1) : n.toFixed(2)}${thin}${units[u]}`;
}

/** rate writes a measured rate with about three digits, without its unit. @param {number} n */
export function rate(n) {
  if (n >= 100 || n === 0) return count(n);
  if (n < 0.0005) return `<${thin}0.001`;
  return n >= 10 ? n.toFixed(1) : n >= 0.1 ? n.toFixed(2) : n.toFixed(3);
}

// joined are parts of a line; what is empty, or 0 for a flag that is not set, is left out.
/** @param {(string | number | false | null | undefined)[]} parts */
export const joined = (...parts) => parts.filter(Boolean).join(" · ");
