// @ts-check
"use strict";
/** Charts of a multiclass page: detection of each class, C_avg, losses of classes, and subsets. */
const ClassPlots = (() => {
  const { interval, number, percent, prior } = Numbers;
  const { expit } = OperatingPoints;
  /** Largest number of classes in the chart of losses: those with the largest loss. */
  const MOST_BARS = 40;

  /** Interpolate a curve linearly; null outside. @param {number[]} xs @param {number[]} ys @param {number} x */
  function between(xs, ys, x) {
    const at = xs.findIndex((one) => one >= x);
    if (at < 0 || (at === 0 && xs[0] > x)) return null;
    const share = at === 0 ? 0 : (x - xs[at - 1]) / (xs[at] - xs[at - 1]);
    return at === 0 ? ys[0] : ys[at - 1] + share * (ys[at] - ys[at - 1]);
  }

  /** Return the index of the smallest number. @param {number[]} values */
  const least = (values) => values.indexOf(Math.min(...values));

  /** The cost of decisions without scores, by log odds of the prior. @param {number} x */
  const byPrior = (x) => expit(-Math.abs(x));

  /**
   * Return a plot over the prior of a target.
   * @param {number[]} xs
   * @param {string} label
   * @param {(system: any) => {lines: number[][], band: number[][] | null}} of
   * @param {(x: number) => number} reference
   * @param {(values: number[], at: number) => string} words
   */
  function overPrior(xs, label, of, reference, words) {
    const inside = xs.map((x, k) => k).filter((k) => Math.abs(xs[k]) <= 6);
    return {
      isQuiet: true,
      x: Axes.linear("Prior log odds of the class (nats)"),
      y: Axes.linear(label),
      top: Axes.top,
      range: (/** @type {any[]} */ systems) => {
        const most = Math.max(reference(0), ...systems.flatMap((one) => of(one).lines.flatMap((ys) => inside.map((k) => ys[k] ?? 0))));
        return { x: [xs[0], xs[xs.length - 1]], y: [0, 1.05 * Math.min(most, 1.5 * reference(0))] };
      },
      lines: (/** @type {any} */ system) => {
        const { lines, band } = of(system);
        return lines.map((y, k) => ({ x: xs, y, dash: k > 0, ...(band && !k ? { band: band.map((end) => [xs, end]) } : {}) }));
      },
      readings: (/** @type {any} */ system) => {
        const { lines, band } = of(system);
        return xs.map((x, k) => ({
          x,
          y: lines[0][k],
          text: `prior ${prior(expit(x))}: ${words(lines.map((ys) => ys[k]), k)}${band ? ` ${interval(band[0][k], band[1][k], number)}` : ""}`,
        }));
      },
      marks: (/** @type {any} */ system, /** @type {any} */ { logOdds }) => of(system).lines.map((ys) => [logOdds, between(xs, ys, logOdds) ?? NaN]),
      reference: (/** @type {number} */ low, /** @type {number} */ high) => Axes.along(low, high, reference),
    };
  }

  /** The normalized cost of detecting a class over the prior, actual or at the best threshold. @param {number[]} xs @param {number[][]} rates */
  const costsOf = (xs, [misses, alarms]) => xs.map((x, k) => Exact.cost(misses[k], alarms[k], x));

  /** Detection of the chosen class. @param {any} data @param {{target: () => number}} chosen */
  function ofClass({ charts: { log_odds: xs, targets } }, chosen) {
    const scaled = (/** @type {number[]} */ ys) => ys.map((y, k) => y / byPrior(xs[k]));
    const of = (/** @type {any} */ { charts }) => {
      const { rates, band } = charts.detectors[chosen.target()];
      return { lines: [costsOf(xs, rates), costsOf(xs, rates.slice(2))], band: band && band.map(scaled) };
    };
    return {
      ...overPrior(xs, "Normalized Bayes error rate", of, () => 1, ([act, min]) => `actual cost ${number(act)}, minimum ${number(min)}`),
      finding: (/** @type {any[]} */ systems, /** @type {any} */ { logOdds }) => {
        const costs = systems.map((one) => between(xs, of(one).lines[0], logOdds) ?? Infinity);
        const best = least(costs);
        return `${targets[chosen.target()]} at prior ${prior(expit(logOdds))}: ${systems.length > 1 ? `${systems[best].name} costs least: ` : "the actual cost is "}${number(costs[best])}`;
      },
    };
  }

  /** Error rates of detecting the chosen class. @param {any} data @param {{target: () => number}} chosen */
  function detOfClass({ charts: { log_odds: xs, targets } }, chosen) {
    const of = (/** @type {any} */ { charts }) => {
      const [misses, alarms, leastMisses, leastAlarms] = charts.detectors[chosen.target()].rates;
      return { eer: charts.eer[chosen.target()], curves: { det: { x: alarms, y: misses }, hull: { x: leastAlarms, y: leastMisses } } };
    };
    const { probit } = Axes;
    return {
      ...TradeOff.det,
      range: (/** @type {any[]} */ systems) => TradeOff.det.range(systems.map(of)),
      lines: (/** @type {any} */ system) => TradeOff.det.lines(of(system)),
      symbols: (/** @type {any} */ system) => TradeOff.det.symbols?.(of(system)) ?? [],
      cuts: undefined,
      readings: (/** @type {any} */ system) => {
        const { det } = of(system).curves;
        const text = (/** @type {number} */ k) => `threshold ${number(-xs[k])} nats: miss rate ${percent(det.y[k])}, false-alarm rate ${percent(det.x[k])}`;
        return xs.map((_, k) => ({ x: probit(det.x[k]), y: probit(det.y[k]), text: text(k) }));
      },
      marks: (/** @type {any} */ system, /** @type {any} */ { logOdds }) => {
        const { det } = of(system).curves;
        const [across, up] = [det.x, det.y].map((one) => between(xs, one, logOdds));
        return across === null || up === null ? [] : [[probit(across), probit(up)]];
      },
      finding: (/** @type {any[]} */ systems) => {
        const rates = systems.map((one) => of(one).eer ?? Infinity);
        const best = least(rates);
        return `${targets[chosen.target()]} against the rest: ${systems.length > 1 ? `${systems[best].name} has the lowest EER: ` : "EER "}${percent(rates[best])}`;
      },
    };
  }

  /** Average cost over the prior of every target. @param {any} data */
  function averages({ charts: { c_avg_log_odds: xs } }) {
    const of = (/** @type {any} */ { charts }) => ({ lines: [charts.c_avg], band: charts.c_avg_band });
    return {
      ...overPrior(xs, "C_avg", of, byPrior, ([cost]) => `C_avg ${number(cost, 4)}`),
      finding: (/** @type {any[]} */ systems, /** @type {any} */ { logOdds }) => {
        const costs = systems.map((one) => between(xs, one.charts.c_avg, logOdds) ?? Infinity);
        const best = least(costs);
        return `At prior ${prior(expit(logOdds))}, ${systems.length > 1 ? `${systems[best].name} costs least: ` : "C_avg is "}${number(costs[best], 4)}`;
      },
    };
  }

  /** Losses of detecting each class, the largest on top. @param {any} data */
  function losses({ charts: { targets }, sets: [{ systems }] }) {
    const worst = targets.map((/** @type {string} */ _, /** @type {number} */ k) => Math.max(...systems.map((/** @type {any} */ one) => one.charts.cllr[k] ?? 1e9)));
    const order = [...worst.keys()].sort((one, other) => worst[other] - worst[one]).slice(0, MOST_BARS).reverse();
    const [n, step] = [order.length, 0.8 / systems.length];
    const place = (/** @type {number} */ row, /** @type {any} */ system) => row + 0.4 - step * (systems.findIndex((/** @type {any} */ one) => one.name === system.name) + 0.5);
    const bars = (/** @type {any} */ system, /** @type {(k: number) => [number, number]} */ ends) => ({
      x: order.flatMap((k) => [...ends(k), null]),
      y: order.flatMap((_, row) => [place(row, system), place(row, system), null]),
      wide: Math.max(9 - systems.length, 3),
    });
    const held = (/** @type {number | null} */ x) => Math.min(x ?? 1e9, 20);
    return {
      x: Axes.linear("Cllr against the rest (bits)"),
      y: { ...ClassMatrices.named(order.map((k) => targets[k]), ""), label: "" },
      height: () => 90 + n * Math.max(18, 6 + systems.length * Math.max(10 - systems.length, 4)),
      range: (/** @type {any[]} */ some) => ({ x: [0, 1.05 * Math.min(Math.max(...order.flatMap((k) => some.map((one) => held(one.charts.cllr[k])))), 2) || 1], y: [-0.6, n - 0.4] }),
      lines: (/** @type {any} */ system) => [
        bars(system, (k) => [0, held(system.charts.min_cllr[k])]),
        { ...bars(system, (k) => [held(system.charts.min_cllr[k]), held(system.charts.cllr[k])]), pale: 0.4 },
      ],
      readings: (/** @type {any} */ system) =>
        order.map((k, row) => ({
          x: Math.min(held(system.charts.cllr[k]), 2),
          y: place(row, system),
          text: `${targets[k]}: Cllr ${number(system.charts.cllr[k] ?? Infinity)} bits (discrimination loss ${number(system.charts.min_cllr[k])})`,
        })),
      marks: () => [],
      reference: () => [[1, -1], [1, n]],
      finding: (/** @type {any[]} */ some) => {
        const most = targets.map((/** @type {string} */ _, /** @type {number} */ k) => Math.max(...some.map((one) => one.charts.cllr[k] ?? Infinity)));
        const at = most.indexOf(Math.max(...most));
        return `${targets[at]} has the largest loss: ${number(most[at])} bits`;
      },
    };
  }

  /** C_avg of subsets by their number of classes: mean, hardest, easiest. */
  const subsets = {
    x: { ...Axes.linear("Number of classes in the subset"), splits: (/** @type {number} */ low, /** @type {number} */ high) => Axes.linear("").splits(low, high).filter(Number.isInteger) },
    y: Axes.linear("C_avg"),
    range: (/** @type {any[]} */ systems) => {
      const { size } = systems[0].charts.subsets;
      return { x: [size[0] - 0.3, size[size.length - 1] + 0.3], y: [0, 1.08 * Math.max(0.01, ...systems.flatMap((one) => one.charts.subsets.high))] };
    },
    lines: (/** @type {any} */ { charts: { subsets: { size, mean, low, high } } }) => [{ x: size, y: mean, band: [[size, low], [size, high]] }, { x: size, y: high, dash: true }, { x: size, y: low, dash: true }],
    readings: (/** @type {any} */ { charts: { subsets: one } }) =>
      one.size.filter((/** @type {number} */ _, /** @type {number} */ k) => one.mean[k] !== null).map((/** @type {number} */ n, /** @type {number} */ k) => ({ x: n, y: one.mean[k], text: `subsets of ${n} classes: mean C_avg ${number(one.mean[k], 4)}; hardest ${number(one.high[k], 4)} (${one.hardest[k]}), easiest ${number(one.low[k], 4)} (${one.easiest[k]})` })),
    marks: () => [],
  };

  /**
   * Return every plot by its name.
   * @param {any} data
   * @param {{target: () => number, name: () => string}} chosen Row of the chosen class, and name of the chosen system.
   * @returns {Record<string, any>}
   */
  function plotsOf(data, chosen) {
    const systems = data.sets[0].systems;
    const hasAll = (/** @type {(one: any) => any} */ of) => systems.every(of);
    return {
      ...(hasAll((one) => one.charts) ? { class_losses: { isBare: true, ...losses(data) }, class_det: detOfClass(data, chosen), class_ape: ofClass(data, chosen), c_avg_curve: averages(data), reliability: { isBare: true, ...Posteriors.reliabilityPlot(Axes.linear, Posteriors.ofClasses) } } : {}),
      ...(hasAll((one) => one.confusion) ? { confusion: ClassMatrices.decisions(data, chosen) } : {}),
      ...(hasAll((one) => one.pairs) ? { pairwise_loss: ClassMatrices.pairs(data, chosen) } : {}),
      ...(hasAll((one) => one.charts?.subsets) ? { subset_c_avg: subsets } : {}),
    };
  }

  return { costsOf, detOfClass, ofClass, plotsOf };
})();
