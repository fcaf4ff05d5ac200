// @ts-check
"use strict";
/**
 * Many systems, the best one first: a point and an interval of a metric that is chosen by tabs.
 *
 * @typedef {Record<string, {words: string, write: (value: number | null) => string, here?: (system: any, point: any) => number | null}>} Ranked
 */
const Forest = (() => {
  const { figuresOf } = OperatingPoints;
  const { number, percent, interval } = Numbers;

  /** @param {"act_dcf" | "min_dcf"} name @returns {(system: any, point: any) => number | null} */
  const atPoint = (name) => (system, point) => figuresOf(system, point, 1)[name];

  /** Two classes; costs are at the chosen point. @type {Ranked} */
  const TWO_CLASSES = {
    eer: { words: "EER", write: percent },
    act_dcf: { words: "Actual cost", write: number, here: atPoint("act_dcf") },
    min_dcf: { words: "Minimum cost", write: number, here: atPoint("min_dcf") },
    cllr: { words: "Cllr", write: number },
    min_cllr: { words: "min Cllr", write: number },
  };

  /** @type {Ranked} */
  const CLASSES = {
    error_rate: { words: "Error rate", write: percent },
    c_avg: { words: "C_avg", write: (value) => number(value, 4) },
    cllr: { words: "Cllr", write: number },
    min_cllr: { words: "min Cllr", write: number },
  };

  class Forest {
    /** @param {any} data @param {Ranked} ranked */
    constructor(data, ranked) {
      this.data = data;
      this.ranked = ranked;
      this.metric = Object.keys(ranked)[0];
      this.root = /** @type {HTMLElement | null} */ (document.querySelector(".forest"));
      if (!this.root || !data.forest) return;
      const names = data.sets[0].systems.map((/** @type {any} */ one) => one.name);
      this.rows = /** @type {HTMLElement[]} */ ([...this.root.querySelectorAll("tbody tr")]).map((row) => ({ row, k: names.indexOf(row.dataset.of) }));
      this.rows.forEach(({ row, k }) => {
        row.addEventListener("mouseenter", () => row.dispatchEvent(new CustomEvent("lit", { bubbles: true, detail: k })));
        row.addEventListener("mouseleave", () => row.dispatchEvent(new CustomEvent("lit", { bubbles: true, detail: null })));
      });
      document.addEventListener("lit", (/** @type {any} */ event) => this.rows?.forEach(({ row, k }) => row.classList.toggle("lit", k === event.detail)));
      document.addEventListener("theme", () => this.paint());
      const list = /** @type {HTMLElement} */ (this.root.querySelector("[role=tablist]"));
      this.tabs = Object.entries(ranked).map(([name, { words }]) => {
        const tab = Dom.element("button", { type: "button", role: "tab", id: `rank-${name}`, "aria-controls": "forest", "data-metric": name }, words);
        list.append(tab);
        return tab;
      });
      Figures.onTabs(this.tabs, (tab) => {
        this.metric = tab.dataset.metric ?? this.metric;
        this.show();
      });
      this.paint();
    }

    paint() {
      this.rows?.forEach(({ row, k }) => row.style.setProperty("--of", Dom.visible(this.data.sets[0].systems[k].color)));
    }

    /**
     * Show the metrics of the chosen trials at the chosen point.
     * @param {any[]} systems
     * @param {any} point
     * @param {any} condition Row of the condition; null for all trials.
     * @param {boolean} isFirst True at the first operating point of the evaluation, whose costs have intervals.
     */
    follow(systems, point, condition, isFirst) {
      const isSame = !this.ranked[this.metric].here && this.now?.systems === systems && this.now.condition === condition;
      this.now = { systems, point, condition, isFirst };
      if (!isSame) this.show();
    }

    /** @param {number} k @returns {(number | null)[]} */
    valueOf(k) {
      const { systems, point, condition, isFirst } = /** @type {any} */ (this.now);
      const { here } = this.ranked[this.metric];
      const known = this.data.forest[this.metric][k];
      if (here) return [here(systems[k], point), ...(isFirst && !condition ? known.slice(1) : [null, null])];
      return condition ? [condition.figures[this.metric]?.[k] ?? null, null, null] : known;
    }

    show() {
      if (!this.rows || !this.now || !this.root) return;
      const { words, write, here } = this.ranked[this.metric];
      const found = this.rows.map(({ row, k }) => ({ row, values: this.valueOf(k) }));
      // A long interval is cut off, so that the points of all systems can be distinguished.
      const most = (/** @type {number} */ end) => Math.max(...found.map(({ values }) => values[end] ?? 0));
      const highest = Math.max(most(0), Math.min(most(2), 1.5 * most(0))) || 1;
      const axis = Axes.linear("", write === percent ? 100 : 1);
      const ticks = axis.splits(0, highest).filter((_, at, all) => all.length < 6 || at % 2 === 0);
      const share = (/** @type {number} */ value) => `${(94 * value) / highest}%`;
      this.place(".axis span").replaceChildren(...ticks.map((tick) => {
        const mark = Dom.element("i", { "aria-hidden": "true" }, axis.write(tick));
        mark.style.left = share(tick);
        return mark;
      }));
      this.root.style.setProperty("--step", ticks.length > 1 ? share(ticks[1]) : "100%");
      this.place("[data-place=metric]").textContent = words;
      found.sort(({ values: [one] }, { values: [other] }) => (one ?? 1e99) - (other ?? 1e99));
      for (const { row, values: [value, low, high] } of found) {
        const [range, dot] = /** @type {HTMLElement[]} */ ([...row.querySelectorAll(".range > *")]);
        dot.hidden = value === null;
        range.hidden = low === null || high === null;
        if (value !== null) dot.style.left = share(value);
        if (low !== null && high !== null) Object.assign(range.style, { left: share(low), width: share(Math.min(high, 1.06 * highest) - low) });
        const ends = low === null ? [] : [Dom.element("small", { class: "interval" }, interval(low, high, write))];
        row.querySelector("[data-place=value]")?.replaceChildren(write(value), ...ends);
      }
      if (found.some(({ row }, at) => row !== row.parentElement?.children[at])) for (const { row } of found) row.parentElement?.append(row);
      for (const tab of this.tabs ?? []) {
        const isChosen = tab.dataset.metric === this.metric;
        tab.setAttribute("aria-selected", String(isChosen));
        tab.tabIndex = isChosen ? 0 : -1;
      }
      const lacks = (this.now.condition || (here && !this.now.isFirst)) && this.data.level !== null;
      this.place("[data-place=forest-words]").textContent = lacks ? "Intervals are shown for all trials, and for costs at the first operating point of the evaluation." : "";
    }

    /** @param {string} selector @returns {HTMLElement} */
    place(selector) {
      return /** @type {HTMLElement} */ (this.root?.querySelector(selector));
    }
  }

  return { CLASSES, Forest, TWO_CLASSES };
})();
