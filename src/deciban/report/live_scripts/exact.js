// @ts-check
"use strict";
/**
 * Errors at any prior: counted at the Bayes threshold, and at the vertices of the convex hull.
 *
 * @typedef {{n_miss: number, n_fa: number, misses: number[], false_alarms: number[], places?: number[], first?: number, width?: number}} Steps
 * @typedef {{steps: Steps, reach: number, hull: {misses: number[], false_alarms: number[]} | null}} ExactData
 * @typedef {{nMiss: number, nFa: number, between: {n_miss: number[], n_fa: number[]} | null}} Errors
 */
const Exact = (() => {
  /** Resolution of scores in nats: a score that equals the threshold at this resolution is accepted. */
  const UNIT = 2 ** -26;

  /** Return counts from their steps. @param {number[]} steps @param {number} [start] */
  function summed(steps, start = 0) {
    let sum = start;
    return steps.map((step) => (sum += step));
  }

  /** @template T @param {(data: any) => T} make @returns {(data: any) => T} */
  function once(make) {
    /** @type {WeakMap<any, any>} */
    const known = new WeakMap();
    return (data) => {
      if (!known.has(data)) known.set(data, make(data));
      return known.get(data);
    };
  }

  /** Return scores, if known, and errors at a threshold just above each of them, or at the thresholds of a grid. */
  const stepsOf = once((steps) => ({
    places: summed(steps.places ?? []),
    misses: [steps.n_miss, ...summed(steps.misses, steps.n_miss)],
    falseAlarms: [steps.n_fa, ...summed(steps.false_alarms, steps.n_fa)],
  }));
  const verticesOf = once((hull) => ({ misses: summed(hull.misses), falseAlarms: summed(hull.false_alarms) }));

  /** Return how many ascending numbers are below another one. @param {number[]} values @param {number} wanted */
  function below(values, wanted) {
    let [low, high] = [0, values.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Return errors between two thresholds of a grid: linear interpolation, with bounds. @param {any} steps @param {number} threshold @returns {Errors} */
  function onGrid(steps, threshold) {
    const { misses, falseAlarms } = stepsOf(steps);
    const at = Math.min(Math.max((threshold - steps.first) / steps.width, 0), misses.length - 1);
    const low = Math.floor(at);
    const high = Math.ceil(at);
    const share = at - low;
    /** @param {number[]} counts */
    const straight = (counts) => {
      const found = counts[low] + share * (counts[high] - counts[low]);
      return Number.isInteger(counts[low]) && Number.isInteger(counts[high]) ? Math.round(found) : found;
    };
    const bounds = { n_miss: [misses[low], misses[high]], n_fa: [falseAlarms[high], falseAlarms[low]] };
    const isKnown = bounds.n_miss[0] === bounds.n_miss[1] && bounds.n_fa[0] === bounds.n_fa[1];
    return { nMiss: straight(misses), nFa: straight(falseAlarms), between: isKnown ? null : bounds };
  }

  /** Return the errors at a threshold. @param {ExactData} exact @param {number} threshold @returns {Errors} */
  function errorsAt({ steps }, threshold) {
    if (steps.places === undefined) return onGrid(steps, threshold);
    const { places, misses, falseAlarms } = stepsOf(steps);
    const k = below(places, Math.floor(threshold / UNIT));
    return { nMiss: misses[k], nFa: falseAlarms[k], between: null };
  }

  /**
   * Return the normalized cost of error rates, as in deciban.core.ranks.roc.detection_cost: the rarer class has weight 1.
   * @param {number} pMiss
   * @param {number} pFa
   * @param {number} logOdds
   * @param {number} [heavy] the weight of the other class
   */
  const cost = (pMiss, pFa, logOdds, heavy = Math.exp(Math.abs(logOdds))) => (logOdds <= 0 ? pMiss + heavy * pFa : pFa + heavy * pMiss);

  /**
   * Return the minimum normalized cost at any threshold; null if unknown.
   * @param {any} system
   * @param {number} logOdds
   * @returns {number | null}
   */
  function leastAt({ exact: { hull }, n_tar: nTar, n_non: nNon }, logOdds) {
    if (!hull) return null;
    const { misses, falseAlarms } = verticesOf(hull);
    return misses.reduce((least, nMiss, k) => Math.min(least, cost(nMiss / nTar, falseAlarms[k] / nNon, logOdds)), Infinity);
  }

  return { cost, errorsAt, leastAt };
})();
