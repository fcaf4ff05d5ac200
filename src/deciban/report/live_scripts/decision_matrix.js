// @ts-check
"use strict";
/** The matrix of decisions at a prior: classes are rows, decisions are columns, and every cell can be chosen. */
const DecisionMatrix = (() => {
  const { count, number, percent } = Numbers;
  /** With more classes, headings are turned and cells are small. */
  const MOST_WIDE = 8;

  class DecisionMatrix {
    /** @param {string[]} classes @param {() => void} onChoice Follows a click on a cell. */
    constructor(classes, onChoice) {
      this.classes = classes;
      this.onChoice = onChoice;
      this.first = [0, classes.length > 1 ? 1 : 0];
      this.pair = this.first;
      /** @type {HTMLButtonElement[][]} */
      this.buttons = [];
      if (classes.length) this.fill();
    }

    /** @param {string} name @returns {any} */
    place(name) {
      return document.querySelector(`#answer [data-place="${name}"]`);
    }

    /** True if no other cell was chosen. */
    get isFirst() {
      return this.pair.every((one, k) => one === this.first[k]);
    }

    fill() {
      const { classes } = this;
      const heading = (/** @type {string} */ text, /** @type {string} */ scope) => Dom.put(Dom.element("th", { scope }), text);
      this.place("cells").parentElement.classList.toggle("many", classes.length > MOST_WIDE);
      this.place("columns").append(heading("class \u2193, decision \u2192", "col"), ...classes.map((name) => heading(name, "col")));
      this.buttons = classes.map((name, c) => {
        const row = this.place("cells").insertRow();
        row.append(heading(name, "row"));
        return classes.map((_, k) => {
          const button = /** @type {HTMLButtonElement} */ (Dom.element("button", { type: "button", tabindex: "-1" }));
          row.insertCell().append(button);
          button.addEventListener("click", () => {
            this.choose([c, k]);
            this.onChoice();
          });
          button.addEventListener("keydown", (event) => this.move(event, button, c, k));
          return button;
        });
      });
    }

    /** Move the focus by an arrow key. @param {KeyboardEvent} event @param {HTMLButtonElement} from @param {number} c @param {number} k */
    move(event, from, c, k) {
      const step = /** @type {Record<string, number[]>} */ ({ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] })[event.key];
      const next = step && this.buttons[c + step[0]]?.[k + step[1]];
      if (!next) return;
      event.preventDefault();
      from.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    }

    /** @param {number[]} pair Class and decision of a cell. */
    choose(pair) {
      this.pair = pair;
      for (const one of this.buttons.flat()) one.tabIndex = -1;
      if (this.buttons.length) this.buttons[pair[0]][pair[1]].tabIndex = 0;
    }

    /** @param {number[][]} found Decisions; rows are classes. @param {any} system */
    show(found, system) {
      const { classes, pair } = this;
      found.forEach((row, c) => {
        const total = system.counts[c];
        row.forEach((value, k) => {
          const button = this.buttons[c][k];
          button.textContent = count(value);
          button.dataset.value = String(value);
          button.style.setProperty("--share", `${Math.round(100 * Math.sqrt(total ? value / total : 0))}%`);
          button.classList.toggle("right", c === k);
          button.setAttribute("aria-pressed", String(c === pair[0] && k === pair[1]));
          button.setAttribute("aria-label", `${classes[c]} decided as ${classes[k]}: ${count(value)} of ${count(total)}`);
        });
      });
      this.place("pair").replaceChildren(...this.inWords(found, system).map((text) => Dom.element("p", {}, text)));
    }

    /** Return sentences on the chosen cell. @param {number[][]} found @param {any} system @returns {string[]} */
    inWords(found, system) {
      const { classes, pair: [c, k] } = this;
      const of = (/** @type {number} */ a, /** @type {number} */ b) =>
        `${count(found[a][b])} of ${count(system.counts[a])} segments of ${classes[a]} (${percent(found[a][b] / system.counts[a])}) are decided as ${classes[b]}.`;
      if (c === k) return [of(c, c)];
      const lines = [of(c, k), of(k, c)];
      if (!system.pairs) return [...lines, "Pairs of classes were not evaluated."];
      const [actual, least] = [system.pairs.cllr[c][k], system.pairs.min_cllr[c][k]];
      const loss = actual === null || least === null ? null : Math.max(actual - least, 0);
      lines.push(
        `With only these two classes, at even odds: Cllr ${number(actual)} bits (discrimination loss ${number(least)}, calibration loss ${number(loss)}); without scores, it is 1.`,
      );
      return lines;
    }
  }

  return { DecisionMatrix };
})();
