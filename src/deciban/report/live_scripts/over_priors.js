// @ts-check
"use strict";
/** Costs and cross-entropy over the prior. */
const OverPriors = (() => {
  const { interval, number, prior } = Numbers;
  const { expit, figuresOf, nearest } = OperatingPoints;
  const { along, linear } = Axes;
  const { errorsInWords } = TradeOff;

  /**
   * Return a plot over prior log odds with numbers on the grid.
   * @param {any} data
   * @param {string} label
   * @param {(error: number, logOdds: number) => number} scaled
   * @param {Plot["range"]} range
   * @param {Axis} axis
   * @returns {Plot}
   */
  function overPriors(data, label, scaled, range, axis) {
    const xs = data.log_odds;
    const own = (/** @type {(number | null)[]} */ values) => values.map((value, k) => (value === null ? null : scaled(value, xs[k])));
    const bandOf = (/** @type {number[][] | undefined} */ ends) => (ends ? { band: ends.map((end) => [xs, own(end)]) } : {});
    const line = (/** @type {any} */ values, /** @type {any} */ ends) => ({ x: xs, y: own(values), ...bandOf(ends) });
    return {
      isQuiet: true,
      x: axis,
      y: linear(label, label.endsWith("(%)") ? 100 : 1),
      range,
      lines: ({ act_dcf: act, min_dcf: least, curves }) => [line(act, curves.act_error), { ...line(least, curves.min_error), dash: true }],
      readings: (system) =>
        xs.map((/** @type {number} */ x, /** @type {number} */ k) => ({
          x,
          y: scaled(system.act_dcf[k], x),
          text: `prior ${prior(data.priors[k])}: actual cost ${number(system.act_dcf[k])}, minimum ${number(system.min_dcf[k])}; ${errorsInWords(
            system,
            {
              threshold: -x,
              nMiss: system.n_miss[k],
              nFa: system.n_fa[k],
              miss: system.interval.p_miss?.map((/** @type {number[]} */ end) => end[k]),
              fa: system.interval.p_fa?.map((/** @type {number[]} */ end) => end[k]),
            },
          )}`,
        })),
      marks: (system, point) => {
        const found = figuresOf(system, point, 1);
        return [found.act_dcf, found.min_dcf].flatMap((one) => (one === null ? [] : [[point.logOdds, scaled(one, point.logOdds)]]));
      },
      symbols: (system) =>
        [-1, 1].flatMap((side, which) => {
          const at = system.dr30[which];
          if (scaled(1, 1) !== 1 || at === null || Math.abs(at) > data.log_odds[data.log_odds.length - 1]) return [];
          const k = nearest(xs, at);
          return [{ x: xs[k], y: system.min_dcf[k], corners: [[7 * side, 0], [-5 * side, -6], [-5 * side, 6]] }];
        }),
      reference: (low, high) => along(low, high, (x) => scaled(1, x)),
    };
  }

  /** @param {any} system @param {number} logOdds @returns {number[][]} */
  function onEntropy({ curves: { entropy } }, logOdds) {
    const last = entropy.x.length - 1;
    if (logOdds < entropy.x[0] || logOdds > entropy.x[last]) return [];
    const k = Math.min(Math.max(nearest(entropy.x, logOdds), 1), last);
    const at = entropy.x[k] >= logOdds ? k - 1 : Math.min(k, last - 1);
    const share = (logOdds - entropy.x[at]) / (entropy.x[at + 1] - entropy.x[at]);
    return [entropy.act_cross_entropy, entropy.min_cross_entropy]
      .filter((curve) => curve[at] !== null && curve[at + 1] !== null)
      .map((curve) => [logOdds, curve[at] + share * (curve[at + 1] - curve[at])]);
  }

  /** @param {number} x */
  function entropyOf(x) {
    const p = expit(-Math.abs(x));
    return p > 0 ? -(p * Math.log2(p) + (1 - p) * Math.log2(1 - p)) : 0;
  }

  /** @param {Axis} axis @param {number[]} reach @returns {Plot} */
  function entropyPlot(axis, reach) {
    const names = ["act_cross_entropy", "min_cross_entropy"];
    return {
      isQuiet: true,
      x: axis,
      y: linear("Empirical cross-entropy (bits)"),
      range: (systems) => {
        const highest = Math.max(1, ...systems.flatMap(({ curves }) => curves.entropy.act_cross_entropy.filter((/** @type {any} */ one) => one !== null)));
        return { x: reach, y: [0, Math.min(1.05 * highest, 1.5)] };
      },
      lines: ({ curves: { entropy } }) =>
        names.map((name, k) => {
          const ends = entropy[`${name}_band`];
          const line = { x: entropy.x, y: entropy[name], dash: k === 1 };
          return ends ? { ...line, band: ends.map((/** @type {number[]} */ end) => [entropy.x, end]) } : line;
        }),
      readings: ({ curves: { entropy } }) =>
        entropy.x.map((/** @type {number} */ x, /** @type {number} */ k) => {
          const [act, least] = names.map((name) => {
            const ends = entropy[`${name}_band`];
            return `${number(entropy[name][k])} bits${ends ? ` ${interval(ends[0][k], ends[1][k], number)}` : ""}`;
          });
          return { x, y: entropy.act_cross_entropy[k], text: `prior ${prior(expit(x))}: actual ${act}, after PAV ${least}` };
        }),
      marks: (system, { logOdds }) => onEntropy(system, logOdds),
      reference: (low, high) => along(low, high, entropyOf),
    };
  }

  return { entropyPlot, overPriors };
})();
