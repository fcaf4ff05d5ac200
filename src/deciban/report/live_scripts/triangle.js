// @ts-check
"use strict";
/** Posteriors of some segments among three chosen classes of a system, in a triangle. */
const Triangle = (() => {
  const { count } = Numbers;
  const HEIGHT = Math.sqrt(3) / 2;
  const COLORS = ["#0072B2", "#D55E00", "#009E73"];
  /** Corners, from the left along the base, then the top. */
  const CORNERS = [[0, HEIGHT], [1, HEIGHT], [0.5, 0]];
  const MIDDLE = [0.5, (2 * HEIGHT) / 3];

  const { drawn } = Dom;

  /** Return the coordinates of probabilities. @param {number[]} shares */
  const placeOf = (shares) => [0, 1].map((axis) => shares.reduce((sum, share, k) => sum + share * CORNERS[k][axis], 0));

  /** @param {number[][]} places */
  const points = (places) => places.map((one) => one.map((x) => x.toFixed(4)).join(",")).join(" ");

  /** @param {number[]} one @param {number[]} other */
  const between = (one, other) => one.map((x, k) => (x + other[k]) / 2);

  /**
   * Return posteriors of the segments of three classes, with the corner of their class.
   * @param {any} system
   * @param {number[]} at Indices of the classes.
   * @param {number[]} prior Prior of all classes.
   * @returns {{corner: number, shares: number[]}[]}
   */
  function posteriors(system, at, prior) {
    const { loglik, label } = system.sample;
    const n = prior.length;
    return label.flatMap((/** @type {number} */ c, /** @type {number} */ row) => {
      const corner = at.indexOf(c);
      if (corner < 0) return [];
      const logs = at.map((k) => loglik[row * n + k] + Math.log(prior[k]));
      const most = Math.max(...logs);
      const odds = logs.map((x) => Math.exp(x - most));
      const sum = odds.reduce((a, b) => a + b, 0);
      return [{ corner, shares: odds.map((x) => x / sum) }];
    });
  }

  class Triangle {
    /**
     * @param {any} data
     * @param {() => void} onChoice
     */
    constructor(data, onChoice) {
      this.classes = data.classes;
      this.section = /** @type {HTMLElement} */ (document.getElementById("class-triangle"));
      /** @type {number[]} */
      this.first = data.corners ?? [];
      this.at = [...this.first];
      this.isThere = this.at.length === 3;
      if (!this.isThere) return;
      this.boxes = [0, 1, 2].map((k) => /** @type {HTMLSelectElement} */ (this.section.querySelector(`[name=corner-${k}]`)));
      this.boxes.forEach((box, k) => {
        this.classes.forEach((/** @type {string} */ name, /** @type {number} */ c) => box.append(Dom.element("option", { value: String(c) }, name)));
        box.addEventListener("change", () => {
          const other = this.at.indexOf(Number(box.value));
          if (other >= 0) this.at[other] = this.at[k]; // swaps two corners
          this.at[k] = Number(box.value);
          this.show();
          onChoice();
        });
      });
      this.section.hidden = false;
    }

    /** Return the corners for the address: indices of classes. */
    get linked() {
      return this.at.join() === this.first.join() ? null : this.at.map((k) => k + 1).join("-");
    }

    /** @param {string | null} given */
    choose(given) {
      const found = (given ?? "").split("-").map((one) => Number(one) - 1);
      const areClasses = found.length === 3 && new Set(found).size === 3 && found.every((k) => this.classes[k] !== undefined);
      this.at = areClasses ? found : [...this.first];
    }

    /** @param {any} system @param {number[]} prior */
    follow(system, prior) {
      this.system = system;
      this.prior = prior;
      this.show();
    }

    show() {
      if (!this.isThere || !this.system) return;
      this.boxes?.forEach((box, k) => (box.value = String(this.at[k])));
      const names = this.at.map((k) => this.classes[k]);
      const picture = /** @type {Element} */ (this.section.querySelector("svg"));
      const words = /** @type {Element} */ (this.section.querySelector("[data-place=triangle-words]"));
      if (!this.system.sample) {
        picture.replaceChildren();
        words.replaceChildren(Dom.element("li", {}, "No segments of this system were kept for this picture."));
        return;
      }
      const found = posteriors(this.system, this.at, this.prior ?? []);
      picture.replaceChildren(...this.frame(names), ...found.map(({ corner, shares }) => this.dot(corner, shares)));
      picture.setAttribute("aria-label", `Posteriors of ${names.join(", ")}, ${this.system.name}`);
      words.replaceChildren(
        ...names.map((name, corner) => {
          const own = found.filter((one) => one.corner === corner);
          const inside = [0, 1, 2].map((k) => own.filter(({ shares }) => shares.indexOf(Math.max(...shares)) === k).length);
          const others = [1, 2].map((step) => (corner + step) % 3).map((k) => `${count(inside[k])} in the region of ${names[k]}`);
          return Dom.element("li", {}, `Of ${count(own.length)} segments of ${name}, ${count(inside[corner])} are in its own region, ${others.join(", ")}.`);
        }),
      );
    }

    /** @param {string[]} names */
    frame(names) {
      const regions = CORNERS.map((corner, k) => {
        const sides = [1, 2].map((step) => between(corner, CORNERS[(k + step) % 3]));
        return drawn("polygon", { points: points([corner, sides[0], MIDDLE, sides[1]]), fill: Dom.visible(COLORS[k]), "fill-opacity": 0.14, stroke: "currentColor", "stroke-width": 0.003 });
      });
      const anchors = ["start", "end", "middle"];
      const labels = CORNERS.map(([x, y], k) => {
        const text = names[k].length > 24 ? `${names[k].slice(0, 15)}\u2026${names[k].slice(-8)}` : names[k];
        return drawn("text", { x: k === 2 ? x : x + (k ? 0.04 : -0.04), y: k === 2 ? y - 0.025 : y + 0.06, "text-anchor": anchors[k], "font-size": 0.042, fill: Dom.visible(COLORS[k]), "font-weight": 600 }, text);
      });
      return [...regions, ...labels];
    }

    /** @param {number} corner @param {number[]} shares */
    dot(corner, shares) {
      const [x, y] = placeOf(shares);
      return drawn("circle", { cx: x.toFixed(4), cy: y.toFixed(4), r: 0.006, fill: Dom.visible(COLORS[corner]), "fill-opacity": 0.65, "data-corner": corner });
    }
  }

  return { Triangle, posteriors };
})();
