// @ts-check
"use strict";
/**
 * Charts of a page: uPlot draws lines and axes; this adds bands, marks that follow the operating point, points to read by hand or by
 * arrow keys, and zooming.
 *
 * @typedef {{shown: boolean[], lit: number | null, bands: boolean}} View
 */
const Charts = (() => {
  const PALE = 0.18;

  /** @param {string} name */
  const styled = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  /** @param {string} hex */
  const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

  /** @param {number[]} rgb */
  function luminance(rgb) {
    const [red, green, blue] = rgb.map((one) => (one / 255 <= 0.03928 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }

  /**
   * A colour that can be seen on the paper of the page: lighter on dark paper, until their contrast is 3 to 1.
   * @param {string} hex
   */
  function visible(hex) {
    const paper = luminance(channels(styled("--paper")));
    let rgb = channels(hex);
    for (let k = 0; k < 12 && paper < 0.2 && (luminance(rgb) + 0.05) / (paper + 0.05) < 3.2; k += 1) rgb = rgb.map((one) => Math.round(one + 0.12 * (255 - one)));
    return `#${rgb.map((one) => one.toString(16).padStart(2, "0")).join("")}`;
  }

  /** @param {string} tag @param {Record<string, string>} attributes @param {string} [text] */
  function element(tag, attributes, text = "") {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.textContent = text;
    return made;
  }

  /** A name that a narrow column breaks after _, -, . and /, as `breakable` of the page does. @param {HTMLElement} place @param {string} name */
  function put(place, name) {
    const parts = name.length > 12 ? name.split(/(?<=[-_./])(?=[^-_./])|(?<=[^-_./\s]{24})(?=[^-_./\s])/) : [name];
    place.replaceChildren(...parts.flatMap((part, at) => (at ? [document.createElement("wbr"), part] : [part])));
    return place;
  }

  /** A name that leaves room for numbers. @param {string} name */
  const short = (name) => (name.length > 60 ? `${name.slice(0, 40)}\u2026${name.slice(-19)}` : name);

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
      const title = figure.querySelector("figcaption b")?.textContent ?? "";
      this.frame = element("div", {
        class: "chart",
        tabindex: "0",
        role: "group",
        "aria-label": `${title} Arrow keys read values: left and right along a curve, up and down from system to system. Plus and minus zoom, 0 shows all.`,
      });
      this.canvas = element("div", { class: "canvas", "aria-hidden": "true" });
      this.reading = element("p", { class: "reading", "aria-live": "polite", "data-reading": figure.dataset.plot ?? "" });
      this.frame.append(this.canvas);
      figure.prepend(this.frame, this.reading);
      this.replace(systems);
      this.frame.addEventListener("keydown", (event) => this.onKey(event));
      this.canvas.addEventListener("mousemove", (event) => this.onMove(event));
      this.canvas.addEventListener("mouseleave", () => this.tell(null));
      this.canvas.addEventListener("dblclick", () => this.zoom(this.home));
      new ResizeObserver(() => this.resize()).observe(this.frame);
    }

    /** Draw systems that have the same places: those of a condition. @param {any[]} systems */
    replace(systems) {
      this.systems = systems;
      this.home = this.plot.range(systems);
      this.range = this.home;
      this.lines = systems.flatMap((system, k) => this.plot.lines(system).map((/** @type {any} */ line) => ({ ...line, system: k })));
      this.readings = systems.map(() => /** @type {any[] | null} */ (null));
      this.read = null;
      this.reading.textContent = "";
      this.draw();
    }

    /** @param {number} k */
    readingsOf(k) {
      this.readings[k] ??= this.plot.readings(this.systems[k]);
      return /** @type {any[]} */ (this.readings[k]);
    }

    size() {
      const width = Math.max(this.frame.clientWidth, 200);
      return { width, height: Math.round(Math.min(Math.max(0.72 * width, 260), 520)) };
    }

    draw() {
      const ink = styled("--ink");
      const line = styled("--line");
      const font = "12px system-ui, sans-serif";
      this.colors = this.systems.map(({ color }) => visible(color));
      const axis = (/** @type {any} */ one, /** @type {string} */ scale, /** @type {number} */ size) => ({
        scale,
        label: one.label,
        labelFont: font,
        labelSize: 22,
        font,
        size,
        stroke: ink,
        grid: { stroke: line, width: 1 },
        ticks: { stroke: line, width: 1 },
        splits: (/** @type {any} */ _u, /** @type {number} */ _k, /** @type {number} */ low, /** @type {number} */ high) => one.splits(low, high),
        values: (/** @type {any} */ _u, /** @type {number[]} */ values) => values.map(one.write),
      });
      const scale = (/** @type {"x" | "y"} */ name) => ({ time: false, range: () => this.range[name] });
      this.isSettled = false;
      this.chart?.destroy();
      this.chart = new uPlot(
        {
          mode: 2,
          ...this.size(),
          legend: { show: false },
          padding: [8, 12, 0, 0],
          cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: true, setScale: false }, bind: { dblclick: () => null } },
          scales: { x: scale("x"), y: scale("y") },
          axes: [axis(this.plot.x, "x", 34), axis(this.plot.y, "y", 50)],
          series: [
            null,
            ...this.lines.map((one) => ({
              facets: [
                { scale: "x", auto: false },
                { scale: "y", auto: false },
              ],
              points: { show: false },
              paths: (/** @type {any} */ u) => this.path(u, one),
              stroke: this.colors[one.system],
              width: one.dash ? 1.3 : 2,
              dash: one.dash ? [6, 4] : [],
              show: this.view.shown[one.system],
              alpha: 1,
            })),
          ],
          hooks: {
            drawAxes: [(/** @type {any} */ u) => this.behind(u)],
            draw: [(/** @type {any} */ u) => this.symbols(u)],
            ready: [() => this.settle()],
            setSelect: [(/** @type {any} */ u) => this.select(u)],
          },
        },
        [null, ...this.lines.map((one) => [one.x, one.y])],
        this.canvas,
      );
      this.over = this.chart.over;
      this.marks = this.systems.map((_, k) => this.addMarks(k));
      this.needle = element("div", { class: "needle" });
      this.ring = element("div", { class: "ring" });
      this.over.append(this.needle, this.ring);
    }

    /** Scales are known from now on. */
    settle() {
      this.isSettled = true;
      this.follow(this.point);
      this.ringAt();
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

    /** @param {any} u @param {any} line */
    path(u, line) {
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
      return { stroke, fill: null, clip: this.inside(u), band: null, gaps: null, flags: 3 };
    }

    /** @param {any} u */
    inside(u) {
      const clip = new Path2D();
      clip.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
      return clip;
    }

    /** Bands and references, behind all lines. @param {any} u */
    behind(u) {
      const { ctx } = u;
      ctx.save();
      ctx.clip(this.inside(u));
      const place = (/** @type {number} */ x, /** @type {number} */ y) => [u.valToPos(x, "x", true), u.valToPos(y, "y", true)];
      const line = (/** @type {number[][]} */ points) => points.forEach(([x, y], k) => ctx[k ? "lineTo" : "moveTo"](x, y));
      for (const one of this.lines) {
        const isBanded = this.view.bands || this.view.lit === one.system;
        if (one.band && isBanded && this.view.shown[one.system]) {
          const [low, high] = one.band.map(([xs, ys]) => xs.flatMap((/** @type {number} */ x, /** @type {number} */ k) => (x === null || ys[k] === null ? [] : [place(x, ys[k])])));
          ctx.beginPath();
          line([...low, ...high.reverse()]);
          ctx.fillStyle = this.colors[one.system];
          ctx.globalAlpha = this.strength(one.system) * 0.2;
          ctx.fill();
        }
      }
      ctx.globalAlpha = 1;
      const { x, y } = this.range;
      const cuts = this.plot.cuts?.(this.systems.filter((_, k) => this.view.shown[k])) ?? { x: [], y: [] };
      ctx.beginPath();
      for (const one of new Set(cuts.x)) line([place(one, y[0]), place(one, y[1])]);
      for (const one of new Set(cuts.y)) line([place(x[0], one), place(x[1], one)]);
      if (this.plot.reference) line(this.plot.reference(x[0], x[1]).map(([right, up]) => place(right, up)));
      if (this.plot.cuts || this.plot.reference) {
        ctx.strokeStyle = styled("--ink");
        ctx.lineWidth = 1.2 * devicePixelRatio;
        ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
        ctx.stroke();
      }
      ctx.restore();
    }

    /** Stars and triangles, in front of all lines. @param {any} u */
    symbols(u) {
      const { ctx } = u;
      ctx.save();
      ctx.clip(this.inside(u));
      this.systems.forEach((system, k) => {
        if (!this.view.shown[k]) return;
        for (const { x, y, corners } of this.plot.symbols?.(system) ?? []) {
          const [left, top] = [u.valToPos(x, "x", true), u.valToPos(y, "y", true)];
          ctx.beginPath();
          corners.forEach(([right, down], at) => ctx[at ? "lineTo" : "moveTo"](left + right * devicePixelRatio, top + down * devicePixelRatio));
          ctx.closePath();
          ctx.globalAlpha = this.strength(k);
          ctx.fillStyle = this.colors[k];
          ctx.strokeStyle = styled("--paper");
          ctx.fill();
          ctx.stroke();
        }
      });
      ctx.restore();
    }

    /** @param {number} system */
    strength(system) {
      return this.view.lit === null || this.view.lit === system ? 1 : PALE;
    }

    /** Show what the view says: systems on and off, one of them lit, bands. */
    refresh() {
      this.lines.forEach((one, k) => {
        const series = this.chart.series[k + 1];
        series.show = this.view.shown[one.system];
        series.alpha = this.strength(one.system);
      });
      if (this.read && !this.view.shown[this.read.system]) this.tell(null);
      this.chart.redraw(true, false);
      this.follow(this.point);
    }

    /** Put marks where the operating point is. @param {any} point */
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
      this.ringAt();
    }

    /** @param {any} u */
    select(u) {
      const { left, top, width, height } = u.select;
      if (width > 8 && height > 8) {
        this.zoom({ x: [u.posToVal(left, "x"), u.posToVal(left + width, "x")], y: [u.posToVal(top + height, "y"), u.posToVal(top, "y")] });
      }
      u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    }

    resize() {
      const size = this.size();
      if (size.width !== this.chart.width) {
        this.chart.setSize(size);
        this.follow(this.point);
        this.ringAt();
      }
    }

    /** @param {MouseEvent} event */
    onMove(event) {
      const box = this.over.getBoundingClientRect();
      const [left, top] = [event.clientX - box.left, event.clientY - box.top];
      let nearest = 40 ** 2;
      let found = null;
      this.systems.forEach((_, system) => {
        if (!this.view.shown[system]) return;
        this.readingsOf(system).forEach((one, at) => {
          const away = (this.chart.valToPos(one.x, "x") - left) ** 2 + (this.chart.valToPos(one.y, "y") - top) ** 2;
          if (away < nearest) {
            nearest = away;
            found = { system, at };
          }
        });
      });
      this.tell(found);
    }

    /** @param {KeyboardEvent} event */
    onKey(event) {
      const { x, y } = this.range;
      const scaled = (/** @type {number[]} */ [low, high], /** @type {number} */ factor) => {
        const [middle, half] = [(low + high) / 2, ((high - low) / 2) * factor];
        return [middle - half, middle + half];
      };
      const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
      const move = moves[/** @type {keyof typeof moves} */ (event.key)];
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (move) this.step(move, event.shiftKey ? 10 : 1);
      else if (event.key === "+" || event.key === "=") this.zoom({ x: scaled(x, 0.7), y: scaled(y, 0.7) });
      else if (event.key === "-") this.zoom({ x: scaled(x, 1 / 0.7), y: scaled(y, 1 / 0.7) });
      else if (event.key === "0") this.zoom(this.home);
      else if (event.key === "Escape") this.tell(null);
      else return;
      event.preventDefault();
    }

    /** @param {number[]} move @param {number} by */
    step([systems, places], by) {
      const shown = this.systems.map((_, k) => k).filter((k) => this.view.shown[k] && this.readingsOf(k).length);
      if (!shown.length) return; // as where all likelihood ratios are infinite
      if (!this.read) {
        const system = shown[0];
        this.tell({ system, at: Math.floor(this.readingsOf(system).length / 2) });
        return;
      }
      const row = Math.min(Math.max(shown.indexOf(this.read.system) + systems, 0), shown.length - 1);
      const system = shown[row];
      const own = this.readingsOf(system);
      let { at } = this.read;
      if (system !== this.read.system) {
        const { x } = this.readingsOf(this.read.system)[at];
        at = own.reduce((best, one, k) => (Math.abs(one.x - x) < Math.abs(own[best].x - x) ? k : best), 0);
      }
      this.tell({ system, at: Math.min(Math.max(at + places * by, 0), own.length - 1) });
    }

    /** Say what stands at a point of a curve, and light up its system everywhere. @param {{system: number, at: number} | null} read */
    tell(read) {
      this.read = read;
      const one = read ? this.readingsOf(read.system)[read.at] : null;
      const text = read && one ? `${short(this.systems[read.system].name)}, ${one.text}` : "";
      if (this.reading.textContent !== text) this.reading.textContent = text;
      this.ringAt();
      const lit = read ? read.system : null;
      if (lit !== this.view.lit) this.frame.dispatchEvent(new CustomEvent("lit", { bubbles: true, detail: lit }));
    }

    ringAt() {
      this.ring.hidden = !this.read;
      if (!this.read || !this.isSettled) return;
      const one = this.readingsOf(this.read.system)[this.read.at];
      this.ring.style.transform = `translate(${this.chart.valToPos(one.x, "x")}px, ${this.chart.valToPos(one.y, "y")}px)`;
    }
  }

  return { Chart, element, put, visible };
})();
