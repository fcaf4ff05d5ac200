// @ts-check
"use strict";
/**
 * The operating point: metrics from its prior and costs, and from the numbers of the page.
 *
 * Metrics are at the chosen point. If a system has errors at the priors of a grid only, or the point is out of reach, the prior is moved
 * to the nearest one of the grid; the costs do not change.
 *
 * @typedef {{p: number, cMiss: number, cFa: number}} Choice
 * @typedef {{name: string, color: string, n_tar: number, n_non: number, n_miss: number[], n_fa: number[], act_dcf: number[],
 *   min_dcf: (number | null)[], interval: Record<string, number[][]>, curves: any, exact?: ExactData | null}} SystemData
 * @typedef {{log_odds: number[], priors: number[], points: {p: number, c_miss: number, c_fa: number, of: string}[],
 *   command: string, level: number | null, nats: boolean, sets: {name: string, systems: SystemData[]}[]}} PageData
 * @typedef {{place: number, logOdds: number, threshold: number, p: number, cMiss: number, cFa: number, effective: number,
 *   defaultCost: number, isMoved: boolean, isOnGrid: boolean}} Point
 */
const OperatingPoints = (() => {
  /** @param {number} x */
  const expit = (x) => (x < 0 ? Math.exp(x) / (1 + Math.exp(x)) : 1 / (1 + Math.exp(-x)));
  /** @param {number} p */
  const logit = (p) => Math.log(p) - Math.log1p(-p);

  /**
   * Return the index of the nearest of ascending numbers.
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
   * Return the chosen point or, if these systems have no numbers at it, the nearest one that they have.
   * @param {PageData} data
   * @param {Choice} choice
   * @param {SystemData[]} systems
   * @returns {Point}
   */
  function pointOf(data, { p, cMiss, cFa }, systems) {
    const ratio = Math.log(cMiss) - Math.log(cFa);
    const wanted = logit(p) + ratio;
    const place = nearest(data.log_odds, wanted);
    const onGrid = data.log_odds[place];
    const isOnGrid = Math.abs(wanted - onGrid) <= 1e-9;
    const reach = Math.min(...systems.map(({ exact }) => exact?.reach ?? 0));
    const end = Math.sign(wanted) * reach;
    const isEnd = reach > 0 && Math.abs(wanted - end) < Math.abs(wanted - onGrid);
    const isWithin = Math.abs(wanted) <= reach;
    const logOdds = isOnGrid ? onGrid : isWithin ? wanted : isEnd ? end : onGrid;
    const isAtPlace = logOdds === onGrid;
    const isMoved = !isOnGrid && !isWithin;
    const shown = isMoved ? (ratio === 0 && isAtPlace ? data.priors[place] : expit(logOdds - ratio)) : p;
    const lacks = isMoved ? expit(ratio - logOdds) : 1 - p;
    return {
      place,
      logOdds,
      threshold: logOdds ? -logOdds : 0,
      p: shown,
      cMiss,
      cFa,
      effective: isAtPlace ? data.priors[place] : expit(logOdds),
      defaultCost: Math.min(shown * cMiss, lacks * cFa),
      isMoved,
      isOnGrid: isAtPlace,
    };
  }

  /**
   * Return errors and normalized costs of a system at a point; `between` contains bounds of errors that are not known exactly.
   * @param {SystemData} system
   * @param {{place: number, logOdds: number, isOnGrid: boolean}} point
   */
  function decided(system, { place, logOdds, isOnGrid }) {
    if (isOnGrid || !system.exact) {
      return { nMiss: system.n_miss[place], nFa: system.n_fa[place], act: system.act_dcf[place], least: system.min_dcf[place], between: null };
    }
    const found = Exact.errorsAt(system.exact, logOdds ? -logOdds : 0);
    return { ...found, act: costOf(system, found.nMiss, found.nFa, logOdds), least: Exact.leastAt(system, logOdds) };
  }

  /** @param {SystemData} system @param {number} nMiss @param {number} nFa @param {number} logOdds */
  const costOf = (system, nMiss, nFa, logOdds) => Exact.cost(nMiss / system.n_tar, nFa / system.n_non, logOdds);

  /**
   * Return the metrics of a system at a point, for a number of trials.
   * @param {SystemData} system
   * @param {Point} point
   * @param {number} nTrials
   * @returns {Record<string, number | null>}
   */
  function figuresOf(system, point, nTrials) {
    const { nMiss, nFa, act, least } = decided(system, point);
    const pMiss = nMiss / system.n_tar;
    const pFa = nFa / system.n_non;
    const accepted = point.p * (1 - pMiss);
    const wrong = (1 - point.p) * pFa;
    return {
      p_miss: pMiss,
      n_miss: nMiss,
      p_fa: pFa,
      n_fa: nFa,
      act_dcf: act,
      min_dcf: least,
      calibration_loss: least === null ? null : Math.max(act - least, 0),
      expected_misses: nTrials * point.p * pMiss,
      expected_false_alarms: nTrials * wrong,
      targets_among_accepted: accepted + wrong > 0 ? accepted / (accepted + wrong) : null,
    };
  }

  /**
   * Return the lowest and highest value of metrics that are not known exactly.
   * @param {SystemData} system
   * @param {Point} point
   * @returns {Record<string, number[]>}
   */
  function boundsOf(system, point) {
    if (point.isOnGrid || !system.exact) return {};
    const { between } = decided(system, point);
    return between ? { ...between, act_dcf: [0, 1].map((k) => costOf(system, between.n_miss[k], between.n_fa[k], point.logOdds)) } : {};
  }

  /**
   * Return the choice in a link, or null if there is none.
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
   * Return a link to a choice, with other choices after it.
   * @param {Choice} choice
   * @param {Record<string, string | null>} [others]
   */
  function toLink({ p, cMiss, cFa }, others = {}) {
    return Links.written({ p, cmiss: cMiss === 1 ? null : cMiss, cfa: cFa === 1 ? null : cFa, ...others });
  }

  /** Largest ratio of costs for which a prior with few digits exists at a place of the grid. */
  const FARTHEST = 25;

  /**
   * Return true if the choice is a valid prior with two costs.
   * @param {Choice} choice
   */
  function isChoice({ p, cMiss, cFa }) {
    const areCosts = [cMiss, cFa].every((cost) => cost > 0 && Number.isFinite(cost));
    return p > 0 && p < 1 && areCosts && Math.abs(Math.log(cMiss) - Math.log(cFa)) < FARTHEST;
  }

  /**
   * Return the command that evaluates at exactly this choice.
   * @param {PageData} data
   * @param {Choice} choice
   */
  function asCommand(data, { p, cMiss, cFa }) {
    const costs = cMiss === 1 && cFa === 1 ? "" : `:${cMiss}:${cFa}`;
    return `${data.command} --dcf ${p}${costs}`;
  }

  return { asCommand, boundsOf, expit, figuresOf, fromLink, isChoice, logit, nearest, pointOf, toLink };
})();
