// @ts-check
"use strict";
/** Elements of a page, names in them, and colours that are visible in light and dark. */
const Dom = (() => {
  /** @param {string} name */
  const styled = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  /** @param {string} hex */
  const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

  /** @param {number[]} rgb */
  function luminance(rgb) {
    const [red, green, blue] = rgb.map((one) => (one / 255 <= 0.03928 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }

  /** Colours that are known to be visible in this theme. @type {Map<string, string>} */
  const colors = new Map();
  document.addEventListener("theme", () => colors.clear());

  /**
   * Return a colour with a contrast of at least 3 to 1 on the background: lighter on a dark one.
   * @param {string} hex
   */
  function visible(hex) {
    const found = colors.get(hex);
    if (found) return found;
    const paper = luminance(channels(styled("--paper")));
    let rgb = channels(hex);
    for (let k = 0; k < 12 && paper < 0.2 && (luminance(rgb) + 0.05) / (paper + 0.05) < 3.2; k += 1) rgb = rgb.map((one) => Math.round(one + 0.12 * (255 - one)));
    const written = `#${rgb.map((one) => one.toString(16).padStart(2, "0")).join("")}`;
    colors.set(hex, written);
    return written;
  }

  /** @param {string} tag @param {Record<string, string>} attributes @param {string} [text] */
  function element(tag, attributes, text = "") {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.textContent = text;
    return made;
  }

  /** Return an element of a drawing. @param {string} name @param {Record<string, string | number>} attributes @param {string} [text] */
  function drawn(name, attributes, text = "") {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
    made.textContent = text;
    return made;
  }

  /** Insert a name with line breaks allowed after _, -, . (not in numbers) and /, as in `breakable` of the page. @param {HTMLElement} place @param {string} name */
  function put(place, name) {
    const parts = name.length > 12 ? name.split(/(?<=[-_/])(?=[^-_./])|(?<=\.)(?=[^-_./\d])|(?<=[^-_./\s]{24})(?=[^-_./\s])/) : [name];
    place.replaceChildren(...parts.flatMap((part, at) => (at ? [document.createElement("wbr"), part] : [part])));
    return place;
  }

  /** Shorten a name to leave room for numbers. @param {string} name */
  const short = (name) => (name.length > 60 ? `${name.slice(0, 40)}\u2026${name.slice(-19)}` : name);

  return { drawn, element, put, short, styled, visible };
})();
