// @ts-check
"use strict";
/** Interaction of a multiclass page: the matrix at a prior, details of a pair, conditions, and comparison of two systems. */
(async () => {
  const source = document.getElementById("page-data");
  if (!source) return;
  const data = await PageData.read(source);
  if (!data) return;
  const { count, number, percent, general } = Numbers;
  const { confusion, figuresOf, nearest, placeOf, priorOf } = Classes;
  const { classes, priors, n_before: nBefore } = data;
  const n = classes.length;
  /** @type {string[]} */
  const choosable = data.charts?.classes ?? classes;
  /** @type {any[]} */
  const all = data.sets[0].systems;
  /** Subsets without values. @param {any} subsets */
  const blank = (subsets) => ({ ...subsets, ...Object.fromEntries(["mean", "low", "high"].map((name) => [name, subsets.size.map(() => null)])) });
  for (const one of all) one.priors = priors;
  for (const { systems } of data.conditions?.sets ?? []) {
    systems.forEach((/** @type {any} */ one, /** @type {number} */ k) => {
      const { name, color } = all[nBefore + k];
      Object.assign(one, { name, color, priors: data.conditions.kept.map((/** @type {number} */ at) => priors[at]) });
      // Subsets of a condition are not evaluated.
      if (one.charts && !one.charts.subsets && all[nBefore + k].charts.subsets) one.charts.subsets = blank(all[nBefore + k].charts.subsets);
    });
  }
  const names = all.map((one) => one.name);
  const view = { system: nBefore, pair: [0, n > 1 ? 1 : 0] };
  /** @type {ClassChoice} */
  let choice = { target: 0, p: null };
  let isCompared = false;

  // Conditions and comparisons use the final systems, not those before calibration.
  const shown = { ...data, sets: [{ name: "", systems: all.slice(nBefore) }] };
  const conditions = new Conditions.Conditions(shown, Classes.KIND, (at) => {
    useCondition(at);
    keepInLink();
  });
  const axes = { x: Axes.linear("Prior log odds (nats)"), y: Axes.linear("") };
  const compare = new Compare.Compare(shown, Classes.COMPARED, axes, () => keepInLink(true));

  const forest = new Forest.Forest(data, Forest.CLASSES);
  const chartView = { shown: all.map(() => true), lit: null, bands: all.length <= 3 };
  const chosen = { target: () => Math.max(data.charts.targets_at.indexOf(choice.target), 0), name: () => names[view.system] };
  const figures = new Figures.Figures(ClassPlots.plotsOf(data, chosen), chartView, () => ({ systems: charted(), point: point() }));

  /** True if charts show the chosen condition. */
  const areConditional = () => conditions.at !== null && Boolean(conditions.systemsAt(conditions.at)[0].charts);

  /** Systems of the charts; those before calibration were evaluated on all segments only. */
  const charted = () => (areConditional() ? [...all.slice(0, nBefore), ...conditions.systemsAt(conditions.at)] : all);

  /** Small charts of the rates or costs of each class. @param {string} kind */
  const panels = (kind) =>
    (data.charts?.targets ?? []).map((/** @type {string} */ name, /** @type {number} */ k) => {
      const plot = { class_det: ClassPlots.detOfClass, class_ape: ClassPlots.ofClass }[kind]?.(data, { target: () => k });
      return { name, plot, systems: charted(), choose: () => chooseClass(data.charts.targets_at[k]), isChosen: () => data.charts.targets_at[k] === choice.target };
    });
  const multiples = new Multiples.Multiples("class-charts", { class_det: "DET", class_ape: "Cost over prior" }, panels, chartView);

  /** Draw the costs of each class over the prior into its row of the table. @param {ParentNode} part */
  function sparkle(part) {
    for (const cell of /** @type {NodeListOf<HTMLElement>} */ (part.querySelectorAll("[data-spark]:empty"))) {
      const [one, k] = [all[names.indexOf(cell.dataset.of ?? "")], data.charts.targets.indexOf(cell.dataset.spark)];
      if (!one || k < 0) continue;
      const xs = data.charts.log_odds.filter((/** @type {number} */ x) => Math.abs(x) <= 6);
      const first = data.charts.log_odds.indexOf(xs[0]);
      const rates = one.charts.detectors[k].rates.map((/** @type {number[]} */ some) => some.slice(first, first + xs.length));
      cell.append(Multiples.spark(xs, ClassPlots.costsOf(xs, rates), Dom.visible(one.color), NaN));
    }
  }

  const triangle = new Triangle.Triangle(data, () => keepInLink());

  /** Describe the prior; equal priors are named once. @param {number[]} shares */
  function sharesInWords(shares) {
    const others = shares.filter((_, k) => k !== choice.target);
    const areSame = (/** @type {number[]} */ some) => Math.max(...some) - Math.min(...some) < 1e-9;
    if (areSame(shares)) return `1/${n} each`;
    if (n > 2 && areSame(others)) return `${classes[choice.target]} ${prior(shares[choice.target])}, each of the others ${prior(others[0])}`;
    return shares.map((p, k) => `${classes[k]} ${prior(p)}`).join(", ");
  }

  /** @param {string} name @returns {any} */
  const input = (name) => document.querySelector(`[name="${name}"]`);
  const controls = /** @type {HTMLElement} */ (document.querySelector("[data-region=controls]"));
  /** @param {string} name @returns {any} */
  const place = (name) => document.querySelector(`#answer [data-place="${name}"]`) ?? controls.querySelector(`[data-place="${name}"]`);
  /** Round a rate for the address. @param {number} p */
  const prior = (p) => general(p, 4);

  /** Return the system of the matrix, with the numbers of the condition. */
  const current = () => (view.system < nBefore ? all[view.system] : conditions.systemsAt(conditions.at)[view.system - nBefore]);

  /** Point for the other scripts. */
  const point = () => {
    const p = choice.p ?? data.sets[0].systems[nBefore].c_avg[0];
    return { ...choice, place: `${choice.target} ${choice.p}`, logOdds: OperatingPoints.logit(p) };
  };

  /** @type {HTMLButtonElement[][]} */
  const buttons = [];
  /** @param {string} text @param {string} scope */
  const heading = (text, scope) => Dom.put(Dom.element("th", { scope }), text);

  function fillMatrix() {
    place("cells").parentElement.classList.toggle("many", n > 8);
    place("columns").append(heading("class \u2193, decision \u2192", "col"), ...classes.map((/** @type {string} */ name) => heading(name, "col")));
    classes.forEach((/** @type {string} */ name, /** @type {number} */ c) => {
      const row = place("cells").insertRow();
      row.append(heading(name, "row"));
      buttons.push(
        classes.map((/** @type {string} */ _, /** @type {number} */ k) => {
          const button = /** @type {HTMLButtonElement} */ (Dom.element("button", { type: "button", tabindex: "-1" }));
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

  /** Return sentences on the chosen cell. @param {number[][]} found @param {any} system @returns {string[]} */
  function aboutPair(found, system) {
    const [c, k] = view.pair;
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
        button.setAttribute("aria-label", `${classes[c]} decided as ${classes[k]}: ${count(value)} of ${count(total)}`);
      });
    });
    place("pair").replaceChildren(...aboutPair(found, system).map((text) => Dom.element("p", {}, text)));
  }

  /** Describe the prior of the matrix. @param {any} system @param {number} p Prior of the class. */
  function whereInWords(system, p) {
    if (!system.decided) return all[view.system].decided ? "To save space, decisions of this condition are at the prior of the evaluation only." : "Decisions were counted at the prior of the evaluation only: other priors need all segments in memory, at most 30 classes, no groups of classes, and a prior above 0 for every class.";
    if (choice.p === null) return "Shown at the prior of the evaluation.";
    return `Shown at prior ${prior(p)} of ${classes[choice.target]}, one of ${system.priors.length} with counted decisions; the other classes keep their shares of the rest.`;
  }

  function show() {
    const now = point();
    conditions.follow(now);
    compare.follow(conditions.systemsAt(conditions.at), now, conditions.words);
    figures.follow(now);
    multiples.follow(now);
    forest.follow(all, now, null, true);
    input("class-target").value = String(choice.target);
    input("class-system").value = String(view.system);
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
    for (const name of ["class-prior", "class-prior-slider"]) input(name).disabled = !system.decided;
    place("class-moved").textContent = whereInWords(system, p);
  }

  /** Show the segments of a condition, or all. @param {number | null} at */
  function useCondition(at) {
    // Systems before calibration were evaluated on all segments only.
    if (at !== null && view.system < nBefore) view.system = Math.min(nBefore + view.system, all.length - 1);
    for (const option of input("class-system").options) option.disabled = at !== null && Number(option.value) < nBefore;
    conditions.choose(at, point());
    place("trials-shown").textContent = at === null ? "" : `${conditions.words} ${areConditional() ? "P" : "Charts and p"}aired differences are on all segments.`;
    figures.only(areConditional() ? nBefore : 0);
    figures.replace();
    show();
    multiples.draw();
  }

  /** Write the choices into the address. @param {boolean} [compares] */
  function keepInLink(compares = isCompared) {
    isCompared = compares;
    const isFirstPair = view.pair[0] === 0 && view.pair[1] === (n > 1 ? 1 : 0);
    Links.keep(
      Links.written({
        system: view.system === nBefore ? null : Links.nameOf(names, view.system),
        class: choice.target === 0 && choice.p === null ? null : Links.nameOf(choosable, choice.target),
        p: choice.p,
        row: isFirstPair ? null : Links.nameOf(classes, view.pair[0]),
        column: isFirstPair ? null : Links.nameOf(classes, view.pair[1]),
        corners: triangle.linked,
        condition: conditions.at === null ? null : conditions.rows[conditions.at].name,
        ...compare.linked(isCompared),
      }),
    );
  }

  /** Read the choices from the address. */
  function restore() {
    const given = Links.given();
    const at = (/** @type {string[]} */ some, /** @type {string} */ name, /** @type {number} */ without) => {
      const found = given.has(name) ? Links.placeOf(some, given.get(name)) : -1;
      return found < 0 ? without : found;
    };
    view.system = at(names, "system", nBefore);
    const p = Number(given.get("p") ?? NaN);
    choice = { target: at(choosable, "class", 0), p: p > 0 && p < 1 ? p : null };
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

  /** @param {number} target */
  function chooseClass(target) {
    choose({ target });
    figures.replace((name) => ["class_det", "class_ape"].includes(name));
    multiples.draw();
  }

  /** @param {any} select @param {string[]} some */
  function fill(select, some) {
    some.forEach((name, k) => select.append(Dom.element("option", { value: String(k) }, name)));
  }

  function listen() {
    input("class-system").addEventListener("change", () => {
      view.system = Number(input("class-system").value);
      choose({});
      figures.replace((name) => ["confusion", "pairwise_loss"].includes(name));
    });
    input("class-target").addEventListener("change", () => chooseClass(Number(input("class-target").value)));
    for (const one of document.querySelectorAll("#classes details")) {
      if (/** @type {HTMLDetailsElement} */ (one).open) sparkle(one);
      else one.addEventListener("toggle", () => sparkle(one), { once: true });
    }
    input("class-prior-slider").addEventListener("input", () => choose({ p: priors[Number(input("class-prior-slider").value)] }));
    input("class-prior").addEventListener("input", () => {
      const p = Typing.shareOf(input("class-prior").value);
      if (p > 0 && p < 1) {
        const { priors: own } = current();
        choose({ p: own[placeOf(current(), { ...choice, p }) ?? nearest(own, p)] });
      } else Typing.refuse(input("class-prior"), "Type a prior above 0 and below 1, such as 0.1, 1/10 or 10%. Numbers below did not change.");
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
  fill(input("class-target"), choosable);
  input("class-prior-slider").max = String(priors.length - 1);
  if (n) fillMatrix();
  listen();
  /** @type {HTMLElement} */ (document.getElementById("class-point")).hidden = !n;
  controls.hidden = false;
  // Without a matrix there are no decisions at other priors.
  for (const one of n ? [] : [...controls.querySelectorAll(".field:has([name=class-prior]), [data-place=class-reset]")]) /** @type {HTMLElement} */ (one).hidden = true;
  const charts = document.getElementById("charts");
  if (charts) charts.hidden = !data.charts;
  figures.offer(Figures.named, all.some((/** @type {any} */ one) => one.charts?.c_avg_band));
  figures.watch();
  restore();
  document.documentElement.dataset.live = "ready";
})();
