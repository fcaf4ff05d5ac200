// @ts-check
"use strict";
/** The cards of systems, whose main metrics are those of the chosen condition. */
const Cards = (() => {
  class Cards {
    /** @param {any[]} systems @param {ConditionKind} kind */
    constructor(systems, kind) {
      const names = systems.map(({ name }) => name);
      this.kind = kind;
      this.numbers = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-main]")]).map((place) => ({
        place,
        pooled: place.textContent,
        name: place.dataset.main ?? "",
        k: names.indexOf(place.dataset.of),
      }));
    }

    /** Write the metrics of a condition, and mark what is of all trials. @param {ConditionRow | null} row Null for all trials. */
    show(row) {
      for (const { place, pooled, name, k } of this.numbers) {
        place.textContent = row ? this.kind.figures[name].write(row.figures[name]?.[k] ?? null) : pooled;
        const ends = /** @type {HTMLElement | null} */ (place.nextElementSibling);
        if (ends) ends.style.visibility = row ? "hidden" : ""; // the interval is of all trials
      }
      for (const one of document.querySelectorAll("[data-pooled]")) one.textContent = row ? `(${this.kind.everything})` : "";
    }
  }

  return { Cards };
})();
