// @ts-check
"use strict";
/** Natural frequencies: how many of a number of trials each system accepts rightly and wrongly at the operating point. */
const Frequencies = (() => {
  const { count, general } = Numbers;
  /** Default number of trials. */
  const EXPECTED = 1000;
  /** With more systems, sentences are for those that cost least. */
  const MOST = 4;

  /** Write an expected number of trials, which can be fractional. @param {number} value */
  const written = (value) => (value >= 1000 ? count(Math.round(value)) : value === 0 || value >= 0.01 ? general(value, value < 1 ? 2 : 3) : "less than 0.01");

  class Frequencies {
    /** @param {() => void} onChange */
    constructor(onChange) {
      this.root = /** @type {HTMLElement} */ (document.getElementById("frequencies"));
      this.box = /** @type {HTMLInputElement} */ (document.querySelector("[name=trials]"));
      this.box.addEventListener("input", () => {
        if (this.total === Typing.countOf(this.box.value)) Typing.accept(this.box);
        else Typing.refuse(this.box, `Type a number of trials above 0, such as 10,000. Numbers below are for ${count(EXPECTED)}.`);
        onChange();
      });
      this.root.hidden = false;
    }

    /** Number of trials. */
    get total() {
      const given = Typing.countOf(this.box.value);
      return given > 0 && given < 1e15 ? given : EXPECTED;
    }

    /** Number of trials for the address; null for the default. */
    get linked() {
      return this.total === EXPECTED ? null : String(this.total);
    }

    /** Read the number of trials from the address. @param {string | null} given */
    restore(given) {
      const n = Number(given ?? EXPECTED);
      this.box.value = String(n > 0 ? n : EXPECTED);
    }

    /** @param {any[]} systems @param {any} point @param {any[]} found Metrics of each system. */
    show(systems, point, found) {
      const { total } = this;
      const order = systems.map((_, k) => k);
      if (order.length > MOST) order.sort((one, other) => found[one].act_dcf - found[other].act_dcf);
      const lines = order.slice(0, MOST).map((k) => {
        const { expected_misses: missed, expected_false_alarms: alarms } = found[k];
        return `${Dom.short(systems[k].name)} finds ${written(total * point.p - missed)} of them and raises ${alarms === 0 ? "no" : written(alarms)} false alarms`;
      });
      if (order.length > MOST) lines.push(`${order.length - MOST} more systems: see the table of the operating point`);
      this.root.querySelector("[data-place=frequencies]")?.replaceChildren(...lines.map((one) => Dom.element("li", {}, one)));
      const targets = this.root.querySelector("[data-place=targets-expected]");
      if (targets) targets.textContent = general(total * point.p, 4);
    }
  }

  return { Frequencies };
})();
