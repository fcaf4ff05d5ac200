// @ts-check
"use strict";
/** Reading of values along the curves of a chart, by pointer and by arrow keys. */
const Readings = (() => {
  const { short } = Dom;

  /** @param {any} chart @param {MouseEvent} event */
  function onMove(chart, event) {
    const box = chart.over.getBoundingClientRect();
    const [left, top] = [event.clientX - box.left, event.clientY - box.top];
    let nearest = 40 ** 2;
    let found = null;
    chart.systems.forEach((_, system) => {
      if (!chart.view.shown[system]) return;
      chart.readingsOf(system).forEach((one, at) => {
        const away = (chart.chart.valToPos(one.x, "x") - left) ** 2 + (chart.chart.valToPos(one.y, "y") - top) ** 2;
        if (away < nearest) {
          nearest = away;
          found = { system, at };
        }
      });
    });
    tell(chart, found);
  }

  /** @param {any} chart @param {KeyboardEvent} event */
  function onKey(chart, event) {
    const { x, y } = chart.range;
    const scaled = (/** @type {number[]} */ [low, high], /** @type {number} */ factor) => {
      const [middle, half] = [(low + high) / 2, ((high - low) / 2) * factor];
      return [middle - half, middle + half];
    };
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const move = moves[/** @type {keyof typeof moves} */ (event.key)];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (move) step(chart, move, event.shiftKey ? 10 : 1);
    else if (event.key === "+" || event.key === "=") chart.zoom({ x: scaled(x, 0.7), y: scaled(y, 0.7) });
    else if (event.key === "-") chart.zoom({ x: scaled(x, 1 / 0.7), y: scaled(y, 1 / 0.7) });
    else if (event.key === "0") chart.zoom(chart.home);
    else if (event.key === "Escape") tell(chart, null);
    else return;
    event.preventDefault();
  }

  /** @param {any} chart @param {number[]} move @param {number} by */
  function step(chart, [systems, places], by) {
    const shown = chart.systems.map((_, k) => k).filter((k) => chart.view.shown[k] && chart.readingsOf(k).length);
    if (!shown.length) return; // for example if all likelihood ratios are infinite
    if (!chart.read) {
      const system = shown[0];
      tell(chart, { system, at: Math.floor(chart.readingsOf(system).length / 2) });
      return;
    }
    // In a matrix, up and down move from row to row.
    if (chart.plot.rows) [systems, places] = [0, places + systems * chart.plot.rows];
    const row = Math.min(Math.max(shown.indexOf(chart.read.system) + systems, 0), shown.length - 1);
    const system = shown[row];
    const own = chart.readingsOf(system);
    let { at } = chart.read;
    if (system !== chart.read.system) {
      const { x } = chart.readingsOf(chart.read.system)[at];
      at = own.reduce((best, one, k) => (Math.abs(one.x - x) < Math.abs(own[best].x - x) ? k : best), 0);
    }
    tell(chart, { system, at: Math.min(Math.max(at + places * by, 0), own.length - 1) });
  }

  /** Show the values at a point of a curve, and highlight its system everywhere. @param {any} chart @param {{system: number, at: number} | null} read */
  function tell(chart, read) {
    chart.read = read;
    const one = read ? chart.readingsOf(read.system)[read.at] : null;
    const text = read && one ? `${short(chart.systems[read.system].name)}, ${one.text}` : "";
    if (chart.reading.textContent !== text) chart.reading.textContent = text;
    ringAt(chart);
    const lit = read ? read.system : null;
    if (lit !== chart.view.lit) chart.frame.dispatchEvent(new CustomEvent("lit", { bubbles: true, detail: lit }));
  }

  /** @param {any} chart */
  function ringAt(chart) {
    chart.ring.hidden = !chart.read;
    if (!chart.read || !chart.isSettled) return;
    const one = chart.readingsOf(chart.read.system)[chart.read.at];
    chart.ring.style.transform = `translate(${chart.chart.valToPos(one.x, "x")}px, ${chart.chart.valToPos(one.y, "y")}px)`;
  }

  return { onKey, onMove, ringAt, tell };
})();
