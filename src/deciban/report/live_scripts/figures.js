// @ts-check
"use strict";
/** All charts of a page: tabs, drawing of charts that come into sight, and the choice of systems and bands. */
const Figures = (() => {
  /** Show the chart of the tab that is chosen, in each list of tabs. @param {Element} list */
  function byTabs(list) {
    const tabs = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("[role=tab]")]);
    const choose = (/** @type {HTMLElement} */ chosen) => {
      for (const tab of tabs) {
        const isChosen = tab === chosen;
        tab.setAttribute("aria-selected", String(isChosen));
        tab.tabIndex = isChosen ? 0 : -1;
        const panel = document.getElementById(tab.getAttribute("aria-controls") ?? "");
        if (panel) panel.hidden = !isChosen;
      }
    };
    onTabs(tabs, choose);
  }

  /** Choose tabs by pointer and arrow keys. @param {HTMLElement[]} tabs @param {(chosen: HTMLElement) => void} choose */
  function onTabs(tabs, choose) {
    tabs.forEach((tab, k) => {
      tab.addEventListener("click", () => choose(tab));
      tab.addEventListener("keydown", (event) => {
        const next = { ArrowRight: k + 1, ArrowLeft: k - 1, Home: 0, End: tabs.length - 1 }[event.key];
        if (next === undefined) return;
        event.preventDefault();
        const chosen = tabs[(next + tabs.length) % tabs.length];
        choose(chosen);
        chosen.focus();
      });
    });
  }

  class Figures {
    /**
     * @param {Record<string, any>} plots
     * @param {any} view Visible systems, the highlighted one, and bands.
     * @param {() => {systems: any[], point: any}} now
     */
    constructor(plots, view, now) {
      this.plots = plots;
      this.view = view;
      this.now = now;
      this.isDrawn = true;
      /** @type {Map<Element, any>} */
      this.charts = new Map();
      this.places = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("figure[data-plot]")]).filter((one) => plots[one.dataset.plot ?? ""]);
      this.waiting = new IntersectionObserver((seen) => seen.filter((one) => one.isIntersecting).forEach((one) => this.open(/** @type {any} */ (one.target))), { rootMargin: "400px" });
      document.querySelectorAll("[role=tablist]:not([data-own])").forEach(byTabs);
      document.addEventListener("lit", (/** @type {any} */ event) => this.light(event.detail));
      document.addEventListener("theme", () => this.charts.forEach((chart) => chart.draw()));
      addEventListener("beforeprint", () => this.print());
      addEventListener("afterprint", () => document.querySelectorAll(".printed").forEach((one) => one.remove()));
    }

    /** Draw charts from now on. */
    watch() {
      for (const one of this.places) this.waiting.observe(one);
    }

    /** Draw a chart that comes into sight. @param {HTMLElement} figure */
    open(figure) {
      this.waiting.unobserve(figure);
      if (this.charts.has(figure)) return;
      const { systems, point } = this.now();
      figure.classList.add("live");
      const chart = new Charts.Chart(figure, this.plots[figure.dataset.plot ?? ""], systems, this.view);
      chart.follow(point);
      this.charts.set(figure, chart);
    }

    /** Put a drawing of each chart into the page, which scales to the paper. */
    print() {
      for (const figure of this.places) {
        this.open(figure);
        figure.querySelector(".printed")?.remove();
        this.charts.get(figure).frame.before(Export.printedOf(this.charts.get(figure)));
      }
    }

    /** Move the marks of all charts. @param {any} point */
    follow(point) {
      this.charts.forEach((chart) => chart.follow(point));
      this.tell();
    }

    /** Draw other systems, or the same ones anew. @param {(name: string) => boolean} [isConcerned] */
    replace(isConcerned = () => true) {
      const { systems, point } = this.now();
      this.charts.forEach((chart, figure) => {
        if (!isConcerned(/** @type {HTMLElement} */ (figure).dataset.plot ?? "")) return;
        chart.replace(systems);
        chart.follow(point);
      });
      this.tell();
    }

    /** Write the findings of charts into their titles. */
    tell() {
      const { systems, point } = this.now();
      const shown = systems.filter((_, k) => this.view.shown[k]);
      for (const figure of this.places) {
        const place = figure.querySelector("[data-place=finding]");
        if (place && shown.length) place.textContent = this.plots[figure.dataset.plot ?? ""].finding?.(shown, point) ?? "";
      }
    }

    /** Hide the first systems, for which the chosen trials have no curves. @param {number} n */
    only(n) {
      document.querySelectorAll("#chart-choices [name=system]").forEach((/** @type {any} */ box, k) => {
        box.disabled = k < n;
        this.view.shown[k] = box.checked && k >= n;
      });
    }

    /** Redraw all charts, once before the next frame. */
    refresh() {
      if (!this.isDrawn) return;
      this.isDrawn = false;
      requestAnimationFrame(() => {
        this.isDrawn = true;
        this.charts.forEach((chart) => chart.refresh());
      });
    }

    /** @param {number | null} index */
    light(index) {
      if (this.view.lit === index) return;
      this.view.lit = index;
      this.refresh();
    }

    /**
     * Fill the choice of systems and bands.
     * @param {(system: any) => HTMLElement} named
     * @param {boolean} hasBands
     */
    offer(named, hasBands) {
      const panel = document.getElementById("chart-choices");
      if (!panel || !this.places.length) return;
      this.now().systems.forEach((system, index) => {
        const label = Dom.element("label", {});
        const box = /** @type {HTMLInputElement} */ (Dom.element("input", { type: "checkbox", name: "system", value: String(index) }));
        box.checked = true;
        label.append(box, named(system));
        box.addEventListener("change", () => {
          this.view.shown[index] = box.checked;
          this.tell();
          this.refresh();
          document.dispatchEvent(new CustomEvent("shown"));
        });
        label.addEventListener("mouseenter", () => this.light(index));
        label.addEventListener("mouseleave", () => this.light(null));
        box.addEventListener("focus", () => this.light(index));
        box.addEventListener("blur", () => this.light(null));
        panel.querySelector("[data-place=systems]")?.append(label);
      });
      const bands = /** @type {HTMLInputElement} */ (panel.querySelector("[name=bands]"));
      bands.checked = this.view.bands;
      bands.addEventListener("change", () => {
        this.view.bands = bands.checked;
        this.refresh();
      });
      /** @type {HTMLElement} */ (bands.closest("label")).hidden = !hasBands;
      panel.hidden = false;
    }
  }

  /** Swatches of systems, whose colours are visible in light and dark. @type {{swatch: HTMLElement, color: string}[]} */
  const swatches = [];

  /** Colours that are visible on the paper of the page. */
  function paint() {
    for (const { swatch, color } of swatches) swatch.style.background = Dom.visible(color);
  }

  /** Return the name of a system with its colour. @param {any} system */
  function named(system) {
    const whole = Dom.element("span", { class: "system", title: system.name });
    const swatch = Dom.element("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = Dom.visible(system.color);
    swatches.push({ swatch, color: system.color });
    whole.append(swatch, Dom.put(Dom.element("span", {}), system.name));
    return whole;
  }

  for (const swatch of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("main .swatch"))) {
    const color = /#[0-9a-f]{6}/i.exec(swatch.getAttribute("style") ?? "")?.[0];
    if (color) swatches.push({ swatch, color });
  }
  document.addEventListener("theme", paint);
  paint();

  return { Figures, named, onTabs, paint };
})();
