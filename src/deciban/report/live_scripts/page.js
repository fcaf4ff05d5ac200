// @ts-check
"use strict";
/** Interaction of a two-class page: choice of the operating point, its table, visible systems, and charts. */
(async () => {
  const source = document.getElementById("page-data");
  const section = document.getElementById("operating-point");
  if (!source || !section) return;
  const data = await PageData.read(source);
  if (!data) return;
  const { count, interval, number, percent, prior } = Numbers;
  const { asCommand, boundsOf, figuresOf, fromLink, isChoice, logit, nearest, pointOf, toLink, expit } = OperatingPoints;
  /** Default number of trials. */
  const EXPECTED = 1000;
  let systems = data.sets[0].systems;
  const plots = Plots.plotsOf(data);
  /** Largest number of systems with all bands at first; with more, only the highlighted system has bands. */
  const MOST_WITH_BANDS = 3;
  const view = { shown: systems.map(() => true), lit: /** @type {number | null} */ (null), bands: systems.length <= MOST_WITH_BANDS };
  const { named } = Figures;
  const figures = new Figures.Figures(plots, view, () => ({ systems, point: pointOf(data, choice, systems) }));
  const conditions = new Conditions.Conditions(data, Conditions.TWO_CLASSES, (at) => {
    useCondition(at);
    keepInLink();
  });
  const panels = (/** @type {string} */ kind) =>
    conditions.rows.flatMap(({ name, by, set }, at) => (by && set !== null ? [{ name, plot: plots[kind], systems: conditions.systemsAt(at), choose: () => (useCondition(conditions.at === at ? null : at), keepInLink()), isChosen: () => conditions.at === at }] : []));
  const multiples = new Multiples.Multiples("condition-charts", { det: "DET", bayes_error: "Cost over prior", pav: "Calibration", histogram: "Scores" }, panels, view);
  const compare = new Compare.Compare(data, Compare.TWO_CLASSES, plots.bayes_error, () => keepInLink(true));
  const forest = new Forest.Forest(data, Forest.TWO_CLASSES);
  const conditionNow = () => (conditions.at === null ? null : conditions.rows[conditions.at]);
  Brush.watch(conditionNow);
  let isCompared = false;

  const controls = document.querySelector("[data-region=controls]");
  /** @param {string} name @returns {any} */
  const input = (name) => document.querySelector(`[name="${name}"]`);
  /** @param {string} name @returns {any} */
  const place = (name) => section.querySelector(`[data-place="${name}"]`);

  const asked = data.points[0];
  let choice = fromLink(location.hash) ?? { p: asked.p, cMiss: asked.c_miss, cFa: asked.c_fa };

  /** Cells of a system, by metric. @type {Record<string, (found: any, system: any, point: any, bounds: any) => [string, string]>} */
  const cells = {
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

  /** @param {number} value */
  const digits5 = (value) => number(value, 5);

  /** Write bounds of a metric that is not known exactly. @param {number[] | undefined} ends @param {(value: number) => string} write */
  const within = (ends, write) => (ends && ends[0] !== ends[1] ? `from ${write(Math.min(...ends))} to ${write(Math.max(...ends))}` : "");

  /** Return the interval at the nearest place of the grid, extended to contain the rate. @param {any} system @param {string} name @param {any} point @param {number} rate */
  function withInterval(system, name, { place: k }, rate) {
    const ends = system.interval[name];
    return ends ? interval(Math.min(ends[0][k], rate), Math.max(ends[1][k], rate), percent) : "";
  }

  /** Write an expected number of trials, which can be fractional. @param {number} value */
  const expected = (value) => number(value, value < 100 ? 2 : 0);

  /** Cells with the cost of each system over the prior. @type {HTMLElement[]} */
  const sparks = [];
  const rows = systems.map((/** @type {any} */ system, /** @type {number} */ index) => {
    const row = place("rows").insertRow();
    const head = Dom.element("th", { scope: "row" });
    head.append(named(system));
    row.append(head);
    row.addEventListener("mouseenter", () => figures.light(index));
    row.addEventListener("mouseleave", () => figures.light(null));
    const own = Object.keys(cells).map((figure) => {
      const cell = row.insertCell();
      cell.dataset.figure = figure;
      cell.dataset.system = system.name;
      const [text, ends] = [document.createTextNode(""), Dom.element("small", { class: "interval" })];
      cell.append(text, ends);
      return { figure, cell, own: text, ends };
    });
    sparks.push(row.insertCell());
    return own;
  });
  const sparkled = [...data.log_odds.keys()].filter((k) => k % 6 === 0 && Math.abs(data.log_odds[k]) <= 7);

  /** Numbers of the cards. @type {{name: "act_dcf" | "min_dcf", index: number, place: HTMLElement}[]} */
  const onCards = [...document.querySelectorAll("[data-live]")].flatMap((one) => {
    const { live, of } = /** @type {HTMLElement} */ (one).dataset;
    const index = systems.findIndex((/** @type {any} */ system) => system.name === of);
    return index < 0 ? [] : [{ name: /** @type {any} */ (live), index, place: /** @type {HTMLElement} */ (one) }];
  });

  /** @returns {number} */
  function nTrials() {
    const given = Typing.countOf(input("trials").value);
    return given > 0 && given < 1e15 ? given : EXPECTED;
  }

  /** Show the metrics at the chosen point. */
  function show() {
    const point = pointOf(data, choice, systems);
    const total = nTrials();
    /** @type {[number, string][]} */
    const words = [];
    systems.forEach((/** @type {any} */ system, /** @type {number} */ index) => {
      const [found, bounds] = [figuresOf(system, point, total), boundsOf(system, point)];
      for (const { figure, cell, own, ends } of rows[index]) {
        const [text, bracket] = cells[figure](found, system, point, bounds);
        own.data = text;
        ends.textContent = bracket;
        cell.dataset.value = String(found[figure]);
      }
      const [xs, ys] = [data.log_odds, system.act_dcf].map((some) => sparkled.map((k) => some[k]));
      sparks[index].replaceChildren(Multiples.spark(xs, ys, Dom.visible(system.color), point.logOdds));
      for (const one of onCards) if (one.index === index) one.place.textContent = number(found[one.name]);
      const [caught, alarms] = [total * point.p - found.expected_misses, found.expected_false_alarms];
      words.push([found.act_dcf, `${system.name} finds ${expected(caught)} and raises ${expected(alarms)} false alarms`]);
    });
    const most = 4;
    const frequencies = document.getElementById("frequencies");
    const spoken = /** @type {any} */ (frequencies?.querySelector("[data-place=frequencies]"));
    if (words.length > most) words.sort(([one], [other]) => one - other); // the first ones cost least
    const lines = words.slice(0, most).map(([, text]) => text);
    if (words.length > most) lines.push(`${words.length - most} more systems: see the table of the operating point.`);
    if (spoken) spoken.replaceChildren(...lines.map((one) => Dom.element("li", {}, one)));
    const targets = /** @type {any} */ (frequencies?.querySelector("[data-place=targets-expected]"));
    if (targets) targets.textContent = Numbers.general(total * point.p, 4);
    // Intervals of costs are those of the first operating point.
    const isFirst = [asked.p === choice.p, asked.c_miss === choice.cMiss, asked.c_fa === choice.cFa].every(Boolean);
    for (const one of document.querySelectorAll("[data-live-interval]")) /** @type {HTMLElement} */ (one).style.visibility = isFirst && conditions.at === null ? "" : "hidden";
    for (const one of section.querySelectorAll("[data-place=total]")) one.textContent = count(total);
    const decides = Math.abs(point.logOdds) < 1e-12 ? "either decision" : point.logOdds < 0 ? "rejecting all" : "accepting all";
    const facts = {
      threshold: data.nats ? `${number(point.threshold)} nats` : `${number(point.threshold * Math.LOG10E)} in log10`,
      prior: prior(point.p),
      effective_prior: prior(point.effective),
      default_cost: `${Numbers.general(point.defaultCost, 4)} (${decides})`,
    };
    for (const [figure, text] of Object.entries(facts)) place(figure).textContent = text;
    place("threshold").dataset.value = String(point.threshold);
    place("prior").dataset.value = String(point.p);
    place("effective_prior").dataset.value = String(point.effective);
    place("default_cost").dataset.value = String(point.defaultCost);
    place("moved").textContent = whereInWords(point);
    place("command").textContent = asCommand({ ...data, command: data.command + conditions.options }, choice);
    place("command-lacks").textContent = conditions.hasOptions ? "" : "Not available for this condition: no command-line option selects its trials.";
    place("copy").disabled = !conditions.hasOptions; // the command would not evaluate these trials
    forest.follow(systems, point, conditionNow(), isFirst);
    conditions.follow(point);
    compare.follow(systems, point, conditions.words);
    const preset = data.points.findIndex((/** @type {any} */ one) => one.p === choice.p && one.c_miss === choice.cMiss && one.c_fa === choice.cFa);
    input("preset").value = String(preset);
    figures.follow(point);
    multiples.follow(point);
  }

  /** Describe the shown point, and differences from the chosen one. @param {any} point */
  function whereInWords(point) {
    if (point.isMoved) {
      return `Shown at prior ${prior(point.p)}, the nearest to ${prior(choice.p)} with counted errors. The command below evaluates at ${prior(choice.p)}.`;
    }
    const hasIntervals = !point.isOnGrid && systems.some((/** @type {any} */ one) => Object.keys(one.interval).length);
    const areBounded = systems.some((/** @type {any} */ one) => Object.keys(boundsOf(one, point)).length);
    return [
      "Shown at exactly this point.",
      hasIntervals ? `Intervals are at effective prior ${prior(data.priors[point.place])}, the nearest one with intervals.` : "",
      areBounded ? "Values with bounds below them are interpolated, because not all scores fit on this page. The command below prints exact values." : "",
    ].filter(Boolean).join(" ");
  }

  /** Move a slider to a value, and extend its range if necessary. @param {any} slider @param {number} value */
  function slideTo(slider, value) {
    slider.min = String(Math.min(Number(slider.getAttribute("data-min")), Math.floor(value - 0.05)));
    slider.max = String(Math.max(Number(slider.getAttribute("data-max")), Math.ceil(value + 0.05)));
    slider.value = String(value);
  }

  /** Write the choice into all inputs except the one that changed. @param {any} except */
  function fill(except) {
    const texts = { prior: choice.p, "c-miss": choice.cMiss, "c-fa": choice.cFa };
    for (const [name, value] of Object.entries(texts)) {
      if (input(name) !== except) input(name).value = String(value);
      Typing.accept(input(name));
    }
    const sliders = { "prior-slider": logit(choice.p), "c-miss-slider": Math.log10(choice.cMiss), "c-fa-slider": Math.log10(choice.cFa) };
    for (const [name, value] of Object.entries(sliders)) if (input(name) !== except) slideTo(input(name), value);
    input("prior-slider").setAttribute("aria-valuetext", prior(choice.p));
    input("c-miss-slider").setAttribute("aria-valuetext", String(choice.cMiss));
    input("c-fa-slider").setAttribute("aria-valuetext", String(choice.cFa));
  }

  /** Show the trials of a condition, or all. @param {number | null} at */
  function useCondition(at) {
    systems = conditions.systemsAt(at);
    conditions.choose(at, pointOf(data, choice, systems));
    figures.replace();
    multiples.draw();
    for (const one of document.querySelectorAll("[data-place=trials-shown]")) {
      one.textContent = at === null ? "" : `${conditions.words}${conditions.rows[at].by ? ` ${data.conditions.about}` : ""} Paired differences are on all trials.`;
    }
    show();
  }

  /** Read choices from a link, besides the operating point. */
  function restore() {
    const given = Links.given();
    const n = Number(given.get("n") ?? EXPECTED);
    input("trials").value = String(n > 0 ? n : EXPECTED);
    isCompared = given.has("first") && compare.isThere;
    compare.chooseNamed(given.get("first"), given.get("second"));
    const wanted = given.get("condition");
    useCondition(conditions.named(wanted));
    if (wanted !== null && conditions.at === null) {
      for (const one of document.querySelectorAll("[data-place=trials-shown]")) one.textContent = `All trials: the condition “${wanted}” of the link is not available here.`;
    }
  }

  /** @param {any} chosen @param {any} [except] */
  function choose(chosen, except = null) {
    choice = chosen;
    fill(except);
    show();
    keepInLink();
  }

  /** Write the choices into the address. @param {boolean} [compares] */
  function keepInLink(compares = isCompared) {
    isCompared = compares;
    const condition = conditions.at === null ? null : conditions.rows[conditions.at].name;
    const n = nTrials() === EXPECTED ? null : String(nTrials());
    Links.keep(toLink(choice, { n, condition, ...compare.linked(isCompared) }));
  }

  /** @param {any} box @param {(value: number) => any} made @param {() => string} expected @param {(text: string) => number} [read] */
  function onTyping(box, made, expected, read = Typing.numberOf) {
    box.addEventListener("input", () => {
      const chosen = made(read(box.value));
      if (isChoice(chosen)) choose(chosen, box);
      else Typing.refuse(box, expected());
    });
    box.addEventListener("change", () => {
      if (box.getAttribute("aria-invalid") !== "true") fill(null);
    });
  }

  const costOf = (/** @type {any} */ slider) => Number((10 ** Number(slider.value)).toPrecision(2));
  onTyping(input("prior"), (p) => ({ ...choice, p }), () => `Type a prior above 0 and below 1, such as 0.01, 1/100, 1%, 1 in 100 or 1:99. The page still shows ${choice.p}.`, Typing.shareOf);
  const aCost = () => "Type a cost above 0, such as 10; the two costs can differ by a factor of at most 7e10.";
  onTyping(input("c-miss"), (cMiss) => ({ ...choice, cMiss }), aCost);
  onTyping(input("c-fa"), (cFa) => ({ ...choice, cFa }), aCost);
  input("prior-slider").addEventListener("input", (/** @type {any} */ event) => {
    const at = Number(event.target.value);
    const p = data.priors[nearest(data.log_odds, at)];
    choose({ ...choice, p: p > 0.5 ? Number(p.toPrecision(9)) : p || expit(at) }, event.target);
  });
  input("c-miss-slider").addEventListener("input", (/** @type {any} */ event) => choose({ ...choice, cMiss: costOf(event.target) }, event.target));
  input("c-fa-slider").addEventListener("input", (/** @type {any} */ event) => choose({ ...choice, cFa: costOf(event.target) }, event.target));
  input("trials").addEventListener("input", () => {
    if (nTrials() === Typing.countOf(input("trials").value)) Typing.accept(input("trials"));
    else Typing.refuse(input("trials"), `Type a number of trials above 0, such as 10,000. Numbers below are for ${count(EXPECTED)}.`);
    show();
    keepInLink();
  });
  data.points.forEach((/** @type {any} */ one, /** @type {number} */ k) => {
    const costs = one.c_miss === 1 && one.c_fa === 1 ? "" : `, costs ${one.c_miss}:${one.c_fa}`;
    input("preset").append(Dom.element("option", { value: String(k) }, `prior ${one.p}${costs} (${one.of})`));
  });
  input("preset").addEventListener("change", (/** @type {any} */ event) => {
    const one = data.points[Number(event.target.value)];
    if (one) choose({ p: one.p, cMiss: one.c_miss, cFa: one.c_fa });
  });
  addEventListener("hashchange", () => {
    const linked = fromLink(location.hash);
    if (!linked && !/[#&](condition|first|n)=/.test(location.hash)) return;
    restore();
    choose(linked ?? choice);
  });

  place("copy").addEventListener("click", async () => {
    const text = place("command").textContent;
    try {
      await navigator.clipboard.writeText(text);
      place("copied").textContent = "Copied.";
    } catch {
      getSelection()?.selectAllChildren(place("command"));
      place("copied").textContent = "The browser does not allow pages to copy. The command is selected: press Ctrl+C.";
    }
  });

  figures.offer(named, data.level !== null);
  figures.watch();
  for (const one of [controls, section, ...["charts", "frequencies"].map((id) => document.getElementById(id))]) if (one) /** @type {HTMLElement} */ (one).hidden = false;
  fill(null);
  restore();
  document.documentElement.dataset.live = "ready";
})();
