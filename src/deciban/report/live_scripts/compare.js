// @ts-check
"use strict";
/**
 * Any two systems: at the operating point, by paired differences of figures, and by the difference of curves.
 *
 * @typedef {{figures: Record<string, {words: string, write: (value: number | null) => string, factor: number, digits: number}>,
 *   valuesOf: (system: any, point: any) => Record<string, number | null>, everything: string}} ComparedFigures
 */
const Compare = (() => {
  const { interval, number, percent } = Numbers;
  const { figuresOf } = OperatingPoints;

  /** Figures at the operating point. @type {ComparedFigures["figures"]} */
  const AT_POINT = {
    p_miss: { words: "miss rate", write: percent, factor: 100, digits: 2 },
    p_fa: { words: "false-alarm rate", write: percent, factor: 100, digits: 2 },
    act_dcf: { words: "actual cost", write: number, factor: 1, digits: 3 },
    min_dcf: { words: "minimum cost", write: number, factor: 1, digits: 3 },
    calibration_loss: { words: "calibration loss", write: number, factor: 1, digits: 3 },
  };

  /** Of two classes. @type {ComparedFigures} */
  const TWO_CLASSES = { everything: "all trials", figures: AT_POINT, valuesOf: (system, point) => figuresOf(system, point, 1) };

  /** @param {number} value @param {number} digits */
  const signed = (value, digits) => {
    const text = number(value, digits);
    return value > 0 && Number(text.replaceAll(",", "")) !== 0 ? `+${text}` : text;
  };

  /** Differences of curves over the prior with their bands. @param {{x: any, y: any}} priors */
  function plotOf(priors) {
    const ends = (/** @type {any[]} */ curves) => curves.flatMap((one) => [...one.low, ...one.high, 0]).sort((one, other) => one - other);
    return {
      x: priors.x,
      y: { ...priors.y, label: "First minus second" },
      range: (/** @type {any[]} */ curves) => {
        // The ends of bands may reach far beyond what is of interest.
        const all = ends(curves);
        const [low, high] = [all[Math.floor(0.02 * all.length)], all[Math.ceil(0.98 * (all.length - 1))]];
        const margin = 0.08 * (high - low) || 0.1;
        return { x: [Math.min(...curves[0].x), Math.max(...curves[0].x)], y: [low - margin, high + margin] };
      },
      lines: (/** @type {any} */ one) => [{ x: one.x, y: one.difference, dash: one.isDashed, band: [[one.x, one.low], [one.x, one.high]] }],
      readings: (/** @type {any} */ one) =>
        one.x.map((/** @type {number} */ x, /** @type {number} */ k) => {
          const share = Numbers.prior(OperatingPoints.expit(x));
          const bounds = interval(one.low[k], one.high[k], number);
          return { x, y: one.difference[k], text: `prior ${share}: difference ${signed(one.difference[k], 3)} ${bounds}` };
        }),
      marks: (/** @type {any} */ one, /** @type {any} */ { logOdds }) => {
        const at = one.x.findIndex((/** @type {number} */ x) => x >= logOdds);
        if (at < 0 || (at === 0 && one.x[0] > logOdds)) return [];
        if (one.x[at] === logOdds || at === 0) return [[one.x[at], one.difference[at]]];
        const share = (logOdds - one.x[at - 1]) / (one.x[at] - one.x[at - 1]);
        return [[logOdds, one.difference[at - 1] + share * (one.difference[at] - one.difference[at - 1])]];
      },
      reference: (/** @type {number} */ low, /** @type {number} */ high) => [[low, 0], [high, 0]],
    };
  }

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
      this.first = 0;
      this.second = 1;
      this.isThere = Boolean(this.section) && this.names.length > 1;
      if (!this.section || !this.isThere) return;
      this.boxes = ["first", "second"].map((side) => /** @type {HTMLSelectElement} */ (this.section?.querySelector(`[name=${side}]`)));
      this.boxes.forEach((box) => {
        this.names.forEach((/** @type {string} */ name, /** @type {number} */ k) => box.append(Charts.element("option", { value: String(k) }, name)));
        box.addEventListener("change", () => {
          const [first, second] = this.boxes?.map((one) => Number(one.value)) ?? [0, 1];
          // Nobody is compared with itself: the other one takes the place that became free.
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
        event.stopPropagation(); // these are curves, not systems of the other charts
        this.view.lit = event.detail;
        this.chart?.refresh();
      });
      this.section.hidden = false;
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

    /** What an address says of the pair. @param {boolean} isChosen */
    linked(isChosen) {
      return { first: isChosen ? Links.nameOf(this.names, this.first) : null, second: isChosen ? Links.nameOf(this.names, this.second) : null };
    }

    /** @param {string | null} first @param {string | null} second */
    chooseNamed(first, second) {
      if (!this.isThere) return;
      const found = [first, second].map((name) => Links.placeOf(this.names, name));
      if (found.every((k) => k >= 0) && found[0] !== found[1]) this.choose(found[0], found[1]);
      else this.choose(0, 1);
    }

    /** @param {number} first @param {number} second */
    choose(first, second) {
      this.first = first;
      this.second = second;
      this.boxes?.forEach((box, k) => {
        box.value = String(k ? second : first);
        this.section?.querySelectorAll(`[data-side="${k}"]`).forEach((heading) => Charts.put(/** @type {HTMLElement} */ (heading), this.names[k ? second : first]));
      });
      this.show();
      this.draw();
      if (this.systems) this.follow(this.systems, this.point, this.trials);
    }

    /** The pair that was chosen, first minus second; null where none was computed. */
    pair() {
      const known = this.data.compared?.pairs ?? [];
      return known.find(({ of: [one, other] }) => one === this.first && other === this.second) ?? turned(known.find(({ of: [one, other] }) => one === this.second && other === this.first));
    }

    show() {
      const pair = this.pair();
      this.place("figures").hidden = !pair;
      this.figure?.toggleAttribute("hidden", !pair?.curves.length);
      const why = this.data.compared
        ? "These two were not compared in pairs: of more than ten systems, each is compared with the first one alone."
        : "Which one is better beyond doubt is not known: that needs units, such as speakers (--units), that all systems share.";
      const lines = pair ? pair.sentences : [why];
      this.place("words").replaceChildren(...lines.map((/** @type {string} */ one) => Charts.element("li", {}, one)));
      if (!pair) return;
      this.place("caption").textContent = `${this.data.compared.caption} Of ${this.how.everything}.`;
      this.place("figures").querySelector("tbody").replaceChildren(
        ...pair.rows.map((/** @type {string[]} */ [figure, first, second, difference, bounds, p]) => {
          const row = Charts.element("tr", {});
          const last = Charts.element("td", {}, difference);
          last.append(Charts.element("small", { class: "interval" }, bounds));
          row.append(Charts.element("th", { scope: "row" }, figure), Charts.element("td", {}, first), Charts.element("td", {}, second), last, Charts.element("td", {}, p));
          return row;
        }),
      );
    }

    draw() {
      const pair = this.isSeen ? this.pair() : null;
      if (!pair || !pair.curves.length || !this.figure) return;
      const colors = ["#0072B2", "#D55E00"];
      const curves = pair.curves.map((/** @type {any} */ one, /** @type {number} */ k) => ({ ...one, name: one.about, color: colors[k % 2], isDashed: k === 1 }));
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
        row.append(Charts.element("th", { scope: "row" }, how.words));
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

  /** The same pair the other way round. @param {any} pair */
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
