// @ts-check
"use strict";
/** The trials in the range of scores that the reader chooses in the histogram, out of the most misleading ones. */
const Brush = (() => {
  const { general, count, typeset } = Numbers;
  /** Largest number of trials in the list. */
  const MOST = 20;

  /**
   * Return the trials of the page that belong to the shown set; none for training trials.
   * @param {any} condition
   * @returns {HTMLElement[]}
   */
  function rowsOf(condition) {
    const isBefore = Boolean(condition && condition.name === "before calibration");
    if (condition && !condition.by && !isBefore) return [];
    const all = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#worst-trials tr[data-score]")]);
    return all.filter((row) => (row.dataset.set === "before") === isBefore);
  }

  /** Return a table of trials with a column for the system. @param {HTMLElement[]} found */
  function tableOf(found) {
    const table = Dom.element("table", {});
    const head = Dom.element("tr", {});
    // Tables of scores that are no llrs lack the last column, the cost.
    const headings = found.map((row) => /** @type {HTMLElement[]} */ ([...(row.closest("table")?.querySelectorAll("thead th") ?? [])])).sort((one, other) => other.length - one.length)[0];
    head.append(Dom.element("th", { scope: "col", class: "text" }, "system"), ...headings.map((one) => Dom.element("th", { scope: "col", class: one.className }, one.dataset.words)));
    const body = Dom.element("tbody", {});
    for (const row of found.slice(0, MOST)) {
      const copy = /** @type {HTMLElement} */ (row.cloneNode(true));
      copy.prepend(Dom.put(Dom.element("td", { class: "text name" }), row.dataset.of ?? ""));
      body.append(copy);
    }
    table.append(Dom.element("thead", {}), body);
    table.children[0].append(head);
    const frame = Dom.element("div", { class: "wide", role: "region", "aria-label": "Trials in the chosen range of scores", tabindex: "0" });
    frame.append(table);
    return frame;
  }

  /** Follow the range of the histogram. @param {() => any} conditionNow */
  function watch(conditionNow) {
    const figure = document.querySelector("figure[data-plot=histogram]");
    if (!figure || !document.querySelector("#worst-trials")) return;
    const place = Dom.element("div", { class: "brushed", "aria-live": "polite" });
    figure.append(place);
    figure.addEventListener("zoomed", (/** @type {any} */ event) => {
      const range = /** @type {number[] | null} */ (event.detail);
      const known = rowsOf(conditionNow());
      if (!range) return place.replaceChildren();
      const found = known.filter(({ dataset: { score } }) => Number(score) >= range[0] && Number(score) <= range[1]);
      found.sort((one, other) => Number(other.dataset.cost) - Number(one.dataset.cost));
      const words = `Scores from ${range.map((one) => typeset(general(one, 3))).join(" to ")}: ${count(found.length)} of the ${count(known.length)} most misleading trials.`;
      const more = found.length > MOST ? ` The ${MOST} with the highest cost:` : "";
      place.replaceChildren(Dom.element("p", { class: "small" }, `${words} The page does not contain other trials.${more}`), ...(found.length ? [tableOf(found)] : []));
    });
  }

  return { watch };
})();
