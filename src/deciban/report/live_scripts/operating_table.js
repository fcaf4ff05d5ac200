// @ts-check
"use strict";
/** Metrics of each system at the operating point: the section with its table, and the numbers of the cards. */
const OperatingTable = (() => {
  const { count, interval, number, percent, prior } = Numbers;
  const { asCommand, boundsOf } = OperatingPoints;

  /** Write an expected number of trials, which can be fractional. @param {number} value */
  const expected = (value) => number(value, value < 100 ? 2 : 0);

  /** @param {number} value */
  const digits5 = (value) => number(value, 5);

  /** Write bounds of a metric that is not known exactly. @param {number[] | undefined} ends @param {(value: number) => string} write */
  const within = (ends, write) => (ends && ends[0] !== ends[1] ? `from ${write(Math.min(...ends))} to ${write(Math.max(...ends))}` : "");

  /** Return the interval at the nearest place of the grid, extended to contain the rate. @param {any} system @param {string} name @param {any} point @param {number} rate */
  function withInterval(system, name, { place: k }, rate) {
    const ends = system.interval[name];
    return ends ? interval(Math.min(ends[0][k], rate), Math.max(ends[1][k], rate), percent) : "";
  }

  /** Cells of a system, by metric. @type {Record<string, (found: any, system: any, point: any, bounds: any) => [string, string]>} */
  const CELLS = {
    p_miss: (found, system, point) => [percent(found.p_miss), withInterval(system, "p_miss", point, found.p_miss)],
    n_miss: (found, system, _, bounds) => [`${count(found.n_miss)} of ${count(system.n_tar)}`, within(bounds.n_miss, count)],
    p_fa: (found, system, point) => [percent(found.p_fa), withInterval(system, "p_fa", point, found.p_fa)],
    n_fa: (found, system, _, bounds) => [`${count(found.n_fa)} of ${count(system.n_non)}`, within(bounds.n_fa, count)],
    act_dcf: (found, _system, _point, bounds) => [number(found.act_dcf), within(bounds.act_dcf, digits5)],
    min_dcf: (found) => [number(found.min_dcf), ""],
    calibration_loss: (found) => [number(found.calibration_loss), ""],
    expected_misses: (found) => [expected(found.expected_misses), ""],
    expected_false_alarms: (found) => [expected(found.expected_false_alarms), ""],
    targets_among_accepted: (found) => [percent(found.targets_among_accepted), ""],
  };

  class OperatingTable {
    /** @param {any} data @param {(index: number | null) => void} light Highlights a system in the charts. */
    constructor(data, light) {
      this.data = data;
      this.section = /** @type {HTMLElement} */ (document.getElementById("operating-point"));
      this.sparkled = [...data.log_odds.keys()].filter((k) => k % 6 === 0 && Math.abs(data.log_odds[k]) <= 7);
      const { systems } = data.sets[0];
      this.rows = systems.map((/** @type {any} */ system, /** @type {number} */ index) => this.rowOf(system, index, light));
      this.onCards = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-live]")]).map((place) => ({
        place,
        name: place.dataset.live ?? "",
        index: systems.findIndex((/** @type {any} */ system) => system.name === place.dataset.of),
      }));
      this.place("copy").addEventListener("click", () => this.copy());
      this.section.hidden = false;
    }

    /** @param {string} name @returns {any} */
    place(name) {
      return this.section.querySelector(`[data-place="${name}"]`);
    }

    /** @param {any} system @param {number} index @param {(index: number | null) => void} light */
    rowOf(system, index, light) {
      const row = this.place("rows").insertRow();
      const head = Dom.element("th", { scope: "row" });
      head.append(Figures.named(system));
      row.append(head);
      row.addEventListener("mouseenter", () => light(index));
      row.addEventListener("mouseleave", () => light(null));
      const cells = Object.keys(CELLS).map((figure) => {
        const cell = row.insertCell();
        cell.dataset.figure = figure;
        cell.dataset.system = system.name;
        const [text, ends] = [document.createTextNode(""), Dom.element("small", { class: "interval" })];
        cell.append(text, ends);
        return { figure, cell, text, ends };
      });
      return { cells, spark: row.insertCell() };
    }

    /** @param {any[]} systems @param {any} point @param {any[]} found Metrics of each system. @param {number} total */
    show(systems, point, found, total) {
      systems.forEach((system, index) => {
        const bounds = boundsOf(system, point);
        for (const { figure, cell, text, ends } of this.rows[index].cells) {
          const [written, bracket] = CELLS[figure](found[index], system, point, bounds);
          if (text.data !== written) text.data = written;
          if (ends.textContent !== bracket) ends.textContent = bracket;
          cell.dataset.value = String(found[index][figure]);
        }
        this.sparkle(this.rows[index], system, point);
      });
      for (const { place, name, index } of this.onCards) if (index >= 0) place.textContent = number(found[index][name]);
      for (const one of this.section.querySelectorAll("[data-place=total]")) one.textContent = count(total);
      const decides = Math.abs(point.logOdds) < 1e-12 ? "either decision" : point.logOdds < 0 ? "rejecting all" : "accepting all";
      /** @type {Record<string, [number, string]>} */
      const facts = {
        threshold: [point.threshold, this.data.nats ? `${number(point.threshold)} nats` : `${number(point.threshold * Math.LOG10E)} in log10`],
        prior: [point.p, prior(point.p)],
        effective_prior: [point.effective, prior(point.effective)],
        default_cost: [point.defaultCost, `${Numbers.general(point.defaultCost, 4)} (${decides})`],
      };
      for (const [figure, [value, text]] of Object.entries(facts)) {
        this.place(figure).textContent = text;
        this.place(figure).dataset.value = String(value);
      }
    }

    /** Draw the cost over the prior, or move its dot. @param {any} row @param {any} system @param {any} point */
    sparkle(row, system, point) {
      const color = Dom.visible(system.color);
      if (row.drawn !== system || row.color !== color) {
        const [xs, ys] = [this.data.log_odds, system.act_dcf].map((some) => this.sparkled.map((k) => some[k]));
        Object.assign(row, { drawn: system, color, line: Multiples.spark(xs, ys, color) });
        row.spark.replaceChildren(row.line.picture);
      }
      row.line.follow(point.logOdds);
    }

    /** @param {any} point @param {PointChoice} choice @param {any[]} systems @param {any} conditions */
    describe(point, choice, systems, conditions) {
      this.place("moved").textContent = this.whereInWords(point, choice, systems);
      this.place("command").textContent = asCommand({ ...this.data, command: this.data.command + conditions.options }, choice);
      this.place("command-lacks").textContent = conditions.hasOptions ? "" : "Not available for this condition: no command-line option selects its trials.";
      this.place("copy").disabled = !conditions.hasOptions; // the command would not evaluate these trials
    }

    /** Describe the shown point, and differences from the chosen one. @param {any} point @param {PointChoice} choice @param {any[]} systems */
    whereInWords(point, choice, systems) {
      if (point.isMoved) {
        return `Shown at prior ${prior(point.p)}, the nearest to ${prior(choice.p)} with counted errors. The command below evaluates at ${prior(choice.p)}.`;
      }
      const hasIntervals = !point.isOnGrid && systems.some((one) => Object.keys(one.interval).length);
      const areBounded = systems.some((one) => Object.keys(boundsOf(one, point)).length);
      return [
        "Shown at exactly this point.",
        hasIntervals ? `Intervals are at effective prior ${prior(this.data.priors[point.place])}, the nearest one with intervals.` : "",
        areBounded ? "Values with bounds below them are interpolated, because not all scores fit on this page. The command below prints exact values." : "",
      ].filter(Boolean).join(" ");
    }

    async copy() {
      const said = this.place("copied");
      try {
        await navigator.clipboard.writeText(this.place("command").textContent);
        said.textContent = "Copied.";
      } catch {
        getSelection()?.selectAllChildren(this.place("command"));
        said.textContent = "The browser does not allow pages to copy. The command is selected: press Ctrl+C.";
      }
    }
  }

  return { OperatingTable };
})();
