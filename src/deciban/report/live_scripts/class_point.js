// @ts-check
"use strict";
/** Metrics of the chosen system at the prior of a class, and the inputs of that prior. */
const ClassPoint = (() => {
  const { general, number, percent } = Numbers;
  const { figuresOf, nearest, placeOf, priorOf } = Classes;

  /** @param {string} name @returns {any} */
  const input = (name) => document.querySelector(`[name="${name}"]`);
  /** @param {string} name @returns {any} */
  const place = (name) => document.querySelector(`#answer [data-place="${name}"], [data-region=controls] [data-place="${name}"]`);
  /** Round a rate for the address. @param {number} p */
  const prior = (p) => general(p, 4);

  /** Describe the prior; equal priors are named once. @param {number[]} shares @param {string[]} classes @param {number} target */
  function sharesInWords(shares, classes, target) {
    const n = classes.length;
    const others = shares.filter((_, k) => k !== target);
    const areSame = (/** @type {number[]} */ some) => Math.max(...some) - Math.min(...some) < 1e-9;
    if (areSame(shares)) return `1/${n} each`;
    if (n > 2 && areSame(others)) return `${classes[target]} ${prior(shares[target])}, each of the others ${prior(others[0])}`;
    return shares.map((p, k) => `${classes[k]} ${prior(p)}`).join(", ");
  }

  /** Describe the prior of the matrix. @param {any} system @param {ClassChoice} choice @param {string} target @param {number} p @param {boolean} areDecided True if all segments have decisions at other priors. */
  function whereInWords(system, choice, target, p, areDecided) {
    if (!system.decided && areDecided) return "To save space, decisions of this condition are at the prior of the evaluation only.";
    if (!system.decided) return "Decisions were counted at the prior of the evaluation only: other priors need all segments in memory, at most 30 classes, no groups of classes, and a prior above 0 for every class.";
    if (choice.p === null) return "Shown at the prior of the evaluation.";
    return `Shown at prior ${prior(p)} of ${target}, one of ${system.priors.length} with counted decisions; the other classes keep their shares of the rest.`;
  }

  /**
   * Show the metrics of a system, and its prior in the inputs.
   * @param {any} system With the numbers of the condition.
   * @param {ClassChoice} choice
   * @param {{classes: string[], priors: number[]}} data
   * @param {boolean} areDecided
   */
  function show(system, choice, { classes, priors }, areDecided) {
    const [shares, found] = [priorOf(system, choice), figuresOf(system, choice)];
    place("error_rate").textContent = percent(found.error_rate);
    place("error_rate").dataset.value = String(found.error_rate);
    place("brier").textContent = number(found.brier);
    place("c_avg").textContent = number(found.c_avg, 4);
    place("p_target").textContent = prior(found.p_target);
    place("shares").textContent = sharesInWords(shares, classes, choice.target);
    place("default").textContent = percent(1 - Math.max(...shares));
    const p = shares[choice.target];
    const [box, slider] = [input("class-prior"), input("class-prior-slider")];
    if (document.activeElement !== box && box.getAttribute("aria-invalid") !== "true") box.value = prior(p);
    slider.value = String(nearest(priors, p));
    slider.setAttribute("aria-valuetext", prior(p));
    for (const one of [box, slider]) one.disabled = !system.decided;
    place("class-moved").textContent = whereInWords(system, choice, classes[choice.target], p, areDecided);
  }

  /**
   * Follow the inputs of the prior.
   * @param {number[]} priors
   * @param {() => {system: any, choice: ClassChoice}} now
   * @param {(p: number | null) => void} choose
   * @param {() => void} showAgain
   */
  function listen(priors, now, choose, showAgain) {
    const [box, slider] = [input("class-prior"), input("class-prior-slider")];
    slider.max = String(priors.length - 1);
    slider.addEventListener("input", () => choose(priors[Number(slider.value)]));
    box.addEventListener("input", () => {
      const p = Typing.shareOf(box.value);
      if (p > 0 && p < 1) {
        const { system, choice } = now();
        choose(system.priors[placeOf(system, { ...choice, p }) ?? nearest(system.priors, p)]);
      } else Typing.refuse(box, "Type a prior above 0 and below 1, such as 0.1, 1/10 or 10%. Numbers below did not change.");
    });
    box.addEventListener("change", () => {
      if (box.getAttribute("aria-invalid") === "true") return;
      box.blur();
      showAgain();
    });
    place("class-reset").addEventListener("click", () => choose(null));
  }

  return { input, listen, place, show };
})();
