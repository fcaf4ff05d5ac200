// @ts-check
"use strict";
/** Interaction of a two-class page: the chosen operating point, condition and systems, and everything that follows them. */
(async () => {
  const source = document.getElementById("page-data");
  if (!source || !document.getElementById("operating-point")) return;
  const data = await PageData.read(source);
  if (!data) return;
  const { figuresOf, fromLink, pointOf, toLink } = OperatingPoints;
  let systems = data.sets[0].systems;
  /** Largest number of systems with all bands at first; with more, only the highlighted system has bands. */
  const MOST_WITH_BANDS = 3;
  const view = { shown: systems.map(() => true), lit: /** @type {number | null} */ (null), bands: systems.length <= MOST_WITH_BANDS };
  const asked = data.points[0];
  const controls = new Controls.Controls(data, fromLink(location.hash) ?? { p: asked.p, cMiss: asked.c_miss, cFa: asked.c_fa }, () => changed());
  const point = () => pointOf(data, controls.choice, systems);
  const plots = Plots.plotsOf(data);
  const figures = new Figures.Figures(plots, view, () => ({ systems, point: point() }));
  const table = new OperatingTable.OperatingTable(data, (index) => figures.light(index));
  const frequencies = new Frequencies.Frequencies(() => changed());
  const conditions = new Conditions.Conditions(data, Conditions.TWO_CLASSES, (at) => {
    useCondition(at);
    keepInLink();
  });
  const conditionNow = () => (conditions.at === null ? null : conditions.rows[conditions.at]);
  const panels = (/** @type {string} */ kind) =>
    conditions.rows.flatMap(({ name, by, set }, at) => {
      const choose = () => (useCondition(conditions.at === at ? null : at), keepInLink());
      return by && set !== null ? [{ name, plot: plots[kind], systems: conditions.systemsAt(at), choose, isChosen: () => conditions.at === at }] : [];
    });
  const multiples = new Multiples.Multiples("condition-charts", { det: "DET", bayes_error: "Cost by prior", pav: "Calibration", histogram: "Scores" }, panels, view);
  const compare = new Compare.Compare(data, Compare.TWO_CLASSES, plots.bayes_error, () => keepInLink(true));
  const forest = new Forest.Forest(data, Forest.TWO_CLASSES);
  let isCompared = false;
  Brush.watch(conditionNow);

  /** Show the metrics at the chosen point. */
  function show() {
    const [now, { choice }, { total }] = [point(), controls, frequencies];
    const found = systems.map((/** @type {any} */ system) => figuresOf(system, now, total));
    // Intervals of costs are those of the first operating point.
    const isFirst = asked.p === choice.p && asked.c_miss === choice.cMiss && asked.c_fa === choice.cFa;
    for (const one of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-live-interval]"))) one.style.visibility = isFirst && conditions.at === null ? "" : "hidden";
    table.show(systems, now, found, total);
    table.describe(now, choice, systems, conditions);
    frequencies.show(systems, now, found);
    forest.follow(systems, now, conditionNow(), isFirst);
    conditions.follow(now);
    compare.follow(systems, now, conditions.words);
    figures.follow(now);
    multiples.follow(now);
  }

  /** Follow a change by the reader. */
  function changed() {
    show();
    keepInLink();
  }

  /** @param {string} text */
  function tellTrials(text) {
    for (const one of document.querySelectorAll("[data-place=trials-shown]")) one.textContent = text;
  }

  /** Show the trials of a condition, or all. @param {number | null} at */
  function useCondition(at) {
    systems = conditions.systemsAt(at);
    conditions.choose(at, point());
    figures.replace();
    multiples.draw();
    tellTrials(at === null ? "" : `${conditions.words}${conditions.rows[at].by ? ` ${data.conditions.about}` : ""} Paired differences are on all trials.`);
    show();
  }

  /** Read choices from a link, besides the operating point. */
  function restore() {
    const given = Links.given();
    frequencies.restore(given.get("n"));
    isCompared = given.has("first") && compare.isThere;
    compare.chooseNamed(given.get("first"), given.get("second"));
    const wanted = given.get("condition");
    useCondition(conditions.named(wanted));
    if (wanted !== null && conditions.at === null) tellTrials(`All trials: the condition “${wanted}” of the link is not available here.`);
  }

  /** Write the choices into the address. @param {boolean} [compares] */
  function keepInLink(compares = isCompared) {
    isCompared = compares;
    const condition = conditionNow()?.name ?? null;
    Links.keep(toLink(controls.choice, { n: frequencies.linked, condition, ...compare.linked(isCompared) }));
  }

  addEventListener("hashchange", () => {
    const linked = fromLink(location.hash);
    if (!linked && !/[#&](condition|first|n)=/.test(location.hash)) return;
    restore();
    controls.choose(linked ?? controls.choice);
  });
  figures.offer(Figures.named, data.level !== null);
  figures.watch();
  for (const one of document.querySelectorAll("[data-region=controls], #charts")) /** @type {HTMLElement} */ (one).hidden = false;
  controls.fill(null);
  restore();
  document.documentElement.dataset.live = "ready";
})();
