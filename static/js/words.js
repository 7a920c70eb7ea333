// The sentences of scripts. The page has them as data attributes, so that all texts are written by
// the server.
import { setText } from "./elements.js";

const words = document.getElementById("words")?.dataset ?? {};

/** @typedef {Record<string, string | number>} Args what the names in a sentence stand for */

/** fill replaces the {names} of a sentence. @type {(sentence?: string, args?: Args) => string} */
export const fill = (sentence = "", args = {}) => sentence.replace(/\{(\w+)\}/g, (all, name) => String(args[name] ?? all));

/** word is a sentence of the page, filled in. @type {(name: string, args?: Args) => string} */
export const word = (name, args = {}) => fill(words[name], args);

/** announce has screen readers read a text when they are done with what they read now. @param {string} text */
export const announce = (text) => setText(document.getElementById("announce"), text);
