// @ts-check
"use strict";
/** Interaction of a multiclass page: the matrix at a prior, details of a pair, conditions, and comparison of two systems. */
(async () => {
  const source = document.getElementById("page-data");
  if (!source) return;
  const data = await PageData.read(source);
  if (!data) return;
  const { confusion, priorOf } = Classes;
  const { input, place } = ClassPoint;
  const { classes, priors, n_before: nBefore } = data;
  const n = classes.length;
  /** @type {string[]} */
  const choosable = data.charts?.classes ?? classes;
  /** @type {any[]} */
  const all = data.sets[0].systems;
  Classes.complete(data);
  const names = all.map((one) => one.name);
  const view = { system: nBefore };
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
  const multiples = new Multiples.Multiples("class-charts", { class_det: "DET", class_ape: "Cost by prior" }, panels, chartView);

  /** Draw the costs of each class over the prior into its row of the table. @param {ParentNode} part */
  function sparkle(part) {
    for (const cell of /** @type {NodeListOf<HTMLElement>} */ (part.querySelectorAll("[data-spark]:empty"))) {
      const [one, k] = [all[names.indexOf(cell.dataset.of ?? "")], data.charts.targets.indexOf(cell.dataset.spark)];
      if (!one || k < 0) continue;
      const xs = data.charts.log_odds.filter((/** @type {number} */ x) => Math.abs(x) <= 6);
      const first = data.charts.log_odds.indexOf(xs[0]);
      const rates = one.charts.detectors[k].rates.map((/** @type {number[]} */ some) => some.slice(first, first + xs.length));
      cell.append(Multiples.spark(xs, ClassPlots.costsOf(xs, rates), Dom.visible(one.color)).picture);
    }
  }

  const matrix = new DecisionMatrix.DecisionMatrix(classes, () => {
    show();
    keepInLink();
  });
  const triangle = new Triangle.Triangle(data, () => keepInLink());

  /** Return the system of the matrix, with the numbers of the condition. */
  const current = () => (view.system < nBefore ? all[view.system] : conditions.systemsAt(conditions.at)[view.system - nBefore]);

  /** Point for the other scripts. */
  const point = () => {
    const p = choice.p ?? data.sets[0].systems[nBefore].c_avg[0];
    return { ...choice, place: `${choice.target} ${choice.p}`, logOdds: OperatingPoints.logit(p) };
  };

  function show() {
    const now = point();
    conditions.follow(now);
    compare.follow(conditions.systemsAt(conditions.at), now, conditions.words);
    figures.follow(now);
    multiples.follow(now);
    forest.follow(all, now, nBefore || conditions.at === null ? null : conditions.rows[conditions.at], true);
    input("class-target").value = String(choice.target);
    input("class-system").value = String(view.system);
    if (!n) return;
    const system = current();
    triangle.follow(all[view.system], priorOf(system, choice));
    matrix.show(confusion(system, choice), system);
    ClassPoint.show(system, choice, data, Boolean(all[view.system].decided));
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
    Links.keep(
      Links.written({
        system: view.system === nBefore ? null : Links.nameOf(names, view.system),
        class: choice.target === 0 && choice.p === null ? null : Links.nameOf(choosable, choice.target),
        p: choice.p,
        row: matrix.isFirst ? null : Links.nameOf(classes, matrix.pair[0]),
        column: matrix.isFirst ? null : Links.nameOf(classes, matrix.pair[1]),
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
    matrix.choose([at(classes, "row", matrix.first[0]), at(classes, "column", matrix.first[1])]);
    triangle.choose(given.get("corners"));
    isCompared = given.has("first") && compare.isThere;
    compare.chooseNamed(given.get("first"), given.get("second"));
    const wanted = given.get("condition");
    useCondition(conditions.named(wanted));
    if (wanted !== null && conditions.at === null) place("trials-shown").textContent = `All segments: the condition \u201c${wanted}\u201d of the link is not available here.`;
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
    ClassPoint.listen(priors, () => ({ system: current(), choice }), (p) => choose({ p }), show);
    addEventListener("hashchange", restore);
  }

  fill(input("class-system"), names);
  fill(input("class-target"), choosable);
  listen();
  /** @type {HTMLElement} */ (document.getElementById("class-point")).hidden = !n;
  const controls = /** @type {HTMLElement} */ (document.querySelector("[data-region=controls]"));
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
