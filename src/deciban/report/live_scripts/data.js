// @ts-check
"use strict";
/** The data of a page. */
const PageData = {
  /** Decompress and parse the data; null in browsers older than 2023. @param {HTMLElement} source @returns {Promise<any>} */
  async read(source) {
    if (typeof DecompressionStream === "undefined") return null;
    const bytes = Uint8Array.from(atob((source.textContent ?? "").trim()), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  },
};
