// @ts-check
"use strict";
/** Names of systems beside their curves, where the curves are farthest from each other. */
const Labels = (() => {
  const { styled } = Dom;
  /** With more systems, the names of all would hide the curves. */
  const MOST = 12;
  const [HIGH, SWATCH, GAP] = [14, 8, 5];
  /** Places of a name beside a point of its curve. */
  const SIDES = [-1, 1].flatMap((over) => [-1, 1].map((right) => [GAP * right, over * (HIGH / 2 + GAP)]));

  /** Points of a curve inside the axes, in pixels. @param {any} u @param {any} line @returns {number[][]} */
  function pixelsOf(u, { x, y }) {
    const { left, top, width, height } = u.bbox;
    const found = [];
    for (let k = 0; k < x.length; k += 1) {
      if (x[k] === null || y[k] === null) continue;
      const [across, down] = [u.valToPos(x[k], "x", true), u.valToPos(y[k], "y", true)];
      if (across >= left && across <= left + width && down >= top && down <= top + height) found.push([across, down]);
    }
    return found;
  }

  /** Points of a curve at equal distances. @param {number[][]} points @param {number} step */
  function spaced(points, step) {
    return points.flatMap(([x, y], k) => {
      if (!k) return [[x, y]];
      const [right, up] = [x - points[k - 1][0], y - points[k - 1][1]];
      const n = Math.max(1, Math.min(60, Math.round(Math.hypot(right, up) / step)));
      return Array.from({ length: n }, (_, at) => [x - (right * at) / n, y - (up * at) / n]);
    });
  }

  /** Distance of a point from a rectangle. @param {number[]} point @param {number[]} box */
  const away = ([x, y], [left, top, right, bottom]) => Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));

  /**
   * Return the place of each name.
   * @param {any} u
   * @param {number[][][]} curves With names.
   * @param {number[][][]} others Dashed curves.
   * @param {number[]} widths
   * @returns {(number[] | null)[]}
   */
  function placed(u, curves, others, widths) {
    const scale = devicePixelRatio;
    const { left, top, width, height } = u.bbox;
    /** @type {number[][]} */
    const taken = [];
    const isFree = (/** @type {number[]} */ box) =>
      box[0] >= left && box[1] >= top && box[2] <= left + width && box[3] <= top + height && !taken.some((one) => box[0] < one[2] && one[0] < box[2] && box[1] < one[3] && one[1] < box[3]);
    return curves.map((points, own) => {
      const [wide, high] = [widths[own], HIGH * scale];
      let [best, at] = [2 * scale, /** @type {number[] | null} */ (null)];
      for (let p = 0; p < points.length; p += Math.max(1, Math.floor(points.length / 40))) {
        const [x, y] = points[p];
        for (const [right, down] of SIDES) {
          const start = x + right * scale - (right < 0 ? wide : 0);
          const box = [start, y + down * scale - high / 2, start + wide, y + down * scale + high / 2];
          if (!isFree(box)) continue;
          let room = 60 * scale;
          [...curves, ...others].forEach((other, k) => {
            for (let j = 0; j < other.length && room > best; j += 1) room = Math.min(room, (k === own ? 3 : 1) * away(other[j], box));
          });
          if (room > best) [best, at] = [room, box];
        }
      }
      if (at) taken.push(at);
      return at;
    });
  }

  /** Write the names into a chart of several systems. @param {any} chart @param {any} u */
  function paint(chart, u) {
    const main = chart.systems.map((_, k) => chart.lines.find((/** @type {any} */ one) => one.system === k && !one.dash && !one.pale));
    const shown = main.flatMap((line, k) => (line && chart.view.shown[k] ? [k] : []));
    if (chart.plot.isBare || chart.plot.cells || shown.length < 2 || shown.length > MOST) return;
    const { ctx, bbox } = u;
    const scale = devicePixelRatio;
    const start = (SWATCH + 4) * scale;
    const texts = shown.map((k) => chart.systems[k].name).map((name) => (name.length > 16 ? `${name.slice(0, 15)}\u2026` : name));
    ctx.save();
    ctx.font = `${12 * scale}px system-ui, sans-serif`;
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    ctx.lineJoin = "round";
    const key = JSON.stringify([texts, chart.range, bbox]);
    if (chart.labels?.key !== key || chart.labels.lines !== chart.lines) {
      const pointsOf = (/** @type {any} */ line) => spaced(pixelsOf(u, line), 8 * scale);
      const others = chart.lines.filter((/** @type {any} */ one) => chart.draws(one) && !main.includes(one));
      chart.labels = { key, lines: chart.lines, places: placed(u, shown.map((k) => pointsOf(main[k])), others.map(pointsOf), texts.map((text) => ctx.measureText(text).width + start)) };
    }
    const areAllPlaced = chart.labels.places.every(Boolean);
    chart.labels.places.forEach((/** @type {number[] | null} */ box, /** @type {number} */ at) => {
      if (!box || !(areAllPlaced || chart.view.lit === shown[at])) return; // some names alone would look like all of them
      const [k, middle] = [shown[at], (box[1] + box[3]) / 2];
      ctx.globalAlpha = chart.strength(k);
      ctx.strokeStyle = styled("--paper");
      ctx.lineWidth = 4 * scale;
      ctx.strokeText(texts[at], box[0] + start, middle);
      ctx.fillStyle = chart.colors[k];
      ctx.fillRect(box[0], middle - (SWATCH / 2) * scale, SWATCH * scale, SWATCH * scale);
      ctx.fillStyle = styled("--ink");
      ctx.fillText(texts[at], box[0] + start, middle);
    });
    ctx.restore();
  }

  return { paint };
})();
