// @ts-check
"use strict";
/**
 * Inputs of a two-class page for the operating point: typed numbers, sliders and presets.
 *
 * @typedef {{p: number, cMiss: number, cFa: number}} PointChoice
 */
const Controls = (() => {
  const { expit, isChoice, logit, nearest } = OperatingPoints;

  /** @param {string} name @returns {any} */
  const input = (name) => document.querySelector(`[name="${name}"]`);

  /** Read a cost from a slider by powers of ten. @param {any} slider */
  const costOf = (slider) => Number((10 ** Number(slider.value)).toPrecision(2));

  /** Move a slider to a value, and extend its range if necessary. @param {any} slider @param {number} value @param {string} words */
  function slideTo(slider, value, words) {
    slider.min = String(Math.min(Number(slider.getAttribute("data-min")), Math.floor(value - 0.05)));
    slider.max = String(Math.max(Number(slider.getAttribute("data-max")), Math.ceil(value + 0.05)));
    slider.value = String(value);
    slider.setAttribute("aria-valuetext", words);
  }

  class Controls {
    /**
     * @param {any} data
     * @param {PointChoice} choice
     * @param {() => void} onChoice
     */
    constructor(data, choice, onChoice) {
      this.data = data;
      this.choice = choice;
      this.onChoice = onChoice;
      this.fillPresets();
      this.listen();
    }

    fillPresets() {
      this.data.points.forEach((/** @type {any} */ one, /** @type {number} */ k) => {
        const costs = one.c_miss === 1 && one.c_fa === 1 ? "" : `, costs ${one.c_miss}:${one.c_fa}`;
        const origin = one.of.startsWith("this evaluation") ? "evaluated" : one.of;
        input("preset").append(Dom.element("option", { value: String(k) }, `${one.p}${costs} (${origin})`));
      });
    }

    /** @param {PointChoice} choice @param {any} [except] Input that changed. */
    choose(choice, except = null) {
      this.choice = choice;
      this.fill(except);
      this.onChoice();
    }

    /** Write the choice into all inputs except the one that changed. @param {any} except */
    fill(except) {
      const { p, cMiss, cFa } = this.choice;
      for (const [name, value] of Object.entries({ prior: p, "c-miss": cMiss, "c-fa": cFa })) {
        const at = name === "prior" ? logit(value) : Math.log10(value);
        if (input(name) !== except) input(name).value = String(value);
        Typing.accept(input(name));
        const slider = input(`${name}-slider`);
        if (slider === except) slider.setAttribute("aria-valuetext", name === "prior" ? Numbers.prior(p) : String(value));
        else slideTo(slider, at, name === "prior" ? Numbers.prior(p) : String(value));
      }
      const isChosen = (/** @type {any} */ one) => one.p === p && one.c_miss === cMiss && one.c_fa === cFa;
      input("preset").value = String(this.data.points.findIndex(isChosen));
    }

    listen() {
      const { data } = this;
      const aCost = () => "Type a cost above 0, such as 10; the two costs can differ by a factor of at most 7e10.";
      const aPrior = () => `Type a prior above 0 and below 1, such as 0.01, 1/100, 1%, 1 in 100 or 1:99. The page still shows ${this.choice.p}.`;
      this.onTyping(input("prior"), (p) => ({ ...this.choice, p }), aPrior, Typing.shareOf);
      this.onTyping(input("c-miss"), (cMiss) => ({ ...this.choice, cMiss }), aCost);
      this.onTyping(input("c-fa"), (cFa) => ({ ...this.choice, cFa }), aCost);
      input("prior-slider").addEventListener("input", (/** @type {any} */ { target }) => {
        const at = Number(target.value);
        const p = data.priors[nearest(data.log_odds, at)];
        this.choose({ ...this.choice, p: p > 0.5 ? Number(p.toPrecision(9)) : p || expit(at) }, target);
      });
      input("c-miss-slider").addEventListener("input", (/** @type {any} */ { target }) => this.choose({ ...this.choice, cMiss: costOf(target) }, target));
      input("c-fa-slider").addEventListener("input", (/** @type {any} */ { target }) => this.choose({ ...this.choice, cFa: costOf(target) }, target));
      input("preset").addEventListener("change", (/** @type {any} */ { target }) => {
        const one = data.points[Number(target.value)];
        if (one) this.choose({ p: one.p, cMiss: one.c_miss, cFa: one.c_fa });
      });
    }

    /**
     * @param {any} box
     * @param {(value: number) => PointChoice} made
     * @param {() => string} expected What may be typed.
     * @param {(text: string) => number} [read]
     */
    onTyping(box, made, expected, read = Typing.numberOf) {
      box.addEventListener("input", () => {
        const chosen = made(read(box.value));
        if (isChoice(chosen)) this.choose(chosen, box);
        else Typing.refuse(box, expected());
      });
      box.addEventListener("change", () => {
        if (box.getAttribute("aria-invalid") !== "true") this.fill(null);
      });
    }
  }

  return { Controls };
})();
