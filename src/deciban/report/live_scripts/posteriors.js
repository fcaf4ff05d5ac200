// @ts-check
"use strict";
/** The reliability diagram: how often what has a posterior probability happens, and the posteriors below. */
const Posteriors = (() => {
  const { interval, percent } = Numbers;
  const { expit, logit } = OperatingPoints;
  const [FLOOR, HIGHEST] = [-0.3, 0.24];

  /** @typedef {{low: number, high: number, share: number}} Block */

  /**
   * Blocks of PAV as posteriors; of the first and the last one, llrs may be infinite, which data leave out.
   * @param {any} system
   * @returns {Block[]}
   */
  function blocksOf({ curves: { pav, posteriors } }) {
    const odds = logit(posteriors.prior);
    const last = pav.llr.length - 1;
    const at = (/** @type {number | null} */ x, /** @type {number} */ end) => (x === null ? end : expit(x + odds));
    return pav.llr.map((/** @type {number | null} */ llr, /** @type {number} */ k) => ({
      low: at(pav.low[k], 0),
      high: at(pav.high[k], 1),
      share: at(llr, k === 0 && last > 0 ? 0 : 1),
    }));
  }

  /** One of two outlines of the histogram in the strip below. @param {number[]} shares @param {number} most */
  function outline(shares, most) {
    const base = FLOOR + 0.02;
    const edges = shares.map((_, k) => k / shares.length);
    return { x: [0, ...edges, 1], y: [base, ...shares.map((share) => base + (HIGHEST * share) / most), base], isStep: true };
  }

  /** @param {any} axis @param {number} prior At which posteriors are. @returns {any} */
  function reliabilityPlot(axis, prior) {
    const upright = axis("Share of targets (after PAV)");
    return {
      x: axis(`Posterior probability of a target, at prior ${prior}`),
      y: { ...upright, splits: (/** @type {number} */ low, /** @type {number} */ high) => upright.splits(Math.max(low, 0), high) },
      range: () => ({ x: [-0.01, 1.01], y: [FLOOR, 1.02] }),
      lines: (/** @type {any} */ system) => {
        const { happened, failed, band } = system.curves.posteriors;
        const [blocks, most] = [blocksOf(system), Math.max(...happened, ...failed)];
        const curve = { x: blocks.flatMap(({ low, high }) => [low, high]), y: blocks.flatMap(({ share }) => [share, share]) };
        return [
          band ? { ...curve, band: [[band.x, band.low], [band.x, band.high]] } : curve,
          outline(happened, most),
          { ...outline(failed, most), dash: true },
        ];
      },
      readings: (/** @type {any} */ system) => {
        const { band } = system.curves.posteriors;
        return blocksOf(system).map(({ low, high, share }) => {
          const middle = (low + high) / 2;
          const ends = band ? boundsAt(band, middle) : null;
          const chance = ends ? `; ${interval(ends[0], ends[1], percent)} if calibrated, by ${band.noun}` : "";
          return { x: middle, y: share, text: `posteriors from ${percent(low)} to ${percent(high)} at prior ${prior}: ${percent(share)} are targets${chance}` };
        });
      },
      marks: () => [],
      reference: () => [
        [0, 0],
        [1, 1],
      ],
    };
  }

  /** Between places of the band on a straight line. @param {{x: number[], low: number[], high: number[]}} band @param {number} x */
  function boundsAt({ x: xs, low, high }, x) {
    const above = xs.findIndex((one) => one >= x);
    if (above < 0 || x < xs[0]) return null;
    const before = Math.max(above - 1, 0);
    const share = above === before ? 0 : (x - xs[before]) / (xs[above] - xs[before]);
    return [low, high].map((end) => end[before] + share * (end[above] - end[before]));
  }

  return { reliabilityPlot };
})();
