// @ts-check
"use strict";
/**
 * Content of each chart of a page: axes, lines, bands, readable points, and the operating point.
 *
 * @typedef {{label: string, factor?: number, splits: (low: number, high: number) => number[], write: (value: number) => string}} Axis
 * @typedef {{x: (number | null)[], y: (number | null)[], rates?: number[][], dash?: boolean, isStep?: boolean, band?: number[][][]}} Line
 * @typedef {{x: number, y: number, text: string}} Reading
 * @typedef {{x: Axis, y: Axis, top?: Axis, range: (systems: any[]) => {x: number[], y: number[]}, lines: (system: any) => Line[],
 *   readings: (system: any) => Reading[], marks: (system: any, point: any) => number[][], threshold?: boolean,
 *   symbols?: (system: any) => {x: number, y: number, corners: number[][]}[], cells?: (system: any) => any[], rows?: number, isBrushed?: boolean, isQuiet?: boolean, isBare?: boolean, height?: (width: number) => number,
 *   finding?: (systems: any[], point: any) => string, cuts?: (systems: any[]) => {x: number[], y: number[]}, reference?: (low: number, high: number) => number[][]}} Plot
 */
const Plots = (() => {
  const { number, percent, prior } = Numbers;
  const { expit, figuresOf } = OperatingPoints;
  const { linear, top } = Axes;

  /**
   * Return every plot by its name.
   * @param {any} data
   * @returns {Record<string, Plot>}
   */
  function plotsOf(data) {
    Axes.useLog10(!data.nats);
    const factor = data.nats ? 1 : Math.LOG10E;
    const unit = data.nats ? "nats" : "log10";
    const priors = linear(`Prior log odds (${unit})`, factor);
    const scores = linear(data.nats ? "Score" : "Score (log10)", factor);
    const farthest = Math.max(7, ...data.points.slice(0, 8).map((/** @type {any} */ one) => Math.abs(Math.log((one.p / (1 - one.p)) * (one.c_miss / one.c_fa))) + 0.5));
    const half = Math.min(farthest, 25);
    const reach = [-half, half];
    const highest = (/** @type {any[]} */ systems) =>
      1.1 * Math.max(0.02, ...systems.flatMap(({ min_dcf: least, act_dcf: act }) =>
        data.log_odds.map((/** @type {number} */ x, /** @type {number} */ k) => Math.min((least[k] ?? act[k]) * expit(-Math.abs(x)) * 1.6, act[k] * expit(-Math.abs(x))))));
    /** Return the index of the smallest number. @param {(number | null)[]} values */
    const least = (values) => values.reduce((best, one, k) => (one !== null && (values[best] === null || one < /** @type {number} */ (values[best])) ? k : best), 0);
    const findings = {
      det: (/** @type {any[]} */ systems) => {
        const best = systems[least(systems.map((one) => one.eer))];
        return best.eer === null ? "" : `${systems.length > 1 ? `${best.name} has the lowest ${data.eer}: ` : `${data.eer} `}${percent(best.eer)}`;
      },
      bayes_error: (/** @type {any[]} */ systems, /** @type {any} */ point) => {
        const costs = systems.map((one) => figuresOf(one, point, 1).act_dcf);
        const best = least(costs);
        return `At prior ${prior(point.p)}, ${systems.length > 1 ? `${systems[best].name} costs least: ` : "the actual cost is "}${number(costs[best])}`;
      },
      pav: (/** @type {any[]} */ systems, /** @type {any} */ point) => {
        const losses = systems.map((one) => -(figuresOf(one, point, 1).calibration_loss ?? 0));
        const worst = least(losses);
        return `At prior ${prior(point.p)}, ${-losses[worst] > 0.005 ? `bad calibration costs ${systems[worst].name} ${number(-losses[worst])}` : "no cost from bad calibration"}`;
      },
    };
    const { entropyPlot, overPriors } = OverPriors;
    const { histogramPlot, pavPlot, tippettPlot } = ScorePlots;
    return {
      det: { finding: findings.det, ...TradeOff.det },
      roc: TradeOff.roc,
      bayes_error: { top, finding: findings.bayes_error, ...overPriors(data, "Normalized Bayes error rate", (error) => error, () => ({ x: reach, y: [0, 1.4] }), priors) },
      ape: { top, ...overPriors(data, "Bayes error rate (%)", (error, x) => error * expit(-Math.abs(x)), (systems) => ({ x: reach, y: [0, highest(systems)] }), priors) },
      ece: { top, ...entropyPlot(priors, reach) },
      histogram: { isBare: true, ...histogramPlot(scores) },
      tippett: tippettPlot(scores),
      reliability: { isBare: true, ...Posteriors.reliabilityPlot(linear, Posteriors.ofTargets(data.sets[0].systems[0].curves.posteriors.prior)) },
      pav: { isBare: true, finding: findings.pav, ...pavPlot(scores, linear(`Log-likelihood ratio after PAV (${unit})`, factor)) },
    };
  }

  return { plotsOf };
})();
