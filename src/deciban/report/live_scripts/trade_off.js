// @ts-check
"use strict";
/** Error rates against each other: DET and ROC, and the readings of thresholds. */
const TradeOff = (() => {
  const { count, interval, percent } = Numbers;
  const { figuresOf } = OperatingPoints;
  const { linear, llr, probit, probits } = Axes;

  /**
   * Return the limits of an axis of rates, so that the curve fills it.
   * @param {any[]} systems
   * @param {"x" | "y"} axis
   */
  function probitLimits(systems, axis) {
    const other = axis === "x" ? "y" : "x";
    let low = 0.1;
    let high = 0.05;
    for (const { curves } of systems) {
      curves.det[axis].forEach((/** @type {number} */ rate, /** @type {number} */ k) => {
        if (rate > 0 && rate < 1) {
          low = Math.min(low, rate / 1.5);
          if (curves.det[other][k] > 0) high = Math.max(high, rate);
        }
      });
    }
    return [probit(Math.max(low, 1e-6)), probit(Math.min(high, 0.97)) + 0.1];
  }

  /** @param {number[]} values @param {(value: number) => number} change */
  const mapped = (values, change) => values.map((value) => (value === null ? null : change(value)));

  /**
   * Return the errors at a threshold as text.
   * @param {any} system
   * @param {{threshold: number, nMiss: number, nFa: number, miss?: number[], fa?: number[]}} at
   */
  function errorsInWords(system, { threshold, nMiss, nFa, miss, fa }) {
    const one = (/** @type {number} */ n, /** @type {number} */ of, /** @type {number[] | undefined} */ ends) =>
      `${percent(n / of)} ${ends ? `${interval(ends[0], ends[1], percent)} ` : ""}(${count(n)} of ${count(of)})`;
    return `threshold ${llr(threshold)}: miss rate ${one(nMiss, system.n_tar, miss)}, false-alarm rate ${one(nFa, system.n_non, fa)}`;
  }

  /** @param {any} system @returns {{threshold: number, pMiss: number, pFa: number, text: string}[]} */
  function levelsOf(system) {
    const { x, n_miss: misses, n_fa: falseAlarms, tar_band: tar, non_band: non } = system.curves.levels;
    return x.map((/** @type {number} */ threshold, /** @type {number} */ k) => ({
      threshold,
      pMiss: misses[k] / system.n_tar,
      pFa: falseAlarms[k] / system.n_non,
      text: errorsInWords(system, {
        threshold,
        nMiss: misses[k],
        nFa: falseAlarms[k],
        miss: tar ? [1 - tar[1][k], 1 - tar[0][k]] : undefined,
        fa: non ? [non[0][k], non[1][k]] : undefined,
      }),
    }));
  }

  /** Star with five points. */
  const STAR = Array.from({ length: 10 }, (_, k) => {
    const [angle, radius] = [(Math.PI * k) / 5, k % 2 ? 3 : 7.5];
    return [radius * Math.sin(angle), -radius * Math.cos(angle)];
  });

  /**
   * Return a plot of error rates against each other.
   * @param {(p: number) => number} place
   * @param {(label: string) => Axis} axis
   * @param {Plot["range"]} range
   * @returns {Plot}
   */
  function tradeOff(place, axis, range) {
    return {
      isQuiet: true,
      x: axis("False-alarm rate (%)"),
      y: axis("Miss rate (%)"),
      range,
      lines: ({ curves: { det, hull } }) => {
        const dashed = { x: mapped(hull.x, place), y: mapped(hull.y, place), rates: [hull.x, hull.y], dash: true };
        const band = hull.band?.map((/** @type {number[][]} */ side) => side.map((rates) => mapped(rates, place)));
        return [{ x: mapped(det.x, place), y: mapped(det.y, place), rates: [det.x, det.y] }, band ? { ...dashed, band } : dashed];
      },
      readings: (system) => levelsOf(system).map(({ pMiss, pFa, text }) => ({ x: place(pFa), y: place(pMiss), text })),
      cuts: (systems) => ({ x: systems.map((one) => place(30 / one.n_non)), y: systems.map((one) => place(30 / one.n_tar)) }),
      symbols: ({ eer }) => (eer === null ? [] : [{ x: place(eer), y: place(eer), corners: STAR }]),
      marks: (system, point) => {
        const found = figuresOf(system, point, 1);
        return [[place(found.p_fa ?? NaN), place(found.p_miss ?? NaN)]];
      },
    };
  }

  /** Return limits that show the corner of the best rates. @param {any[]} systems */
  function corner(systems) {
    const rates = systems.map(({ curves: { hull } }) => Math.min(...hull.x.map((/** @type {number} */ x, /** @type {number} */ k) => Math.max(x, hull.y[k]))));
    const top = Math.min(1, Math.max(0.02, 3 * Math.max(...rates)));
    return { x: [-0.01 * top, 1.01 * top], y: [-0.01 * top, 1.01 * top] };
  }

  /** Normal deviates of both error rates. */
  const det = tradeOff(probit, probits, (systems) => ({ x: probitLimits(systems, "x"), y: probitLimits(systems, "y") }));
  const roc = tradeOff((p) => p, (label) => linear(label, 100), corner);

  return { det, errorsInWords, levelsOf, mapped, probitLimits, roc };
})();
