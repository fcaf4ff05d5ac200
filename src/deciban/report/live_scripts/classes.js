// @ts-check
"use strict";
/**
 * Multiclass decisions at a chosen prior: counts, error rates and costs of a system.
 *
 * @typedef {{target: number, p: number | null}} ClassChoice The prior of a class; null for the prior of the evaluation
 */
const Classes = (() => {
  const { number, percent } = Numbers;
  const { logit } = OperatingPoints;

  /** @param {number[]} priors @param {number} p */
  const nearest = (priors, p) => OperatingPoints.nearest(priors.map(logit), logit(p));

  /** Return the index of a choice in the priors of a system; null for the prior of the evaluation. @param {any} system @param {ClassChoice} choice */
  const placeOf = (system, { p }) => (p === null || !system.decided ? null : nearest(system.priors, p));

  /** Return decisions at a prior: rows are classes. @param {any} system @param {ClassChoice} choice @returns {number[][]} */
  function confusion(system, choice) {
    const chosen = placeOf(system, choice);
    if (chosen === null) return system.confusion;
    const [numbers, k, n] = [system.decided[choice.target], choice.target, system.counts.length];
    /** @type {number[][]} */
    const found = system.counts.map(() => new Array(n).fill(0));
    for (let at = 0, i = 0; at <= system.priors.length; at += 1)
      for (let c = 0; c < n; c += 1)
        for (let j = 0; j < n - 1; j += 1, i += 1) found[c][at <= chosen ? k : j < k ? j : j + 1] += numbers[i];
    return found;
  }

  /** Return the prior of every class. @param {any} system @param {ClassChoice} choice @returns {number[]} */
  function priorOf(system, choice) {
    const [own, chosen] = [system.prior, placeOf(system, choice)];
    if (chosen === null) return own;
    const p = system.priors[chosen];
    return own.map((/** @type {number} */ share, /** @type {number} */ k) => (k === choice.target ? p : (share * (1 - p)) / (1 - own[choice.target])));
  }

  /**
   * Return metrics at a prior; in C_avg, every class in turn is the target, with its prior.
   * @param {any} system
   * @param {ClassChoice} choice
   * @returns {{error_rate: number, brier: number | null, c_avg: number | null, p_target: number}}
   */
  function figuresOf(system, choice) {
    const { brier, c_avg } = system;
    const [atEvaluation, chosen] = [{ c_avg: c_avg[1], p_target: c_avg[0] }, placeOf(system, choice)];
    if (chosen === null) return { error_rate: system.error_rate, brier: brier[0], ...atEvaluation };
    const cost = c_avg[2] ? { c_avg: c_avg[2][chosen], p_target: system.priors[chosen] } : atEvaluation;
    const found = confusion(system, choice);
    const rate = priorOf(system, choice).reduce((sum, share, c) => sum + share * (1 - found[c][c] / system.counts[c]), 0);
    return { error_rate: rate, brier: brier[1] ? brier[1][choice.target][chosen] : brier[0], ...cost };
  }

  /** Add names, colours and priors to the systems of every condition. @param {any} data */
  function complete({ sets: [{ systems: all }], conditions, priors, n_before: nBefore }) {
    const blank = (/** @type {any} */ subsets) => ({ ...subsets, ...Object.fromEntries(["mean", "low", "high"].map((name) => [name, subsets.size.map(() => null)])) });
    for (const one of all) one.priors = priors;
    for (const { systems } of conditions?.sets ?? []) {
      systems.forEach((/** @type {any} */ one, /** @type {number} */ k) => {
        const { name, color, charts } = all[nBefore + k];
        Object.assign(one, { name, color, priors: conditions.kept.map((/** @type {number} */ at) => priors[at]) });
        // Subsets of a condition are not evaluated: they have no values.
        if (one.charts && !one.charts.subsets && charts.subsets) one.charts.subsets = blank(charts.subsets);
      });
    }
  }

  /** @param {number | null} value */
  const cost = (value) => number(value, 4);

  /** The map of conditions. @type {ConditionKind} */
  const KIND = {
    everything: "all segments",
    figures: {
      cllr: { words: "Cllr (bits)", write: number },
      min_cllr: { words: "min Cllr (bits)", write: number },
      calibration_loss: { words: "calibration loss (bits)", write: number },
      error_rate: { words: "error rate", write: percent },
      c_avg: { words: "C_avg", write: cost },
      brier: { words: "Brier", write: number },
      error_rate_here: { words: "error rate at the chosen prior", write: percent, valueAt: (system, choice) => figuresOf(system, choice).error_rate },
      c_avg_here: { words: "C_avg at the chosen prior", write: cost, valueAt: (system, choice) => figuresOf(system, choice).c_avg },
    },
  };

  /** Two systems at a prior. @type {ComparedFigures} */
  const COMPARED = {
    everything: "all segments",
    figures: {
      error_rate: { words: "error rate", write: percent, factor: 100, digits: 2 },
      brier: { words: "Brier", write: number, factor: 1, digits: 3 },
      c_avg: { words: "C_avg", write: cost, factor: 1, digits: 4 },
    },
    valuesOf: figuresOf,
  };

  return { COMPARED, KIND, complete, confusion, figuresOf, nearest, placeOf, priorOf };
})();
