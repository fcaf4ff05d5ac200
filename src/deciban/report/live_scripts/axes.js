// @ts-check
"use strict";
/** Axes of charts: ticks, units, and normal deviates. */
const Axes = (() => {
  const { general, number } = Numbers;
  const { expit } = OperatingPoints;
  const EDGE = 1e-7;

  /**
   * Return the normal quantile of p (P. J. Acklam's rational approximation, to nine digits).
   * @param {number} p
   * @returns {number}
   */
  function probit(p) {
    const a = [-39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716, 2.506628277459239];
    const b = [-54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572, 1];
    const c = [-0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734, 4.374664141464968, 2.938163982698783];
    const d = [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416, 1];
    const at = (/** @type {number[]} */ of, /** @type {number} */ x) => of.reduce((sum, one) => sum * x + one, 0);
    const inside = Math.min(Math.max(p, EDGE), 1 - EDGE);
    if (inside > 0.5) return -probit(1 - inside);
    if (inside < 0.02425) {
      const tail = Math.sqrt(-2 * Math.log(inside));
      return at(c, tail) / at(d, tail);
    }
    const q = inside - 0.5;
    return (q * at(a, q * q)) / at(b, q * q);
  }

  /** Priors on the upper axis of charts over prior log odds. */
  const SHARES = [1e-6, 1e-4, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999];
  const RATES = [1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999];
  const MORE_RATES = [2e-6, 5e-6, 2e-5, 5e-5, 2e-4, 5e-4, 0.002, 0.005, 0.03, 0.07, 0.15, 0.3, 0.5, 0.7];
  const PROBITS = new Map([...RATES, ...MORE_RATES].map((rate) => [probit(rate), rate]));

  /**
   * Return about seven round ticks of an axis.
   * @param {number} low
   * @param {number} high
   */
  function rounds(low, high) {
    const raw = (high - low) / 7 || 1;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((k) => k * power).find((one) => one >= raw) ?? raw;
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) found.push(Number((k * step).toPrecision(12)));
    return found;
  }

  /** @param {string} label @returns {Axis} */
  function probits(label) {
    const wanted = RATES.map(probit);
    return {
      label,
      splits: (low, high) => {
        const few = wanted.filter((x) => x >= low && x <= high);
        return few.length > 3 ? few : [...PROBITS.keys()].filter((x) => x >= low && x <= high).sort((one, other) => one - other);
      },
      write: (x) => {
        const rate = PROBITS.get(x);
        return rate === undefined ? "" : general(100 * rate, 3);
      },
    };
  }

  /** True if scores and likelihood ratios are shown as common logarithms; internally they are natural logarithms. */
  let isLog10 = false;

  /** Show scores as common logarithms. @param {boolean} is */
  const useLog10 = (is) => {
    isLog10 = is;
  };

  /** Write a score in the unit of the page. @param {number | null} x */
  const inUnit = (x) => number(x === null || !isLog10 ? x : x * Math.LOG10E);

  /** Write a log-likelihood ratio with its unit. @param {number | null} x */
  const llr = (x) => `${inUnit(x)} ${isLog10 ? "in log10" : "nats"}`;

  /** @param {string} label @param {number} [factor] @returns {Axis} */
  function linear(label, factor = 1) {
    return {
      label,
      factor,
      splits: (low, high) => rounds(low * factor, high * factor).map((x) => x / factor),
      write: (x) => Numbers.typeset(general(Number((x * factor).toPrecision(10)), 6)),
    };
  }

  /** Probabilities of prior log odds, which are nats whatever the unit of the axis. @type {Axis} */
  const top = {
    label: "Prior",
    splits: (low, high) => SHARES.map((p) => Math.log(p / (1 - p))).filter((one) => one >= low && one <= high - 0.02 * (high - low)),
    write: (value) => general(expit(value), 3),
  };

  /** The unit of scores. @returns {{isLog10: boolean, words: string}} */
  const unit = () => ({ isLog10, words: isLog10 ? " in log10" : "" });

  /** Places of a reference line. @param {number} low @param {number} high @param {(x: number) => number} of */
  const along = (low, high, of) => Array.from({ length: 101 }, (_, k) => low + ((high - low) * k) / 100).map((x) => [x, of(x)]);

  return { along, inUnit, linear, llr, probit, probits, top, unit, useLog10 };
})();
