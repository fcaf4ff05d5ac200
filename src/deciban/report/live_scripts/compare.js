// @ts-check
"use strict";
/**
 * Comparison of any two systems: at the operating point, by paired differences of metrics, and by the difference of curves.
 *
 * @typedef {{figures: Record<string, {words: string, write: (value: number | null) => string, factor: number, digits: number}>,
 *   valuesOf: (system: any, point: any) => Record<string, number | null>, everything: string}} ComparedFigures
 */
const Compare = (() => {
  const { number, percent } = Numbers;
  const { figuresOf } = OperatingPoints;

  /** Metrics at the operating point. @type {ComparedFigures["figures"]} */
  const AT_POINT = {
    p_miss: { words: "miss rate", write: percent, factor: 100, digits: 2 },
    p_fa: { words: "false-alarm rate", write: percent, factor: 100, digits: 2 },
    act_dcf: { words: "actual cost", write: number, factor: 1, digits: 3 },
    min_dcf: { words: "minimum cost", write: number, factor: 1, digits: 3 },
    calibration_loss: { words: "actual − minimum cost", write: number, factor: 1, digits: 3 },
  };

  /** Two classes. @type {ComparedFigures} */
  const TWO_CLASSES = { everything: "all trials", figures: AT_POINT, valuesOf: (system, point) => figuresOf(system, point, 1) };

  const { plotOf, signed } = DifferencePlot;
  const GREY = "#59636e";

  class Compare {
    /**
     * @param {any} data
     * @param {ComparedFigures} how
     * @param {{x: any, y: any}} axes
     * @param {() => void} onChoice
     */
    constructor(data, how, axes, onChoice) {
      this.data = data;
      this.how = how;
      this.section = /** @type {HTMLElement | null} */ (document.getElementById("compare"));
      this.names = data.sets[0].systems.map((/** @type {any} */ one) => one.name);
      [this.first, this.second] = this.best = bestOf(data, this.names.length);
      this.isThere = Boolean(this.section) && this.names.length > 1;
      if (!this.section || !this.isThere) return;
      this.boxes = ["first", "second"].map((side) => /** @type {HTMLSelectElement} */ (this.section?.querySelector(`[name=${side}]`)));
      this.boxes.forEach((box) => {
        this.names.forEach((/** @type {string} */ name, /** @type {number} */ k) => box.append(Dom.element("option", { value: String(k) }, name)));
        box.addEventListener("change", () => {
          const [first, second] = this.boxes?.map((one) => Number(one.value)) ?? this.best;
          // A system is not compared with itself: the other box takes the previous system.
          if (first === second) this.choose(box === this.boxes?.[0] ? first : this.second, box === this.boxes?.[0] ? this.first : second);
          else this.choose(first, second);
          onChoice();
        });
      });
      this.figure = /** @type {HTMLElement} */ (this.section.querySelector("figure"));
      this.plot = plotOf(axes);
      this.chart = null;
      this.view = { shown: [true, true], lit: /** @type {number | null} */ (null), bands: true };
      this.figure.addEventListener("lit", (/** @type {any} */ event) => {
        event.stopPropagation(); // this event is about curves, not about systems of the other charts
        this.view.lit = event.detail;
        this.chart?.refresh();
      });
      this.section.hidden = false;
      addEventListener("beforeprint", () => {
        this.isSeen = true;
        if (!this.chart) this.draw();
        this.figure?.querySelector(".printed")?.remove();
        if (this.chart) this.chart.frame.before(Export.printedOf(this.chart));
      });
      new IntersectionObserver((seen, watching) => {
        if (!seen.some((one) => one.isIntersecting)) return;
        watching.disconnect();
        this.isSeen = true;
        this.draw();
      }, { rootMargin: "400px" }).observe(this.section);
    }

    /** @param {string} name @returns {any} */
    place(name) {
      return this.section?.querySelector(`[data-place="${name}"]`);
    }

    /** Return the pair for the address. @param {boolean} isChosen */
    linked(isChosen) {
      return { first: isChosen ? Links.nameOf(this.names, this.first) : null, second: isChosen ? Links.nameOf(this.names, this.second) : null };
    }

    /** @param {string | null} first @param {string | null} second */
    chooseNamed(first, second) {
      if (!this.isThere) return;
      const found = [first, second].map((name) => Links.placeOf(this.names, name));
      if (found.every((k) => k >= 0) && found[0] !== found[1]) this.choose(found[0], found[1]);
      else this.choose(this.best[0], this.best[1]);
    }

    /** @param {number} first @param {number} second */
    choose(first, second) {
      this.first = first;
      this.second = second;
      this.boxes?.forEach((box, k) => {
        box.value = String(k ? second : first);
        this.section?.querySelectorAll(`[data-side="${k}"]`).forEach((heading) => Dom.put(/** @type {HTMLElement} */ (heading), this.names[k ? second : first]));
      });
      this.show();
      this.draw();
      if (this.systems) this.follow(this.systems, this.point, this.trials);
    }

    /** Return the chosen pair, first minus second; null if it was not computed. */
    pair() {
      const known = this.data.compared?.pairs ?? [];
      return known.find(({ of: [one, other] }) => one === this.first && other === this.second) ?? turned(known.find(({ of: [one, other] }) => one === this.second && other === this.first));
    }

    show() {
      const pair = this.pair();
      this.place("figures").hidden = !pair;
      this.figure?.toggleAttribute("hidden", !pair?.curves.length);
      const why = this.data.compared
        ? "These two were not compared: with more than ten systems, each is compared with the first one only."
        : "No significance test: it needs units that all systems share, such as speakers.";
      const areSome = this.data.compared?.pairs.some((/** @type {any} */ one) => one.curves.length);
      const more = pair && areSome && !pair.curves.length ? ["With more than six systems, only pairs with the best one have a curve of differences."] : [];
      const lines = pair ? [...pair.sentences, ...more] : [why];
      this.place("words").replaceChildren(...lines.map((/** @type {string} */ one) => Dom.element("li", {}, one)));
      if (!pair) return;
      this.place("caption").textContent = `${this.data.compared.caption} Of ${this.how.everything}.`;
      this.place("figures").querySelector("tbody").replaceChildren(
        ...pair.rows.map((/** @type {string[]} */ [figure, first, second, difference, bounds, p]) => {
          const row = Dom.element("tr", {});
          const last = Dom.element("td", {}, difference);
          last.append(Dom.element("small", { class: "interval" }, bounds));
          row.append(Dom.element("th", { scope: "row" }, figure), Dom.element("td", {}, first), Dom.element("td", {}, second), last, Dom.element("td", {}, p));
          return row;
        }),
      );
    }

    draw() {
      const pair = this.isSeen ? this.pair() : null;
      if (!pair || !pair.curves.length || !this.figure) return;
      // The colours of systems mean systems: both curves are grey, and the second one is dashed.
      const curves = pair.curves.map((/** @type {any} */ one, /** @type {number} */ k) => ({ ...one, name: one.about, color: GREY, isDashed: k === 1 }));
      this.figure.classList.add("live");
      if (this.chart) this.chart.replace(curves);
      else this.chart = new Charts.Chart(this.figure, this.plot, curves, this.view);
      this.chart.follow(this.point);
    }

    /** @param {any[]} systems @param {any} point @param {string} trials */
    follow(systems, point, trials) {
      this.systems = systems;
      this.point = point;
      this.trials = trials;
      if (!this.isThere) return;
      const found = [this.first, this.second].map((k) => this.how.valuesOf(systems[k], point));
      this.lines ??= Object.entries(this.how.figures).map(([name, how]) => {
        const row = this.place("at-point").insertRow();
        row.append(Dom.element("th", { scope: "row" }, how.words));
        return { name, how, cells: [0, 1, 2].map(() => row.insertCell()) };
      });
      for (const { name, how, cells } of this.lines) {
        const [first, second] = found.map((one) => one[name]);
        cells[0].textContent = how.write(first);
        cells[1].textContent = how.write(second);
        cells[2].textContent = first === null || second === null ? Numbers.MISSING : `${signed(how.factor * (first - second), how.digits)}${how.factor === 100 ? " pp" : ""}`;
        cells[2].dataset.difference = name;
      }
      this.place("which-trials").textContent = trials;
      this.chart?.follow(point);
    }
  }

  /** Return the two systems that lead the ranking; the first two if there is none. @param {any} data @param {number} n */
  function bestOf({ forest }, n) {
    const [values] = Object.values(forest ?? {});
    if (n <= 3 || values?.length !== n) return [0, 1];
    return [...values.keys()].sort((one, other) => (values[one][0] ?? Infinity) - (values[other][0] ?? Infinity)).slice(0, 2);
  }

  /** Return the same pair in reverse order. @param {any} pair */
  function turned(pair) {
    if (!pair) return null;
    const minus = (/** @type {string} */ text) => (text.startsWith("+") ? `\u2212${text.slice(1)}` : text.startsWith("\u2212") ? `+${text.slice(1)}` : text);
    const bounds = (/** @type {string} */ text) => {
      const ends = text.replace(/^\[|\]$/g, "").split(", ");
      const other = (/** @type {string} */ one) => (one.startsWith("\u2212") ? one.slice(1) : /^[0.]+$/.test(one) || one === "" ? one : `\u2212${one}`);
      return text ? `[${other(ends[1])}, ${other(ends[0])}]` : "";
    };
    const opposite = (/** @type {number[]} */ values) => values.map((one) => (one === 0 ? 0 : -one));
    return {
      ...pair,
      rows: pair.rows.map(([figure, first, second, difference, ends, p]) => [figure, second, first, minus(difference), bounds(ends), p]),
      curves: pair.curves.map((/** @type {any} */ one) => ({ ...one, difference: opposite(one.difference), low: opposite(one.high), high: opposite(one.low) })),
    };
  }

  return { Compare, TWO_CLASSES };
})();
