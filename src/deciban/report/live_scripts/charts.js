// @ts-check
"use strict";
/**
 * Charts of a page. uPlot draws lines and axes; this script adds bands, marks at the operating point, reading of values by pointer or
 * arrow keys, and zooming.
 *
 * @typedef {{shown: boolean[], lit: number | null, bands: boolean}} View
 */
const Charts = (() => {
  const { element, visible } = Dom;
  const PALE = 0.18;
  const MOST_WITH_DASHES = 4;

  class Chart {
    /**
     * @param {HTMLElement} figure
     * @param {any} plot
     * @param {any[]} systems
     * @param {View} view
     */
    constructor(figure, plot, systems, view) {
      this.plot = plot;
      this.systems = systems;
      this.view = view;
      this.point = null;
      /** @type {{system: number, at: number} | null} */
      this.read = null;
      this.title = figure.querySelector(".finding b, figcaption b")?.textContent ?? "";
      this.frame = element("div", {
        class: "chart",
        tabindex: "0",
        role: "group",
        "aria-label": `${this.title}. Arrow keys read values: left and right along a curve, up and down from system to system. Plus and minus zoom, 0 shows all.`,
      });
      this.canvas = element("div", { class: "canvas", "aria-hidden": "true" });
      this.reading = element("p", { class: "reading", "aria-live": "polite", "data-reading": figure.dataset.plot ?? "" });
      this.frame.append(this.canvas);
      const whole = element("div", { class: "drawn" });
      whole.append(this.frame, this.reading);
      this.tools = Export.buttonsOf(this, figure.dataset.plot ?? "difference");
      const head = figure.querySelector(".finding");
      head?.after(whole);
      if (!head) figure.prepend(whole);
      (head ?? figure.querySelector("figcaption"))?.prepend(this.tools);
      this.replace(systems);
      this.frame.addEventListener("blur", () => Readings.tell(this, null));
      this.frame.addEventListener("keydown", (event) => Readings.onKey(this, event));
      this.canvas.addEventListener("mousemove", (event) => Readings.onMove(this, event));
      this.canvas.addEventListener("mouseleave", () => Readings.tell(this, null));
      this.canvas.addEventListener("dblclick", () => this.zoom(this.home));
      new ResizeObserver(() => this.resize()).observe(this.frame);
    }

    /** Draw systems of a condition, in the same order. @param {any[]} systems */
    replace(systems) {
      this.systems = systems;
      this.home = this.plot.range(systems);
      this.range = this.home;
      this.lines = systems.flatMap((system, k) => this.plot.lines(system).map((/** @type {any} */ line) => ({ ...line, system: k })));
      this.readings = systems.map(() => /** @type {any[] | null} */ (null));
      this.read = null;
      this.reading.textContent = "";
      this.draw();
      this.tellRange();
    }

    /** @param {number} k */
    readingsOf(k) {
      this.readings[k] ??= this.plot.readings(this.systems[k]);
      return /** @type {any[]} */ (this.readings[k]);
    }

    size() {
      const width = Math.max(this.frame.clientWidth, 200);
      const own = this.plot.height?.(width);
      return { width, height: own ?? Math.round(Math.min(Math.max(0.72 * width, 260), innerWidth >= 900 ? Math.max(innerHeight - 370, 300) : 520, 520)) };
    }

    draw() {
      this.colors = this.systems.map(({ color }) => visible(color));
      this.isSettled = false;
      this.chart?.destroy();
      this.chart = new uPlot(Painting.optionsOf(this), [null, ...this.lines.map((one) => [one.x, one.y])], this.canvas);
      this.over = this.chart.over;
      this.marks = this.systems.map((_, k) => this.addMarks(k));
      this.needle = element("div", { class: "needle" });
      this.ring = element("div", { class: "ring" });
      this.over.append(this.needle, this.ring);
    }

    /** Draw once the scales are known. */
    settle() {
      this.isSettled = true;
      this.follow(this.point);
      Readings.ringAt(this);
    }

    /** @param {number} k */
    addMarks(k) {
      return [0, 1].map(() => {
        const mark = element("div", { class: "mark" });
        mark.style.background = this.colors[k];
        this.over.append(mark);
        return mark;
      });
    }

    /** True for a visible line; of many systems, only the highlighted one has dashed lines, if these are secondary. @param {any} line */
    draws({ system, dash }) {
      const areMany = this.view.shown.filter(Boolean).length > MOST_WITH_DASHES;
      return this.view.shown[system] && !(this.plot.isQuiet && dash && areMany && this.view.lit !== system);
    }

    /** @param {number} system */
    strength(system) {
      return this.view.lit === null || this.view.lit === system ? 1 : PALE;
    }

    /** Update visible systems, the highlighted system, and bands. */
    refresh() {
      this.lines.forEach((one, k) => {
        const series = this.chart.series[k + 1];
        series.show = this.draws(one);
        series.alpha = this.strength(one.system) * (one.pale ?? 1);
      });
      if (this.read && !this.view.shown[this.read.system]) Readings.tell(this, null);
      this.chart.redraw(true, false);
      this.follow(this.point);
    }

    /** Move marks to the operating point. @param {any} point */
    follow(point) {
      this.point = point;
      if (!point || !this.isSettled) return;
      const { x, y } = this.range;
      const hold = (/** @type {number} */ value, /** @type {number[]} */ ends) => Math.min(Math.max(value, ends[0]), ends[1]);
      this.systems.forEach((system, k) => {
        const places = this.view.shown[k] ? this.plot.marks(system, point) : [];
        this.marks[k].forEach((mark, which) => {
          const place = places[which];
          mark.hidden = !place || place.some(Number.isNaN);
          if (mark.hidden) return;
          mark.style.opacity = String(this.strength(k));
          mark.style.transform = `translate(${this.chart.valToPos(hold(place[0], x), "x")}px, ${this.chart.valToPos(hold(place[1], y), "y")}px)`;
        });
      });
      const isThere = this.plot.threshold && point.threshold >= x[0] && point.threshold <= x[1];
      this.needle.hidden = !isThere;
      if (isThere) this.needle.style.transform = `translate(${this.chart.valToPos(point.threshold, "x")}px, 0)`;
    }

    /** @param {{x: number[], y: number[]}} range */
    zoom(range) {
      this.range = range;
      this.chart.batch(() => {
        this.chart.setScale("x", { min: range.x[0], max: range.x[1] });
        this.chart.setScale("y", { min: range.y[0], max: range.y[1] });
      });
      this.chart.redraw(true, true);
      this.follow(this.point);
      Readings.ringAt(this);
      this.tellRange();
    }

    /** Tell others which part of the axis is shown. */
    tellRange() {
      /** @type {HTMLElement} */ (this.tools.querySelector(".whole")).hidden = this.range === this.home;
      this.frame.dispatchEvent(new CustomEvent("zoomed", { bubbles: true, detail: this.range === this.home ? null : this.range.x }));
    }

    /** @param {any} u */
    select(u) {
      const { left, top, width, height } = u.select;
      const x = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
      if (this.plot.isBrushed && width > 8) this.zoom({ x, y: this.range.y });
      else if (width > 8 && height > 8) this.zoom({ x, y: [u.posToVal(top + height, "y"), u.posToVal(top, "y")] });
      u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    }

    resize() {
      const size = this.size();
      if (size.width !== this.chart.width) {
        this.chart.setSize(size);
        this.follow(this.point);
        Readings.ringAt(this);
      }
    }
  }

  return { Chart };
})();
