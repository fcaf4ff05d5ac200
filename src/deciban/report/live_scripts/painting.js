// @ts-check
"use strict";
/** The frame of a chart for uPlot, and what it draws beside lines: bands, references, cells of a matrix, and symbols. */
const Painting = (() => {
  const { styled } = Dom;

  /** Options of uPlot for a chart. @param {any} chart */
  function optionsOf(chart) {
    const ink = styled("--ink");
    const line = styled("--line");
    const font = "12px system-ui, sans-serif";
    const axis = (/** @type {any} */ one, /** @type {string} */ scale, /** @type {number} */ size) => ({
      scale,
      label: one.label,
      labelFont: font,
      labelSize: 22,
      font,
      size: one.size ?? size,
      rotate: one.turned ? -90 : 0,
      stroke: ink,
      grid: { show: !chart.plot.cells, stroke: line, width: 1 },
      ticks: { stroke: line, width: 1 },
      splits: (/** @type {any} */ _u, /** @type {number} */ _k, /** @type {number} */ low, /** @type {number} */ high) => one.splits(low, high),
      values: (/** @type {any} */ _u, /** @type {number[]} */ values) => values.map(one.write),
    });
    const scale = (/** @type {"x" | "y"} */ name) => ({ time: false, range: () => chart.range[name] });
    return {
      mode: 2,
      ...chart.size(),
      legend: { show: false },
      padding: [8, 18, 0, 0],
      cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: !chart.plot.isBrushed, setScale: false }, bind: { dblclick: () => null } },
      scales: { x: scale("x"), y: scale("y") },
      axes: [axis(chart.plot.x, "x", 34), axis(chart.plot.y, "y", 50), ...(chart.plot.top ? [{ ...axis(chart.plot.top, "x", 30), side: 0, grid: { show: false }, labelSize: 18 }] : [])],
      series: [
        null,
        ...chart.lines.map((one) => ({
          facets: [
            { scale: "x", auto: false },
            { scale: "y", auto: false },
          ],
          points: { show: false },
          paths: (/** @type {any} */ u) => path(u, one),
          stroke: chart.colors[one.system],
          width: one.wide ?? (one.dash ? 1.3 : 2),
          dash: one.dash ? [6, 4] : [],
          cap: "butt",
          show: chart.draws(one),
          alpha: one.pale ?? 1,
        })),
      ],
      hooks: {
        drawAxes: [(/** @type {any} */ u) => behind(chart, u)],
        draw: [(/** @type {any} */ u) => (symbols(chart, u), Labels.paint(chart, u))],
        ready: [() => chart.settle()],
        setSelect: [(/** @type {any} */ u) => chart.select(u)],
      },
    };
  }

  /** @param {any} u @param {any} line */
  function path(u, line) {
    const stroke = new Path2D();
    let isOpen = false;
    let before = 0;
    for (let k = 0; k < line.x.length; k += 1) {
      if (line.x[k] === null || line.y[k] === null) {
        isOpen = false;
      } else {
        const x = u.valToPos(line.x[k], "x", true);
        const y = u.valToPos(line.y[k], "y", true);
        if (isOpen && line.isStep) stroke.lineTo(x, before);
        if (isOpen) stroke.lineTo(x, y);
        else stroke.moveTo(x, y);
        isOpen = true;
        before = y;
      }
    }
    return { stroke, fill: null, clip: inside(u), band: null, gaps: null, flags: 3 };
  }

  /** @param {any} u */
  function inside(u) {
    const clip = new Path2D();
    clip.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    return clip;
  }

  /** Draw bands and references behind all lines. @param {any} chart @param {any} u */
  function behind(chart, u) {
    const { ctx } = u;
    ctx.save();
    ctx.clip(inside(u));
    const place = (/** @type {number} */ x, /** @type {number} */ y) => [u.valToPos(x, "x", true), u.valToPos(y, "y", true)];
    const line = (/** @type {number[][]} */ points) => points.forEach(([x, y], k) => ctx[k ? "lineTo" : "moveTo"](x, y));
    for (const one of chart.lines) {
      const isBanded = chart.view.bands || chart.view.lit === one.system;
      if (one.band && isBanded && chart.view.shown[one.system]) {
        const [low, high] = one.band.map(([xs, ys]) => xs.flatMap((/** @type {number} */ x, /** @type {number} */ k) => (x === null || ys[k] === null ? [] : [place(x, ys[k])])));
        ctx.beginPath();
        line([...low, ...high.reverse()]);
        ctx.fillStyle = chart.colors[one.system];
        ctx.globalAlpha = chart.strength(one.system) * 0.2;
        ctx.fill();
      }
    }
    ctx.globalAlpha = 1;
    chart.systems.forEach((system) => matrix(u, chart.plot.cells?.(system) ?? []));
    const { x, y } = chart.range;
    const cuts = chart.plot.cuts?.(chart.systems.filter((_, k) => chart.view.shown[k])) ?? { x: [], y: [] };
    ctx.beginPath();
    for (const one of new Set(cuts.x)) line([place(one, y[0]), place(one, y[1])]);
    for (const one of new Set(cuts.y)) line([place(x[0], one), place(x[1], one)]);
    if (chart.plot.reference) line(chart.plot.reference(x[0], x[1]).map(([right, up]) => place(right, up)));
    if (chart.plot.cuts || chart.plot.reference) {
      ctx.strokeStyle = styled("--ink");
      ctx.lineWidth = 1.2 * devicePixelRatio;
      ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
      ctx.stroke();
    }
    ctx.restore();
  }

  /** Draw the cells of a matrix, with their values if they fit. @param {any} u @param {any[]} cells */
  function matrix(u, cells) {
    const { ctx } = u;
    const [width, height] = ["x", "y"].map((scale) => Math.abs(u.valToPos(1, scale, true) - u.valToPos(0, scale, true)));
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    for (const { x, y, share, color, value } of cells) {
      const [left, top] = [u.valToPos(x, "x", true), u.valToPos(y, "y", true)];
      ctx.globalAlpha = 0.06 + 0.74 * share;
      ctx.fillStyle = color;
      ctx.fillRect(left - width / 2 + 0.5, top - height / 2 + 0.5, width - 1, height - 1);
      ctx.globalAlpha = 1;
      if (width < 30 * devicePixelRatio || height < 13 * devicePixelRatio) continue;
      ctx.fillStyle = styled("--ink");
      ctx.fillText(value, left, top);
    }
  }

  /** Draw stars and triangles in front of all lines. @param {any} chart @param {any} u */
  function symbols(chart, u) {
    const { ctx } = u;
    ctx.save();
    ctx.clip(inside(u));
    chart.systems.forEach((system, k) => {
      if (!chart.view.shown[k]) return;
      for (const { x, y, corners } of chart.plot.symbols?.(system) ?? []) {
        const [left, top] = [u.valToPos(x, "x", true), u.valToPos(y, "y", true)];
        ctx.beginPath();
        corners.forEach(([right, down], at) => ctx[at ? "lineTo" : "moveTo"](left + right * devicePixelRatio, top + down * devicePixelRatio));
        ctx.closePath();
        ctx.globalAlpha = chart.strength(k);
        ctx.fillStyle = chart.colors[k];
        ctx.strokeStyle = styled("--paper");
        ctx.fill();
        ctx.stroke();
      }
    });
    ctx.restore();
  }

  return { optionsOf };
})();
