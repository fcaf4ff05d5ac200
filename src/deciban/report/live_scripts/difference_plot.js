// @ts-check
"use strict";
/** The difference of two systems over the prior, with its band. */
const DifferencePlot = (() => {
  const { interval, number } = Numbers;

  /** @param {number} value @param {number} digits */
  const signed = (value, digits) => {
    const text = number(value, digits);
    return value > 0 && Number(text.replaceAll(",", "")) !== 0 ? `+${text}` : text;
  };

  /** Plot of differences of curves over the prior with their bands. @param {{x: any, y: any}} priors */
  function plotOf(priors) {
    const middle = (/** @type {number[]} */ values) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];
    return {
      isBare: true,
      height: (/** @type {number} */ width) => Math.round(Math.min(Math.max(0.5 * width, 240), 400)),
      x: priors.x,
      y: { ...priors.y, label: "First minus second" },
      range: (/** @type {any[]} */ curves) => {
        // The limits contain the curves, and their bands at most priors.
        const all = curves.flatMap((one) => [...one.difference, 0]);
        const [low, high] = [Math.min(...all), Math.max(...all)];
        const half = Math.max(...curves.map((one) => middle(one.high.map((/** @type {number} */ end, /** @type {number} */ k) => (end - one.low[k]) / 2))));
        const margin = Math.max(0.1 * (high - low), 1.2 * half) || 0.1;
        return { x: [Math.min(...curves[0].x), Math.max(...curves[0].x)], y: [low - margin, high + margin] };
      },
      lines: (/** @type {any} */ one) => [{ x: one.x, y: one.difference, dash: one.isDashed, band: [[one.x, one.low], [one.x, one.high]] }],
      readings: (/** @type {any} */ one) =>
        one.x.map((/** @type {number} */ x, /** @type {number} */ k) => {
          const share = Numbers.prior(OperatingPoints.expit(x));
          const bounds = interval(one.low[k], one.high[k], number);
          return { x, y: one.difference[k], text: `prior ${share}: difference ${signed(one.difference[k], 3)} ${bounds}` };
        }),
      marks: (/** @type {any} */ one, /** @type {any} */ { logOdds }) => {
        const at = one.x.findIndex((/** @type {number} */ x) => x >= logOdds);
        if (at < 0 || (at === 0 && one.x[0] > logOdds)) return [];
        if (one.x[at] === logOdds || at === 0) return [[one.x[at], one.difference[at]]];
        const share = (logOdds - one.x[at - 1]) / (one.x[at] - one.x[at - 1]);
        return [[logOdds, one.difference[at - 1] + share * (one.difference[at] - one.difference[at - 1])]];
      },
      reference: (/** @type {number} */ low, /** @type {number} */ high) => [[low, 0], [high, 0]],
    };
  }

  return { plotOf, signed };
})();
