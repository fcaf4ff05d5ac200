// @ts-check
"use strict";
/** Matrices of classes as charts: decisions, and losses of pairs. */
const ClassMatrices = (() => {
  const { count, number, percent } = Numbers;
  const [BLUE, ORANGE] = ["#0072B2", "#D55E00"];

  /** An axis with a name at each whole number. @param {string[]} names @param {string} label */
  function named(names, label) {
    const short = names.map((name) => (name.length > 14 ? `${name.slice(0, 13)}\u2026` : name));
    return {
      label,
      size: 24 + 6.6 * Math.max(...short.map((name) => name.length)),
      splits: (/** @type {number} */ low, /** @type {number} */ high) => names.map((_, k) => k).filter((k) => k >= low && k <= high),
      write: (/** @type {number} */ k) => short[k] ?? "",
      whole: (/** @type {number} */ k) => names[k] ?? "",
    };
  }

  /**
   * Return a matrix as a plot: a row for each class, from the top. It shows the chosen system only.
   * @param {string[]} names
   * @param {string[]} labels
   * @param {(system: any, row: number, column: number) => {share: number, color: string, text: string, value: string} | null} of
   * @param {{name: () => string}} chosen
   */
  function matrix(names, [across, down], of, chosen) {
    const n = names.length;
    const all = (/** @type {any} */ system) => (system.name === chosen.name() ? names.flatMap((_, row) => names.map((__, column) => ({ row, column, ...of(system, row, column) }))) : []);
    const axis = named(names, across);
    const every = Math.ceil(n / 15);
    return {
      x: { ...axis, turned: true, splits: (/** @type {number} */ low, /** @type {number} */ high) => axis.splits(low, high).filter((k) => k % every === 0) },
      y: { ...named([...names].reverse(), down), splits: (/** @type {number} */ low, /** @type {number} */ high) => axis.splits(low, high).filter((k) => (n - 1 - k) % Math.ceil(n / 22) === 0) },
      rows: n,
      height: (/** @type {number} */ width) => Math.max(300, Math.min(160 + 24 * n, 640, width, innerWidth >= 900 ? Math.max(innerHeight - 340, 400) : 640)),
      range: () => ({ x: [-0.5, n - 0.5], y: [-0.5, n - 0.5] }),
      lines: () => [{ x: [], y: [] }],
      cells: (/** @type {any} */ system) => all(system).filter((one) => one.share > 0).map(({ row, column, share, color, value }) => ({ x: column, y: n - 1 - row, share, color, value })),
      readings: (/** @type {any} */ system) => all(system).map(({ row, column, text }) => ({ x: column, y: n - 1 - row, text: text ?? `${names[row]} and ${names[column]}: no value` })),
      marks: () => [],
    };
  }

  /** Decisions at the prior of the evaluation. @param {any} data @param {any} chosen */
  const decisions = ({ charts: { classes } }, chosen) =>
    matrix(classes, ["Decision", "Class"], ({ confusion, counts }, row, column) => {
      const [n, share] = [confusion[row][column], counts[row] ? confusion[row][column] / counts[row] : 0];
      return { share: Math.sqrt(share), color: row === column ? BLUE : ORANGE, value: n ? count(n) : "", text: `${count(n)} of ${count(counts[row])} segments of ${classes[row]} (${percent(share)}) are decided as ${classes[column]}` };
    }, chosen);

  /** Losses of pairs: discrimination below the diagonal, calibration above it. @param {any} data @param {any} chosen */
  function pairs({ charts: { classes }, sets: [{ systems }] }, chosen) {
    const lossOf = (/** @type {any} */ { pairs: { cllr, min_cllr: min } }, /** @type {number} */ row, /** @type {number} */ column) =>
      row === column || min[row][column] === null ? null : row > column ? min[row][column] : Math.max((cllr[row][column] ?? 2) - min[row][column], 0);
    const ends = systems.map((/** @type {any} */ one) => Math.max(1e-9, ...classes.flatMap((/** @type {any} */ _, /** @type {number} */ r) => classes.map((/** @type {any} */ __, /** @type {number} */ c) => lossOf(one, r, c) ?? 0))));
    const top = Math.max(...ends);
    return {
      ...matrix(classes, ["", ""], (system, row, column) => {
        const loss = lossOf(system, row, column);
        return loss === null ? null : { share: loss / top, color: row > column ? BLUE : ORANGE, value: number(loss, 2).replace(/^0/, ""), text: `${classes[row]} and ${classes[column]}: ${row > column ? "discrimination" : "calibration"} loss ${number(loss)} bits` };
      }, chosen),
      finding: (/** @type {any[]} */ shown) => {
        const one = shown.find((some) => some.name === chosen.name()) ?? shown[0];
        const all = classes.flatMap((/** @type {any} */ _, /** @type {number} */ r) => classes.slice(0, r).map((/** @type {any} */ __, /** @type {number} */ c) => [one.pairs.min_cllr[r][c] ?? 0, r, c]));
        const [loss, r, c] = all.reduce((/** @type {number[]} */ best, /** @type {number[]} */ some) => (some[0] > best[0] ? some : best));
        return `${one.name}: ${classes[c]} and ${classes[r]} are hardest to separate, ${number(loss)} bits`;
      },
    };
  }

  return { decisions, named, pairs };
})();
