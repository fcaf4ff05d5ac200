// @ts-check
"use strict";
/**
 * What each chart of a page shows: axes, lines, bands, points to read, and where the operating point lies.
 *
 * @typedef {{label: string, splits: (low: number, high: number) => number[], write: (value: number) => string}} Axis
 * @typedef {{x: (number | null)[], y: (number | null)[], dash?: boolean, isStep?: boolean, band?: number[][][]}} Line
 * @typedef {{x: number, y: number, text: string}} Reading
 * @typedef {{x: Axis, y: Axis, range: (systems: any[]) => {x: number[], y: number[]}, lines: (system: any) => Line[],
 *   readings: (system: any) => Reading[], marks: (system: any, point: any) => number[][], threshold?: boolean,
 *   symbols?: (system: any) => {x: number, y: number, corners: number[][]}[], cuts?: (systems: any[]) => {x: number[], y: number[]}, reference?: (low: number, high: number) => number[][]}} Plot
 */
const Plots = (() => {
  const { count, general, interval, number, percent, prior } = Numbers;
  const { expit, figuresOf, nearest } = OperatingPoints;
  const EDGE = 1e-7;

  /**
   * The normal deviate below which a share p lies (P. J. Acklam's rational approximation, to nine digits).
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

  const RATES = [1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999];
  const MORE_RATES = [2e-6, 5e-6, 2e-5, 5e-5, 2e-4, 5e-4, 0.002, 0.005, 0.03, 0.07, 0.15, 0.3, 0.5, 0.7];
  const PROBITS = new Map([...RATES, ...MORE_RATES].map((rate) => [probit(rate), rate]));

  /**
   * Round places of an axis, some seven of them.
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

  /** Whether scores and likelihood ratios are shown as common logarithms; inside they are natural ones. */
  let isLog10 = false;

  /** A score in the unit of the page. @param {number | null} x */
  const inUnit = (x) => number(x === null || !isLog10 ? x : x * Math.LOG10E);

  /** A log-likelihood ratio with its unit. @param {number | null} x */
  const llr = (x) => `${inUnit(x)} ${isLog10 ? "in log10" : "nats"}`;

  /** @param {string} label @param {number} [factor] @returns {Axis} */
  function linear(label, factor = 1) {
    return {
      label,
      splits: (low, high) => rounds(low * factor, high * factor).map((x) => x / factor),
      write: (x) => Numbers.typeset(general(Number((x * factor).toPrecision(10)), 6)),
    };
  }

  /**
   * Limits of an axis of rates: the curve fills it.
   * @param {any[]} systems
   * @param {"x" | "y"} axis
   */
  function probitLimits(systems, axis) {
    const other = axis === "x" ? "y" : "x";
    let low = 0.1;
    let high = 0.05;
    for (const { curves } of systems) {
      curves.det[axis].forEach((/** @type {number} */ rate, /** @type {number} */ k) => {
        if (rate > 0 && rate < 1) {
          low = Math.min(low, rate / 1.5);
          if (curves.det[other][k] > 0) high = Math.max(high, rate);
        }
      });
    }
    return [probit(Math.max(low, 1e-6)), probit(Math.min(high, 0.97)) + 0.1];
  }

  /** @param {number[]} values @param {(value: number) => number} change */
  const mapped = (values, change) => values.map((value) => (value === null ? null : change(value)));

  /**
   * Errors at a threshold, in words.
   * @param {any} system
   * @param {{threshold: number, nMiss: number, nFa: number, miss?: number[], fa?: number[]}} at
   */
  function errorsInWords(system, { threshold, nMiss, nFa, miss, fa }) {
    const one = (/** @type {number} */ n, /** @type {number} */ of, /** @type {number[] | undefined} */ ends) =>
      `${percent(n / of)} ${ends ? `${interval(ends[0], ends[1], percent)} ` : ""}(${count(n)} of ${count(of)})`;
    return `threshold ${llr(threshold)}: miss rate ${one(nMiss, system.n_tar, miss)}, false-alarm rate ${one(nFa, system.n_non, fa)}`;
  }

  /** @param {any} system @returns {{threshold: number, pMiss: number, pFa: number, text: string}[]} */
  function levelsOf(system) {
    const { x, n_miss: misses, n_fa: falseAlarms, tar_band: tar, non_band: non } = system.curves.levels;
    return x.map((/** @type {number} */ threshold, /** @type {number} */ k) => ({
      threshold,
      pMiss: misses[k] / system.n_tar,
      pFa: falseAlarms[k] / system.n_non,
      text: errorsInWords(system, {
        threshold,
        nMiss: misses[k],
        nFa: falseAlarms[k],
        miss: tar ? [1 - tar[1][k], 1 - tar[0][k]] : undefined,
        fa: non ? [non[0][k], non[1][k]] : undefined,
      }),
    }));
  }

  /** A star of five points. */
  const STAR = Array.from({ length: 10 }, (_, k) => {
    const [angle, radius] = [(Math.PI * k) / 5, k % 2 ? 3 : 7.5];
    return [radius * Math.sin(angle), -radius * Math.cos(angle)];
  });

  /**
   * Plots of error rates against each other.
   * @param {(p: number) => number} place
   * @param {(label: string) => Axis} axis
   * @param {Plot["range"]} range
   * @returns {Plot}
   */
  function tradeOff(place, axis, range) {
    return {
      x: axis("False-alarm rate (%)"),
      y: axis("Miss rate (%)"),
      range,
      lines: ({ curves: { det, hull } }) => {
        const dashed = { x: mapped(hull.x, place), y: mapped(hull.y, place), dash: true };
        const band = hull.band?.map((/** @type {number[][]} */ side) => side.map((rates) => mapped(rates, place)));
        return [{ x: mapped(det.x, place), y: mapped(det.y, place) }, band ? { ...dashed, band } : dashed];
      },
      readings: (system) => levelsOf(system).map(({ pMiss, pFa, text }) => ({ x: place(pFa), y: place(pMiss), text })),
      cuts: (systems) => ({ x: systems.map((one) => place(30 / one.n_non)), y: systems.map((one) => place(30 / one.n_tar)) }),
      symbols: ({ eer }) => (eer === null ? [] : [{ x: place(eer), y: place(eer), corners: STAR }]),
      marks: (system, point) => {
        const found = figuresOf(system, point, 1);
        return [[place(found.p_fa ?? NaN), place(found.p_miss ?? NaN)]];
      },
    };
  }

  /**
   * Plots over prior log odds whose numbers stand at the grid.
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
      reference: (low, high) => {
        const found = [];
        for (let k = 0; k <= 100; k += 1) found.push(low + ((high - low) * k) / 100);
        return found.map((x) => [x, scaled(1, x)]);
      },
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
      reference: (low, high) => {
        const found = [];
        for (let k = 0; k <= 100; k += 1) found.push(low + ((high - low) * k) / 100);
        return found.map((x) => [x, entropyOf(x)]);
      },
    };
  }

  /** @param {number[][]} ends */
  function around(ends) {
    const low = Math.min(...ends.map((one) => one[0]));
    const high = Math.max(...ends.map((one) => one[1]));
    const margin = 0.03 * (high - low) || 0.5 * Math.max(1, Math.abs(high));
    return [low - margin, high + margin];
  }

  /** @param {Axis} axis @returns {Plot} */
  function histogramPlot(axis) {
    const unit = isLog10 ? Math.LN10 : 1; // a density is one for each unit of the axis
    const step = (/** @type {number[]} */ bins, /** @type {number[]} */ density) => ({
      x: [bins[0], ...bins],
      y: [0, ...density, 0],
      isStep: true,
    });
    return {
      x: axis,
      y: linear(isLog10 ? "Density (per unit of log10)" : "Density (per unit of score)", unit),
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
          text: `scores from ${inUnit(bins[k])} to ${inUnit(bins[k + 1])}${isLog10 ? " in log10" : ""}: density of targets ${number(density * unit, 4)}, of non-targets ${number(non[k] * unit, 4)}`,
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
        // Where no trial errs, or all do, readings have the interval; shaded, it would look like a part of the curve.
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
        const scores = finite(systems.flatMap(({ curves: { pav } }) => [...pav.low, ...pav.high]));
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
            text: `scores from ${inUnit(low[k])} to ${inUnit(high[k])}${isLog10 ? " in log10" : ""}: log-likelihood ratio ${llr(value)}${
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

  /**
   * Every plot by its name.
   * @param {any} data
   * @returns {Record<string, Plot>}
   */
  function plotsOf(data) {
    isLog10 = !data.nats;
    const factor = isLog10 ? Math.LOG10E : 1;
    const unit = data.nats ? "nats" : "log10";
    const priors = linear(`Prior log odds (${unit})`, factor);
    const scores = linear(data.nats ? "Score" : "Score (log10)", factor);
    const farthest = Math.max(7, ...data.points.slice(0, 8).map((/** @type {any} */ one) => Math.abs(Math.log((one.p / (1 - one.p)) * (one.c_miss / one.c_fa))) + 0.5));
    const half = Math.min(farthest, 25);
    const reach = [-half, half];
    const corner = (/** @type {any[]} */ systems) => {
      const rates = systems.map(({ curves: { hull } }) => Math.min(...hull.x.map((/** @type {number} */ x, /** @type {number} */ k) => Math.max(x, hull.y[k]))));
      const top = Math.min(1, Math.max(0.02, 3 * Math.max(...rates)));
      return { x: [-0.01 * top, 1.01 * top], y: [-0.01 * top, 1.01 * top] };
    };
    const highest = (/** @type {any[]} */ systems) =>
      1.1 * Math.max(0.02, ...systems.flatMap(({ min_dcf: least, act_dcf: act }) =>
        data.log_odds.map((/** @type {number} */ x, /** @type {number} */ k) => Math.min((least[k] ?? act[k]) * expit(-Math.abs(x)) * 1.6, act[k] * expit(-Math.abs(x))))));
    return {
      det: tradeOff(probit, probits, (systems) => ({ x: probitLimits(systems, "x"), y: probitLimits(systems, "y") })),
      roc: tradeOff((p) => p, (label) => linear(label, 100), corner),
      bayes_error: overPriors(data, "Normalized Bayes error rate", (error) => error, () => ({ x: reach, y: [0, 1.4] }), priors),
      ape: overPriors(data, "Bayes error rate (%)", (error, x) => error * expit(-Math.abs(x)), (systems) => ({ x: reach, y: [0, highest(systems)] }), priors),
      ece: entropyPlot(priors, reach),
      histogram: histogramPlot(scores),
      tippett: tippettPlot(scores),
      reliability: Posteriors.reliabilityPlot(linear, data.sets[0].systems[0].curves.posteriors.prior),
      pav: pavPlot(scores, linear(`Log-likelihood ratio after PAV (${unit})`, factor)),
    };
  }

  return { linear, plotsOf, probit };
})();
