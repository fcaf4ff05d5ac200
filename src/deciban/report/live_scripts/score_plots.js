// @ts-check
"use strict";
/** Charts over scores: histogram, Tippett, and the map by PAV. */
const ScorePlots = (() => {
  const { interval, number } = Numbers;
  const { inUnit, linear, llr, unit } = Axes;
  const { levelsOf } = TradeOff;

  /** @param {number[][]} ends */
  function around(ends) {
    const low = Math.min(...ends.map((one) => one[0]));
    const high = Math.max(...ends.map((one) => one[1]));
    const margin = 0.03 * (high - low) || 0.5 * Math.max(1, Math.abs(high));
    return [low - margin, high + margin];
  }

  /** @param {Axis} axis @returns {Plot} */
  function histogramPlot(axis) {
    const factor = unit().isLog10 ? Math.LN10 : 1; // densities are per unit of the axis
    const step = (/** @type {number[]} */ bins, /** @type {number[]} */ density) => ({
      x: [bins[0], ...bins],
      y: [0, ...density, 0],
      isStep: true,
    });
    return {
      isBrushed: true,
      x: axis,
      y: linear(unit().isLog10 ? "Density (per unit of log10)" : "Density (per unit of score)", factor),
      threshold: true,
      range: (systems) => ({
        x: around(systems.map(({ curves: { histogram: { bins } } }) => [bins[0], bins[bins.length - 1]])),
        y: [0, 1.06 * Math.max(...systems.flatMap(({ curves: { histogram } }) => [...histogram.tar_density, ...histogram.non_density]))],
      }),
      lines: ({ curves: { histogram } }) => [
        step(histogram.bins, histogram.tar_density),
        { ...step(histogram.bins, histogram.non_density), dash: true },
      ],
      readings: ({ curves: { histogram: { bins, tar_density: tar, non_density: non } } }) =>
        tar.map((/** @type {number} */ density, /** @type {number} */ k) => ({
          x: (bins[k] + bins[k + 1]) / 2,
          y: density,
          text: `scores from ${inUnit(bins[k])} to ${inUnit(bins[k + 1])}${unit().words}: density of targets ${number(density * factor, 4)}, of non-targets ${number(non[k] * factor, 4)}`,
        })),
      marks: () => [],
    };
  }

  /** @param {Axis} axis @returns {Plot} */
  function tippettPlot(axis) {
    const share = (/** @type {number[]} */ counts, /** @type {number} */ of) => counts.map((n) => n / of);
    return {
      x: axis,
      y: linear("Trials at or above the score (%)", 100),
      threshold: true,
      range: (systems) => ({ x: around(systems.map(({ curves: { levels: { x } } }) => [x[0], x[x.length - 1]])), y: [-0.01, 1.01] }),
      lines: ({ n_tar: nTar, n_non: nNon, curves: { levels } }) => {
        // If no trial or every trial errs, only readings show the interval; shading it would look like a part of the curve.
        const band = (/** @type {number[][] | null} */ ends, /** @type {number[]} */ rates) =>
          ends ? { band: ends.map((end) => [levels.x, end.map((one, k) => (rates[k] > 0 && rates[k] < 1 ? one : null))]) } : {};
        const [misses, alarms] = [share(levels.n_miss, nTar), share(levels.n_fa, nNon)];
        return [
          { x: levels.x, y: misses.map((rate) => 1 - rate), ...band(levels.tar_band, misses) },
          { x: levels.x, y: alarms, dash: true, ...band(levels.non_band, alarms) },
        ];
      },
      readings: (system) => levelsOf(system).map(({ threshold, pMiss, text }) => ({ x: threshold, y: 1 - pMiss, text })),
      marks: (system, { threshold, place: k }) => [
        [threshold, 1 - system.n_miss[k] / system.n_tar],
        [threshold, system.n_fa[k] / system.n_non],
      ],
    };
  }

  /** @param {Axis} axis @param {Axis} upright @returns {Plot} */
  function pavPlot(axis, upright) {
    const finite = (/** @type {(number | null)[]} */ values) => values.filter((one) => one !== null).map(Number);
    return {
      x: axis,
      y: upright,
      threshold: true,
      range: (systems) => {
        // Scores with an infinite optimal value are shown only as far as the others reach.
        const ends = systems.flatMap(({ curves: { pav } }) => pav.llr.flatMap((/** @type {number | null} */ one, /** @type {number} */ k) => (one === null ? [] : [pav.low[k], pav.high[k]])));
        const scores = finite(ends);
        const reach = 1.15 * Math.max(1, ...finite(systems.flatMap(({ curves: { pav } }) => pav.llr)).map(Math.abs));
        return { x: around([scores.length ? [Math.min(...scores), Math.max(...scores)] : [-1, 1]]), y: [-reach, reach] };
      },
      lines: ({ curves: { pav: { low, high, llr, band } } }) => {
        const twice = (/** @type {any[]} */ values) => values.flatMap((value) => [value, value]);
        const x = low.flatMap((/** @type {number} */ one, /** @type {number} */ k) => [one, high[k]]);
        const blank = (/** @type {any[]} */ end) => end.map((value, k) => (llr[k] === null ? null : value));
        return [{ x, y: twice(llr), ...(band ? { band: band.map((/** @type {any[]} */ end) => [x, twice(blank(end))]) } : {}) }];
      },
      readings: ({ curves: { pav: { low, high, llr: best, band } } }) =>
        best
          .map((/** @type {number | null} */ value, /** @type {number} */ k) => ({
            x: (low[k] + high[k]) / 2,
            y: value,
            text: `scores from ${inUnit(low[k])} to ${inUnit(high[k])}${unit().words}: log-likelihood ratio ${llr(value)}${
              band ? ` ${interval(band[0][k], band[1][k], inUnit)}` : ""
            }`,
          }))
          .filter((/** @type {any} */ one) => one.y !== null),
      marks: () => [],
      reference: (low, high) => [
        [low, low],
        [high, high],
      ],
    };
  }

  return { histogramPlot, pavPlot, tippettPlot };
})();
