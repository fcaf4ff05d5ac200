// @ts-check
"use strict";
/** The address of a page: what readers chose, by names, so that a link opens there again. */
const Links = (() => {
  /** What the address says. */
  const given = () => new URLSearchParams(location.hash.replace(/^#/, ""));

  /**
   * The part of an address that says what was chosen; what is null is left out.
   * @param {Record<string, string | number | null>} chosen
   */
  const written = (chosen) =>
    `#${Object.entries(chosen)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
      .join("&")}`;

  /**
   * What an address calls one of several: by its name, if that is short and nobody else has it, or else by its number.
   * @param {string[]} names
   * @param {number} k
   */
  function nameOf(names, k) {
    const name = names[k];
    const isPlain = name.length <= 60 && names.indexOf(name) === names.lastIndexOf(name) && !/^\d+$/.test(name);
    return isPlain ? name : String(k + 1);
  }

  /**
   * Place of what an address names; -1 if there is none.
   * @param {string[]} names
   * @param {string | null} name
   */
  const placeOf = (names, name) => names.findIndex((_, k) => nameOf(names, k) === name);

  let waiting = 0;

  /** Write into the address, once for many changes: browsers refuse to change it too often. @param {string} link */
  function keep(link) {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      // A page within a page, as notebooks show it, has no address of its own.
      if (location.protocol !== "about:") history.replaceState(null, "", link === "#" ? location.pathname + location.search : link);
    }, 150);
  }

  return { given, keep, nameOf, placeOf, written };
})();
