// @ts-check
"use strict";
/**
 * Conditions: the numbers of one condition instead of all trials, and a map of all conditions by metric.
 *
 * @typedef {{name: string, by: string, trials: Record<string, number>, where: string[] | null, why_none: string,
 *   figures: Record<string, (number | null)[]>, set: number | null}} ConditionRow
 * @typedef {{figures: Record<string, {words: string, write: (value: number | null) => string, valueAt?: (system: any, point: any) => number | null}>,
 *   everything: string}} ConditionKind Metrics of the map for a kind of results
 */
const Conditions = (() => {
  const { count, number, percent, MISSING } = Numbers;
  const { figuresOf } = OperatingPoints;
  const MOST_CLASSES = 3;
  const NO_ROOM = "its numbers did not fit on this page; see the map and the tables below";

  /** Metrics of the map; at the operating point they are computed from its numbers. @type {ConditionKind["figures"]} */
  const FIGURES = {
    eer: { words: "EER (ROCCH)", write: percent },
    min_cllr: { words: "min Cllr (bits)", write: number },
    cllr: { words: "Cllr (bits)", write: number },
    act_dcf: { words: "actual cost at the operating point", write: number, valueAt: (system, point) => figuresOf(system, point, 1).act_dcf },
    min_dcf: { words: "minimum cost at the operating point", write: number, valueAt: (system, point) => figuresOf(system, point, 1).min_dcf },
  };

  /** Two classes. @type {ConditionKind} */
  const TWO_CLASSES = { figures: FIGURES, everything: "all trials" };

  /** Return the number of trials of each class as text. @param {Record<string, number>} trials */
  function trialsInWords(trials) {
    const found = Object.entries(trials);
    const all = count(found.reduce((sum, [, n]) => sum + n, 0));
    // With many classes, the matrix contains the number of segments of each class.
    return found.length > MOST_CLASSES ? `${all} segments of ${found.length} classes` : found.map(([name, n]) => `${count(n)} ${name}`).join(", ");
  }

  class Conditions {
    /**
     * @param {any} data
     * @param {ConditionKind} kind
     * @param {(at: number | null) => void} onChoice
     */
    constructor(data, kind, onChoice) {
      this.data = data;
      this.kind = kind;
      this.onChoice = onChoice;
      /** @type {ConditionRow[]} */
      this.rows = data.conditions?.rows ?? [];
      /** @type {number | null} */
      this.at = null;
      this.section = /** @type {HTMLElement | null} */ (document.getElementById("condition-map"));
      this.box = /** @type {HTMLSelectElement | null} */ (document.querySelector("[name=condition]"));
      if (!this.rows.length || !this.section || !this.box) return;
      this.cards = new Cards.Cards(data.sets[0].systems, kind);
      this.fillBox();
      this.fillMap();
      this.section.hidden = this.rows.every(({ by }) => !by);
      /** @type {HTMLElement} */ (this.box.closest(".field")).hidden = false;
    }

    /** @param {string} name @returns {any} */
    place(name) {
      return this.section?.querySelector(`[data-place="${name}"]`);
    }

    fillBox() {
      const box = /** @type {HTMLSelectElement} */ (this.box);
      let group = Dom.element("optgroup", {});
      this.rows.forEach((row, k) => {
        const label = row.by ? `by ${row.by}` : "other trials";
        if (group.getAttribute("label") !== label) {
          group = Dom.element("optgroup", { label });
          box.append(group);
        }
        const why = row.set === null ? ` (not available: ${row.why_none || "no room"})` : "";
        const option = Dom.element("option", { value: String(k) }, `${row.name}${why}`);
        if (row.set === null) option.setAttribute("disabled", "");
        group.append(option);
      });
      box.addEventListener("change", () => this.onChoice(box.value === "" ? null : Number(box.value)));
    }

    fillMap() {
      const figures = this.place("figure");
      for (const [name, { words }] of Object.entries(this.kind.figures)) figures.append(Dom.element("option", { value: name }, words));
      figures.addEventListener("change", () => this.paint());
      for (const system of this.data.sets[0].systems) {
        const head = Dom.element("th", { scope: "col" });
        const swatch = Dom.element("span", { class: "swatch", "aria-hidden": "true" });
        swatch.style.background = Dom.visible(system.color);
        const name = Dom.element("span", { class: "system", title: system.name });
        name.append(swatch, Dom.put(Dom.element("span", {}), system.name));
        head.append(name);
        this.place("systems").append(head);
      }
      const body = this.place("rows");
      this.lines = [null, ...[...this.rows.keys()].filter((at) => this.rows[at].by)].map((at) => {
        const row = at === null ? null : this.rows[at];
        const line = body.insertRow();
        const head = Dom.element("th", { scope: "row" });
        const canBeChosen = row === null || row.set !== null;
        const button = Dom.element(canBeChosen ? "button" : "span", canBeChosen ? { type: "button" } : {}, row?.name ?? this.kind.everything);
        const more = row ? (row.why_none ? `no metrics: ${row.why_none}` : trialsInWords(row.trials)) : "";
        head.append(button, Dom.element("small", {}, row && !row.why_none && row.set === null ? `${more}; ${NO_ROOM}` : more));
        line.append(head);
        if (canBeChosen) {
          line.className = "choosable";
          line.addEventListener("click", () => this.onChoice(at));
        }
        const cells = this.data.sets[0].systems.map((/** @type {any} */ system) => {
          const cell = line.insertCell();
          cell.dataset.condition = row?.name ?? "";
          cell.dataset.mapped = system.name;
          return cell;
        });
        return { at, line, button, cells };
      });
    }

    /** Return systems with the numbers of a condition, or of all trials. @param {number | null} at @returns {any[]} */
    systemsAt(at) {
      const place = at === null ? null : this.rows[at].set;
      return place === null ? this.data.sets[0].systems : this.data.conditions.sets[place].systems;
    }

    /** Return the index of a condition by its name; null for all trials. @param {string | null} name */
    named(name) {
      const at = this.rows.findIndex((row) => row.name === name && row.set !== null);
      return at < 0 ? null : at;
    }

    /** Description of the shown trials. */
    get words() {
      const row = this.at === null ? null : this.rows[this.at];
      if (row && !row.by) return `${row.name[0].toUpperCase()}${row.name.slice(1)}: ${trialsInWords(row.trials)}.`;
      return row ? `Only ${row.name}: ${trialsInWords(row.trials)}.` : `A${this.kind.everything.slice(1)}.`;
    }

    /** Command-line options that select these trials. */
    get options() {
      const row = this.at === null ? null : this.rows[this.at];
      return (row?.where ?? []).map((one) => ` --where '${one.replaceAll("'", "'\\''")}'`).join("");
    }

    /** True if command-line options can select these trials. */
    get hasOptions() {
      return this.at === null || this.rows[this.at].where !== null;
    }

    /** @param {number | null} at @param {any} point */
    choose(at, point) {
      this.at = at;
      this.point = point;
      if (!this.lines) return;
      this.cards?.show(at === null ? null : this.rows[at]);
      /** @type {HTMLSelectElement} */ (this.box).value = at === null ? "" : String(at);
      for (const one of this.lines) {
        const isChosen = one.at === at;
        one.line.classList.toggle("chosen", isChosen);
        if (one.button.tagName === "BUTTON") one.button.setAttribute("aria-pressed", String(isChosen));
      }
      this.paint();
    }

    /** @param {string} figure @param {number | null} at @param {number} k @returns {number | null} */
    valueAt(figure, at, k) {
      const { valueAt } = this.kind.figures[figure];
      if (valueAt) return at !== null && this.rows[at].set === null ? null : valueAt(this.systemsAt(at)[k], this.point);
      return at === null ? this.data.figures[figure][k] : this.rows[at].figures[figure][k];
    }

    /** Write the chosen metric into the cells, and colour them: the worst value has the strongest colour. */
    paint() {
      if (!this.lines || !this.point) return;
      const figure = this.place("figure").value;
      const values = this.lines.map(({ at, cells }) => cells.map((/** @type {any} */ _, /** @type {number} */ k) => this.valueAt(figure, at, k)));
      const all = values.flat().filter((one) => one !== null);
      const [low, high] = [Math.min(...all), Math.max(...all)];
      this.lines.forEach(({ cells }, row) => {
        cells.forEach((/** @type {HTMLElement} */ cell, /** @type {number} */ k) => {
          const value = values[row][k];
          cell.textContent = value === null ? MISSING : this.kind.figures[figure].write(value);
          const share = value === null || high === low ? 0 : (value - low) / (high - low);
          cell.style.setProperty("--heat", `${Math.round(50 * share)}%`);
        });
      });
    }

    /** @param {any} point */
    follow(point) {
      const isSame = this.point && this.point.place === point.place && this.point.logOdds === point.logOdds;
      this.point = point;
      if (!isSame && this.lines && this.kind.figures[this.place("figure").value].valueAt) this.paint();
    }
  }

  return { Conditions, TWO_CLASSES, trialsInWords };
})();
