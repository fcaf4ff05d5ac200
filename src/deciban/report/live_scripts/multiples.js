// @ts-check
"use strict";
/**
 * Small charts on common axes, one for each condition or class, and sparklines.
 *
 * @typedef {{name: string, plot: any, systems: any[], choose: () => void, isChosen: () => boolean}} Panel
 */
const Multiples = (() => {
  const { drawn } = Dom;
  const [WIDE, HIGH] = [240, 176];
  const BOX = [44, 6, WIDE - 6, HIGH - 20];

  /** Return a line without axes, and a function that moves its dot to the operating point. @param {number[]} xs @param {number[]} ys @param {string} color */
  function spark(xs, ys, color) {
    const [wide, high] = [96, 20];
    const across = (/** @type {number} */ one) => 3 + ((one - xs[0]) / (xs[xs.length - 1] - xs[0])) * (wide - 6);
    const up = (/** @type {number} */ one) => high - 3 - Math.min(one, 1.4) * ((high - 6) / 1.4);
    const found = drawn("svg", { class: "spark", viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, "aria-hidden": "true" });
    const path = xs.map((one, k) => `${k ? "L" : "M"}${across(one).toFixed(1)} ${up(ys[k]).toFixed(1)}`).join("");
    found.append(drawn("path", { d: `M3 ${up(1)}H${wide - 3}`, stroke: "currentColor", "stroke-dasharray": "1 2", "stroke-opacity": 0.6 }), drawn("path", { d: path, fill: "none", stroke: color, "stroke-width": 1.5 }));
    const dot = drawn("circle", { r: 2.5, fill: color });
    const follow = (/** @type {number} */ x) => {
      const k = xs.findIndex((one) => one >= x);
      dot.remove();
      if (k < 0) return;
      for (const [name, at] of Object.entries({ cx: across(xs[k]), cy: up(ys[k]) })) dot.setAttribute(name, String(at));
      found.append(dot);
    };
    return { picture: found, follow };
  }

  class Multiples {
    /**
     * @param {string} id Name of the place.
     * @param {Record<string, string>} kinds Words of each kind of chart.
     * @param {(kind: string) => Panel[]} panelsOf
     * @param {any} view Visible systems.
     */
    constructor(id, kinds, panelsOf, view) {
      this.place = /** @type {HTMLDetailsElement | null} */ (document.getElementById(id));
      this.panelsOf = panelsOf;
      this.view = view;
      this.point = /** @type {any} */ (null);
      this.panels = /** @type {any[]} */ ([]);
      if (!this.place) return;
      this.box = /** @type {HTMLSelectElement} */ (this.place.querySelector("select"));
      for (const [name, words] of Object.entries(kinds)) this.box.append(Dom.element("option", { value: name }, words));
      this.box.addEventListener("change", () => this.draw());
      this.place.addEventListener("toggle", () => this.draw());
      document.addEventListener("theme", () => this.draw());
      document.addEventListener("shown", () => this.draw());
      this.place.hidden = panelsOf(Object.keys(kinds)[0]).length < 2;
    }

    /** Draw all panels, if they are open. */
    draw() {
      if (!this.place?.open || !this.box) return;
      const all = this.panelsOf(this.box.value);
      if (!all.length) return;
      const range = all[0].plot.range(all.flatMap(({ systems }) => systems));
      const at = {
        x: (/** @type {number} */ one) => BOX[0] + ((one - range.x[0]) / (range.x[1] - range.x[0])) * (BOX[2] - BOX[0]),
        y: (/** @type {number} */ one) => BOX[3] - ((one - range.y[0]) / (range.y[1] - range.y[0])) * (BOX[3] - BOX[1]),
      };
      this.panels = all.map((one) => this.panelOf(one, range, at));
      this.place.querySelector(".multiples")?.replaceChildren(...this.panels.map(({ button }) => button));
      this.follow(this.point);
    }

    /** @param {Panel} panel @param {any} range @param {any} at */
    panelOf({ name, plot, systems, choose, isChosen }, range, at) {
      const button = Dom.element("button", { type: "button", "aria-pressed": String(isChosen()) });
      button.addEventListener("click", choose);
      const shown = systems.filter((_, k) => this.view.shown[k]).map((one) => ({ ...one, color: Dom.visible(one.color) }));
      const picture = drawn("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, "aria-hidden": "true", "font-size": 10, fill: "currentColor" });
      const some = (/** @type {any} */ axis, /** @type {number[]} */ ends) => {
        const found = axis.splits(...ends).filter((/** @type {number} */ one) => one >= ends[0] && one <= ends[1]);
        return found.filter((/** @type {number} */ _, /** @type {number} */ k) => k % Math.ceil(found.length / 5) === 0);
      };
      for (const one of some(plot.x, range.x)) picture.append(drawn("path", { d: `M${at.x(one)} ${BOX[1]}V${BOX[3]}`, class: "grid" }), drawn("text", { x: at.x(one), y: HIGH - 6, "text-anchor": "middle" }, plot.x.write(one)));
      for (const one of some(plot.y, range.y)) picture.append(drawn("path", { d: `M${BOX[0]} ${at.y(one)}H${BOX[2]}`, class: "grid" }), drawn("text", { x: BOX[0] - 5, y: at.y(one) + 3, "text-anchor": "end" }, plot.y.write(one)));
      const inside = drawn("svg", { x: BOX[0], y: BOX[1], width: BOX[2] - BOX[0], height: BOX[3] - BOX[1], viewBox: `${BOX[0]} ${BOX[1]} ${BOX[2] - BOX[0]} ${BOX[3] - BOX[1]}`, fill: "none" });
      if (plot.reference) inside.append(drawn("path", { d: Export.pathOf({ x: plot.reference(...range.x).map((/** @type {number[]} */ [one]) => one), y: plot.reference(...range.x).map((/** @type {number[]} */ [, one]) => one) }, at), stroke: "currentColor", "stroke-dasharray": "2 3" }));
      for (const one of shown) for (const line of plot.lines(one).filter((/** @type {any} */ own) => !(plot.isQuiet && own.dash && shown.length > 4))) inside.append(drawn("path", { d: Export.pathOf(line, at), stroke: one.color, "stroke-width": line.dash ? 1 : 1.5, "stroke-dasharray": line.dash ? "4 3" : "none" }));
      const marks = drawn("g", {});
      inside.append(marks);
      picture.append(inside);
      button.append(Dom.put(Dom.element("b", {}), name), picture);
      return { button, plot, shown, marks, at };
    }

    /** Move the marks to the operating point. @param {any} point */
    follow(point) {
      this.point = point;
      if (!point || !this.place?.open) return;
      for (const { plot, shown, marks, at } of this.panels) {
        const dots = shown.flatMap((/** @type {any} */ one) => plot.marks(one, point).map((/** @type {number[]} */ [x, y]) => drawn("circle", { cx: at.x(x), cy: at.y(y), r: 3, fill: one.color })));
        marks.replaceChildren(...dots.filter((/** @type {Element} */ one) => !`${one.getAttribute("cx")}${one.getAttribute("cy")}`.includes("NaN")));
      }
    }
  }

  return { Multiples, spark };
})();
