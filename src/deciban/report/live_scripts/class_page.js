// @ts-check
"use strict";
/** Brings a page of many classes to life: the matrix at a prior, what is known of a pair, conditions, and two systems. */
(async () => {
  const source = document.getElementById("page-data");
  const section = document.getElementById("class-decisions");
  if (!source || !section) return;
  const data = await PageData.read(source);
  if (!data) return;
  const { count, number, percent, general } = Numbers;
  const { confusion, figuresOf, nearest, placeOf, priorOf } = Classes;
  const { classes, priors, n_before: nBefore } = data;
  const n = classes.length;
  /** @type {any[]} */
  const all = data.sets[0].systems;
  for (const one of all) one.priors = priors;
  for (const { systems } of data.conditions?.sets ?? []) {
    systems.forEach((/** @type {any} */ one, /** @type {number} */ k) => {
      const { name, color } = all[nBefore + k];
      Object.assign(one, { name, color, priors: data.conditions.kept.map((/** @type {number} */ at) => priors[at]) });
    });
  }
  const names = all.map((one) => one.name);
  const view = { system: nBefore, pair: [0, n > 1 ? 1 : 0] };
  /** @type {ClassChoice} */
  let choice = { target: 0, p: null };
  let isCompared = false;

  // Conditions and comparisons are about the systems as they are, not as they were before calibration.
  const shown = { ...data, sets: [{ name: "", systems: all.slice(nBefore) }] };
  const conditions = new Conditions.Conditions(shown, Classes.KIND, (at) => {
    useCondition(at);
    keepInLink();
  });
  const axes = { x: Plots.linear("Prior log odds (nats)"), y: Plots.linear("") };
  const compare = new Compare.Compare(shown, Classes.COMPARED, axes, () => keepInLink(true));

  const triangle = new Triangle.Triangle(data, () => keepInLink());

  /** Equal priors are named once. @param {number[]} shares */
  function sharesInWords(shares) {
    const others = shares.filter((_, k) => k !== choice.target);
    const areSame = (/** @type {number[]} */ some) => Math.max(...some) - Math.min(...some) < 1e-9;
    if (areSame(shares)) return `1/${n} each`;
    if (n > 2 && areSame(others)) return `${classes[choice.target]} ${prior(shares[choice.target])}, each of the others ${prior(others[0])}`;
    return shares.map((p, k) => `${classes[k]} ${prior(p)}`).join(", ");
  }

  /** @param {string} name @returns {any} */
  const input = (name) => section.querySelector(`[name="${name}"]`);
  /** @param {string} name @returns {any} */
  const place = (name) => section.querySelector(`[data-place="${name}"]`);
  /** Rates are rounded to what can be told apart. @param {number} p */
  const prior = (p) => general(p, 4);

  /** The system of the matrix, with the numbers of the condition. */
  const current = () => (view.system < nBefore ? all[view.system] : conditions.systemsAt(conditions.at)[view.system - nBefore]);

  /** What scripts that follow a point know of this one. */
  const point = () => {
    const p = choice.p ?? data.sets[0].systems[nBefore].c_avg[0];
    return { ...choice, place: `${choice.target} ${choice.p}`, logOdds: OperatingPoints.logit(p) };
  };

  /** @type {HTMLButtonElement[][]} */
  const buttons = [];
  /** @param {string} text @param {string} scope */
  const heading = (text, scope) => Charts.put(Charts.element("th", { scope }), text);

  function fillMatrix() {
    place("cells").parentElement.classList.toggle("many", n > 8);
    place("columns").append(heading("class \u2193, taken for \u2192", "col"), ...classes.map((/** @type {string} */ name) => heading(name, "col")));
    classes.forEach((/** @type {string} */ name, /** @type {number} */ c) => {
      const row = place("cells").insertRow();
      row.append(heading(name, "row"));
      buttons.push(
        classes.map((/** @type {string} */ _, /** @type {number} */ k) => {
          const button = /** @type {HTMLButtonElement} */ (Charts.element("button", { type: "button", tabindex: "-1" }));
          row.insertCell().append(button);
          button.addEventListener("click", () => {
            choosePair(c, k);
            keepInLink();
          });
          button.addEventListener("keydown", (event) => {
            const step = /** @type {Record<string, number[]>} */ ({ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] })[event.key];
            const next = step && buttons[c + step[0]]?.[k + step[1]];
            if (!next) return;
            event.preventDefault();
            button.tabIndex = -1;
            next.tabIndex = 0;
            next.focus();
          });
          return button;
        }),
      );
    });
  }

  /** @param {number} c @param {number} k */
  function choosePair(c, k) {
    view.pair = [c, k];
    for (const one of buttons.flat()) one.tabIndex = -1;
    if (buttons.length) buttons[c][k].tabIndex = 0;
    show();
  }

  /** What is known of the chosen cell. @param {number[][]} found @param {any} system @returns {string[]} */
  function aboutPair(found, system) {
    const [c, k] = view.pair;
    const of = (/** @type {number} */ a, /** @type {number} */ b) =>
      `${count(found[a][b])} of ${count(system.counts[a])} segments of ${classes[a]} (${percent(found[a][b] / system.counts[a])}) are taken for ${classes[b]}.`;
    if (c === k) return [of(c, c)];
    const lines = [of(c, k), of(k, c)];
    if (!system.pairs) return [...lines, "Pairs of classes were not analysed."];
    const [actual, least] = [system.pairs.cllr[c][k], system.pairs.min_cllr[c][k]];
    const loss = actual === null || least === null ? null : Math.max(actual - least, 0);
    lines.push(
      `If only these two were possible, at even odds: Cllr ${number(actual)} bits, of which discrimination costs ${number(least)} and calibration ${number(loss)}; 1 is as good as no scores.`,
    );
    return lines;
  }

  /** @param {number[][]} found @param {any} system */
  function showCells(found, system) {
    found.forEach((row, c) => {
      const total = system.counts[c];
      row.forEach((value, k) => {
        const button = buttons[c][k];
        button.textContent = count(value);
        button.dataset.value = String(value);
        button.style.setProperty("--share", `${Math.round(100 * Math.sqrt(total ? value / total : 0))}%`);
        button.classList.toggle("right", c === k);
        button.setAttribute("aria-pressed", String(c === view.pair[0] && k === view.pair[1]));
        button.setAttribute("aria-label", `${classes[c]} taken for ${classes[k]}: ${count(value)} of ${count(total)}`);
      });
    });
    place("pair").replaceChildren(...aboutPair(found, system).map((text) => Charts.element("p", {}, text)));
  }

  /** Where the matrix stands, in words. @param {any} system @param {number} p Prior of the class. */
  function whereInWords(system, p) {
    if (!system.decided) return all[view.system].decided ? "For want of room, decisions of this condition are at the prior of the evaluation alone." : "Decisions were counted at the prior of the evaluation alone: other priors need all segments in memory, at most 30 classes, no groups of classes, and a prior above 0 for every class.";
    if (choice.p === null) return "Shown at the prior of the evaluation.";
    return `Shown at prior ${prior(p)} of ${classes[choice.target]}, one of ${system.priors.length} at which decisions were counted; the other classes keep their shares of the rest.`;
  }

  function show() {
    const now = point();
    conditions.follow(now);
    compare.follow(conditions.systemsAt(conditions.at), now, conditions.words);
    if (!n) return;
    const system = current();
    const [shares, found] = [priorOf(system, choice), figuresOf(system, choice)];
    triangle.follow(all[view.system], shares);
    showCells(confusion(system, choice), system);
    place("error_rate").textContent = percent(found.error_rate);
    place("error_rate").dataset.value = String(found.error_rate);
    place("brier").textContent = number(found.brier);
    place("c_avg").textContent = number(found.c_avg, 4);
    place("p_target").textContent = prior(found.p_target);
    place("shares").textContent = sharesInWords(shares);
    place("default").textContent = percent(1 - Math.max(...shares));
    const p = shares[choice.target];
    const box = input("class-prior");
    if (document.activeElement !== box && box.getAttribute("aria-invalid") !== "true") input("class-prior").value = prior(p);
    input("class-prior-slider").value = String(nearest(priors, p));
    input("class-prior-slider").setAttribute("aria-valuetext", prior(p));
    input("class-target").value = String(choice.target);
    input("class-system").value = String(view.system);
    for (const name of ["class-prior", "class-prior-slider", "class-target"]) input(name).disabled = !system.decided;
    place("class-moved").textContent = whereInWords(system, p);
  }

  /** Show the segments of a condition, or all. @param {number | null} at */
  function useCondition(at) {
    // Systems before calibration were evaluated on all segments alone.
    if (at !== null && view.system < nBefore) view.system = Math.min(nBefore + view.system, all.length - 1);
    for (const option of input("class-system").options) option.disabled = at !== null && Number(option.value) < nBefore;
    conditions.choose(at, point());
    place("trials-shown").textContent = conditions.rows.length ? `${conditions.words}${at === null ? "" : " Pictures and paired differences are of all segments."}` : "";
    show();
  }

  /** Write what was chosen into the address. @param {boolean} [compares] */
  function keepInLink(compares = isCompared) {
    isCompared = compares;
    const isFirstPair = view.pair[0] === 0 && view.pair[1] === (n > 1 ? 1 : 0);
    Links.keep(
      Links.written({
        system: view.system === nBefore ? null : Links.nameOf(names, view.system),
        class: choice.target === 0 && choice.p === null ? null : Links.nameOf(classes, choice.target),
        p: choice.p,
        row: isFirstPair ? null : Links.nameOf(classes, view.pair[0]),
        column: isFirstPair ? null : Links.nameOf(classes, view.pair[1]),
        corners: triangle.linked,
        condition: conditions.at === null ? null : conditions.rows[conditions.at].name,
        ...compare.linked(isCompared),
      }),
    );
  }

  /** What the address says, in place of what was chosen. */
  function restore() {
    const given = Links.given();
    const at = (/** @type {string[]} */ some, /** @type {string} */ name, /** @type {number} */ without) => {
      const found = given.has(name) ? Links.placeOf(some, given.get(name)) : -1;
      return found < 0 ? without : found;
    };
    view.system = at(names, "system", nBefore);
    const p = Number(given.get("p") ?? NaN);
    choice = { target: at(classes, "class", 0), p: p > 0 && p < 1 ? p : null };
    view.pair = [at(classes, "row", 0), at(classes, "column", n > 1 ? 1 : 0)];
    triangle.choose(given.get("corners"));
    isCompared = given.has("first") && compare.isThere;
    compare.chooseNamed(given.get("first"), given.get("second"));
    const wanted = given.get("condition");
    useCondition(conditions.named(wanted));
    if (wanted !== null && conditions.at === null) place("trials-shown").textContent = `All segments: the condition \u201c${wanted}\u201d of the link is not available here.`;
    choosePair(view.pair[0], view.pair[1]);
  }

  /** @param {Partial<ClassChoice>} changed */
  function choose(changed) {
    choice = { ...choice, ...changed };
    Typing.accept(input("class-prior"));
    show();
    keepInLink();
  }

  /** @param {any} select @param {string[]} some */
  function fill(select, some) {
    some.forEach((name, k) => select.append(Charts.element("option", { value: String(k) }, name)));
  }

  function listen() {
    input("class-system").addEventListener("change", () => {
      view.system = Number(input("class-system").value);
      choose({});
    });
    input("class-target").addEventListener("change", () => choose({ target: Number(input("class-target").value) }));
    input("class-prior-slider").addEventListener("input", () => choose({ p: priors[Number(input("class-prior-slider").value)] }));
    input("class-prior").addEventListener("input", () => {
      const p = Typing.numberOf(input("class-prior").value);
      if (p > 0 && p < 1) {
        const { priors: own } = current();
        choose({ p: own[placeOf(current(), { ...choice, p }) ?? nearest(own, p)] });
      } else Typing.refuse(input("class-prior"), "Type a prior above 0 and below 1, such as 0.1, 1/10 or 10%. Numbers below stay as they were.");
    });
    input("class-prior").addEventListener("change", () => {
      if (input("class-prior").getAttribute("aria-invalid") === "true") return;
      input("class-prior").blur();
      show();
    });
    place("class-reset").addEventListener("click", () => choose({ p: null }));
    addEventListener("hashchange", restore);
  }

  fill(input("class-system"), names);
  fill(input("class-target"), classes);
  input("class-prior-slider").max = String(priors.length - 1);
  fillMatrix();
  listen();
  section.hidden = !n;
  restore();
  document.documentElement.dataset.live = "ready";
})();
