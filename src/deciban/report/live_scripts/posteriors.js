// @ts-check
"use strict";
/** The reliability diagram: observed frequency over posterior probability, with a histogram of the posteriors below. */
const Posteriors = (() => {
  const { interval, percent } = Numbers;
  const { expit, logit } = OperatingPoints;
  const [FLOOR, HIGHEST] = [-0.3, 0.24];

  /** @typedef {{low: number, high: number, share: number}} Block */

  /**
   * Return PAV blocks as posteriors; infinite llrs of the first and the last block are missing in the data.
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

  /** Return one of two outlines of the histogram in the strip below. @param {number[]} shares @param {number} most */
  function outline(shares, most) {
    const base = FLOOR + 0.02;
    const edges = shares.map((_, k) => k / shares.length);
    return { x: [0, ...edges, 1], y: [base, ...shares.map((share) => base + (HIGHEST * share) / most), base], isStep: true };
  }

  /**
   * @typedef {{x: string, y: string, noun: string, of: (system: any) => {blocks: Block[], happened: number[], failed: number[], band?: any}}} Shown
   */

  /** Posteriors of targets. @param {number} prior @returns {Shown} */
  const ofTargets = (prior) => ({
    x: `Posterior probability of a target, at prior ${prior}`,
    y: "Share of targets (after PAV)",
    noun: `at prior ${prior}: % are targets`,
    of: (system) => ({ ...system.curves.posteriors, blocks: blocksOf(system) }),
  });

  /** Posteriors of the recognized class. @type {Shown} */
  const ofClasses = {
    x: "Posterior probability of the recognized class",
    y: "Share recognized rightly",
    noun: "of the recognized class: % are right",
    of: ({ charts: { reliability: one } }) => ({ ...one, blocks: one.share.map((/** @type {number} */ share, /** @type {number} */ k) => ({ low: one.low[k], high: one.high[k], share })) }),
  };

  /** @param {any} axis @param {Shown} how @returns {any} */
  function reliabilityPlot(axis, how) {
    const upright = axis(how.y);
    return {
      x: axis(how.x),
      y: { ...upright, splits: (/** @type {number} */ low, /** @type {number} */ high) => upright.splits(Math.max(low, 0), high) },
      range: () => ({ x: [-0.01, 1.01], y: [FLOOR, 1.02] }),
      lines: (/** @type {any} */ system) => {
        const { blocks, happened, failed, band } = how.of(system);
        const most = Math.max(...happened, ...failed);
        const curve = { x: blocks.flatMap(({ low, high }) => [low, high]), y: blocks.flatMap(({ share }) => [share, share]) };
        return [
          band ? { ...curve, band: [[band.x, band.low], [band.x, band.high]] } : curve,
          outline(happened, most),
          { ...outline(failed, most), dash: true },
        ];
      },
      readings: (/** @type {any} */ system) => {
        const { blocks, band } = how.of(system);
        return blocks.map(({ low, high, share }) => {
          const middle = (low + high) / 2;
          const ends = band ? boundsAt(band, middle) : null;
          const chance = ends ? `; ${interval(ends[0], ends[1], percent)} if calibrated, by ${band.noun}` : "";
          return { x: middle, y: share, text: `posteriors from ${percent(low)} to ${percent(high)} ${how.noun.replace("%", percent(share))}${chance}` };
        });
      },
      marks: () => [],
      reference: () => [
        [0, 0],
        [1, 1],
      ],
    };
  }

  /** Interpolate the band linearly. @param {{x: number[], low: number[], high: number[]}} band @param {number} x */
  function boundsAt({ x: xs, low, high }, x) {
    const above = xs.findIndex((one) => one >= x);
    if (above < 0 || x < xs[0]) return null;
    const before = Math.max(above - 1, 0);
    const share = above === before ? 0 : (x - xs[before]) / (xs[above] - xs[before]);
    return [low, high].map((end) => end[before] + share * (end[above] - end[before]));
  }

  return { ofClasses, ofTargets, reliabilityPlot };
})();
