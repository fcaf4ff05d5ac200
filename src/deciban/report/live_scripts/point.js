// @ts-check
"use strict";
/**
 * The operating point: what its prior and costs make of the numbers that stand in the page.
 *
 * A point is moved to the nearest effective prior of the grid, at which errors were counted; the costs stay as they are, and the
 * prior gives way. All figures are those of that point.
 *
 * @typedef {{p: number, cMiss: number, cFa: number}} Choice
 * @typedef {{name: string, color: string, n_tar: number, n_non: number, n_miss: number[], n_fa: number[], act_dcf: number[],
 *   min_dcf: (number | null)[], interval: Record<string, number[][]>, curves: any}} SystemData
 * @typedef {{log_odds: number[], priors: number[], points: {p: number, c_miss: number, c_fa: number, of: string}[],
 *   command: string, level: number | null, nats: boolean, sets: {name: string, systems: SystemData[]}[]}} PageData
 * @typedef {{place: number, logOdds: number, threshold: number, p: number, cMiss: number, cFa: number, effective: number,
 *   defaultCost: number, isMoved: boolean}} Point
 */
const OperatingPoints = (() => {
  /** @param {number} x */
  const expit = (x) => (x < 0 ? Math.exp(x) / (1 + Math.exp(x)) : 1 / (1 + Math.exp(-x)));
  /** @param {number} p */
  const logit = (p) => Math.log(p) - Math.log1p(-p);

  /**
   * Position of the number that is nearest; numbers ascend.
   * @param {number[]} values
   * @param {number} wanted
   */
  function nearest(values, wanted) {
    let low = 0;
    let high = values.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (values[middle] <= wanted) low = middle;
      else high = middle;
    }
    return Math.abs(values[low] - wanted) <= Math.abs(values[high] - wanted) ? low : high;
  }

  /**
   * The point of the grid that is nearest to what was chosen.
   * @param {PageData} data
   * @param {Choice} choice
   * @returns {Point}
   */
  function pointOf(data, { p, cMiss, cFa }) {
    const ratio = Math.log(cMiss) - Math.log(cFa);
    const place = nearest(data.log_odds, logit(p) + ratio);
    const logOdds = data.log_odds[place];
    const isMoved = Math.abs(logit(p) + ratio - logOdds) > 1e-9;
    const shown = isMoved ? (ratio === 0 ? data.priors[place] : expit(logOdds - ratio)) : p;
    const lacks = isMoved ? expit(ratio - logOdds) : 1 - p;
    const defaultCost = Math.min(shown * cMiss, lacks * cFa);
    return {
      place, logOdds, threshold: logOdds ? -logOdds : 0, p: shown, cMiss, cFa, effective: data.priors[place], defaultCost, isMoved,
    };
  }

  /**
   * The figures of a system at a point, of so many trials.
   * @param {SystemData} system
   * @param {Point} point
   * @param {number} nTrials
   * @returns {Record<string, number | null>}
   */
  function figuresOf(system, point, nTrials) {
    const k = point.place;
    const nMiss = system.n_miss[k];
    const nFa = system.n_fa[k];
    const pMiss = nMiss / system.n_tar;
    const pFa = nFa / system.n_non;
    const least = system.min_dcf[k];
    const accepted = point.p * (1 - pMiss);
    const wrong = (1 - point.p) * pFa;
    return {
      p_miss: pMiss,
      n_miss: nMiss,
      p_fa: pFa,
      n_fa: nFa,
      act_dcf: system.act_dcf[k],
      min_dcf: least,
      calibration_loss: least === null ? null : Math.max(system.act_dcf[k] - least, 0),
      expected_misses: nTrials * point.p * pMiss,
      expected_false_alarms: nTrials * wrong,
      targets_among_accepted: accepted + wrong > 0 ? accepted / (accepted + wrong) : null,
    };
  }

  /**
   * The choice in a link, or null where it says none.
   * @param {string} hash
   * @returns {Choice | null}
   */
  function fromLink(hash) {
    const given = new URLSearchParams(hash.replace(/^#/, ""));
    const p = Number(given.get("p"));
    const cMiss = Number(given.get("cmiss") ?? 1);
    const cFa = Number(given.get("cfa") ?? 1);
    return isChoice({ p, cMiss, cFa }) ? { p, cMiss, cFa } : null;
  }

  /**
   * A link to a choice; what else is chosen by name stands behind it.
   * @param {Choice} choice
   * @param {Record<string, string | null>} [others]
   */
  function toLink({ p, cMiss, cFa }, others = {}) {
    return Links.written({ p, cmiss: cMiss === 1 ? null : cMiss, cfa: cFa === 1 ? null : cFa, ...others });
  }

  /** Of costs that differ more, no prior that a page can write gives a place of the grid. */
  const FARTHEST = 25;

  /**
   * Whether these are a prior and two costs.
   * @param {Choice} choice
   */
  function isChoice({ p, cMiss, cFa }) {
    const areCosts = [cMiss, cFa].every((cost) => cost > 0 && Number.isFinite(cost));
    return p > 0 && p < 1 && areCosts && Math.abs(Math.log(cMiss) - Math.log(cFa)) < FARTHEST;
  }

  /**
   * The call that evaluates at just what was chosen.
   * @param {PageData} data
   * @param {Choice} choice
   */
  function asCommand(data, { p, cMiss, cFa }) {
    const costs = cMiss === 1 && cFa === 1 ? "" : `:${cMiss}:${cFa}`;
    return `${data.command} --dcf ${p}${costs}`;
  }

  return { asCommand, expit, figuresOf, fromLink, isChoice, logit, nearest, pointOf, toLink };
})();
