// @ts-check
"use strict";
/** The address of a page, which contains the choices of the reader by name, so that links restore them. */
const Links = (() => {
  /** Return the choices in the address. */
  const given = () => new URLSearchParams(location.hash.replace(/^#/, ""));

  /**
   * Return the part of an address with the choices, without null values.
   * @param {Record<string, string | number | null>} chosen
   */
  const written = (chosen) =>
    `#${Object.entries(chosen)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
      .join("&")}`;

  /**
   * Return the name of one of several for the address, or its number if the name is long or not unique.
   * @param {string[]} names
   * @param {number} k
   */
  function nameOf(names, k) {
    const name = names[k];
    const isPlain = name.length <= 60 && names.indexOf(name) === names.lastIndexOf(name) && !/^\d+$/.test(name);
    return isPlain ? name : String(k + 1);
  }

  /**
   * Return the index of a name in the address; -1 if there is none.
   * @param {string[]} names
   * @param {string | null} name
   */
  const placeOf = (names, name) => names.findIndex((_, k) => nameOf(names, k) === name);

  let waiting = 0;

  /** Write the address, once for several changes, because browsers limit the rate of changes. @param {string} link */
  function keep(link) {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      // A page inside a notebook has no address.
      if (location.protocol !== "about:") history.replaceState(null, "", link === "#" ? location.pathname + location.search : link);
    }, 150);
  }

  return { given, keep, nameOf, placeOf, written };
})();
