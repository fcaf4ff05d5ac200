// @ts-check
"use strict";
/** Brings a page to life: the choice of an operating point, its table, the systems that are shown, and the charts. */
(async () => {
  const source = document.getElementById("page-data");
  const section = document.getElementById("operating-point");
  if (!source || !section) return;
  const data = await PageData.read(source);
  if (!data) return;
  const { count, interval, number, percent, prior } = Numbers;
  const { asCommand, boundsOf, figuresOf, fromLink, isChoice, logit, nearest, pointOf, toLink, expit } = OperatingPoints;
  /** Trials, if the reader says no other number. */
  const EXPECTED = 1000;
  let systems = data.sets[0].systems;
  const plots = Plots.plotsOf(data);
  /** Systems up to which all bands are shown at first: of more, that of the system that is pointed at. */
  const MOST_WITH_BANDS = 3;
  const view = { shown: systems.map(() => true), lit: /** @type {number | null} */ (null), bands: systems.length <= MOST_WITH_BANDS };
  /** @type {Map<Element, any>} */
  const charts = new Map();
  const conditions = new Conditions.Conditions(data, Conditions.TWO_CLASSES, (at) => {
    useCondition(at);
    keepInLink();
  });
  const compare = new Compare.Compare(data, Compare.TWO_CLASSES, plots.bayes_error, () => keepInLink(true));
  let isCompared = false;

  /** @param {string} name @returns {any} */
  const input = (name) => section.querySelector(`[name="${name}"]`);
  /** @param {string} name @returns {any} */
  const place = (name) => section.querySelector(`[data-place="${name}"]`);

  const asked = data.points[0];
  let choice = fromLink(location.hash) ?? { p: asked.p, cMiss: asked.c_miss, cFa: asked.c_fa };

  /** What stands in the cells of a system, by figure. @type {Record<string, (found: any, system: any, point: any, bounds: any) => [string, string]>} */
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

  /** Bounds of a figure that is not known exactly. @param {number[] | undefined} ends @param {(value: number) => string} write */
  const within = (ends, write) => (ends && ends[0] !== ends[1] ? `from ${write(Math.min(...ends))} to ${write(Math.max(...ends))}` : "");

  /** The interval at the nearest place of the grid, which holds the rate in any case. @param {any} system @param {string} name @param {any} point @param {number} rate */
  function withInterval(system, name, { place: k }, rate) {
    const ends = system.interval[name];
    return ends ? interval(Math.min(ends[0][k], rate), Math.max(ends[1][k], rate), percent) : "";
  }

  /** Trials that are expected, which need not be whole. @param {number} value */
  const expected = (value) => number(value, value < 100 ? 2 : 0);

  const rows = systems.map((/** @type {any} */ system, /** @type {number} */ index) => {
    const row = place("rows").insertRow();
    const head = Charts.element("th", { scope: "row" });
    head.append(named(system));
    row.append(head);
    row.addEventListener("mouseenter", () => light(index));
    row.addEventListener("mouseleave", () => light(null));
    return Object.keys(cells).map((figure) => {
      const cell = row.insertCell();
      cell.dataset.figure = figure;
      cell.dataset.system = system.name;
      const [own, ends] = [document.createTextNode(""), Charts.element("small", { class: "interval" })];
      cell.append(own, ends);
      return { figure, cell, own, ends };
    });
  });

  /** @param {any} system */
  function named(system) {
    const whole = Charts.element("span", { class: "system", title: system.name });
    const swatch = Charts.element("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = Charts.visible(system.color);
    whole.append(swatch, Charts.put(Charts.element("span", {}), system.name));
    return whole;
  }

  /** @returns {number} */
  function nTrials() {
    const given = Typing.countOf(input("trials").value);
    return given > 0 && given < 1e15 ? given : EXPECTED;
  }

  /** Show the figures of the point that was chosen. */
  function show() {
    const point = pointOf(data, choice, systems);
    const total = nTrials();
    systems.forEach((/** @type {any} */ system, /** @type {number} */ index) => {
      const [found, bounds] = [figuresOf(system, point, total), boundsOf(system, point)];
      for (const { figure, cell, own, ends } of rows[index]) {
        const [text, bracket] = cells[figure](found, system, point, bounds);
        own.data = text;
        ends.textContent = bracket;
        cell.dataset.value = String(found[figure]);
      }
    });
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
    place("command-lacks").textContent = conditions.hasOptions ? "" : "Not to copy: it is about all trials, and no option chooses just these.";
    place("copy").disabled = !conditions.hasOptions; // what it evaluates would be other figures than those above
    conditions.follow(point);
    compare.follow(systems, point, conditions.words);
    const preset = data.points.findIndex((/** @type {any} */ one) => one.p === choice.p && one.c_miss === choice.cMiss && one.c_fa === choice.cFa);
    input("preset").value = String(preset);
    for (const chart of charts.values()) chart.follow(point);
  }

  /** Which point is shown, and what is not of just this point. @param {any} point */
  function whereInWords(point) {
    if (point.isMoved) {
      return `Shown at prior ${prior(point.p)}, which is nearest to ${prior(choice.p)} among those at which errors were counted. The command below evaluates at ${prior(choice.p)}.`;
    }
    const hasIntervals = !point.isOnGrid && systems.some((/** @type {any} */ one) => Object.keys(one.interval).length);
    const areBounded = systems.some((/** @type {any} */ one) => Object.keys(boundsOf(one, point)).length);
    return [
      "Shown at just this point.",
      hasIntervals ? `Intervals are those at effective prior ${prior(data.priors[point.place])}, the nearest with intervals.` : "",
      areBounded ? "Figures with bounds below them are interpolated: this page has no room for all scores. The command below gives exact ones." : "",
    ].filter(Boolean).join(" ");
  }

  /** Put a slider at a value, and its ends where they are drawn, or a little beyond the value if it is farther. @param {any} slider @param {number} value */
  function slideTo(slider, value) {
    slider.min = String(Math.min(Number(slider.getAttribute("data-min")), Math.floor(value - 0.05)));
    slider.max = String(Math.max(Number(slider.getAttribute("data-max")), Math.ceil(value + 0.05)));
    slider.value = String(value);
  }

  /** Write the choice into all inputs but that which made it. @param {any} except */
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
    for (const chart of charts.values()) chart.replace(systems);
    for (const one of document.querySelectorAll("[data-place=trials-shown]")) {
      one.textContent = conditions.words + (at === null ? "" : ` ${data.conditions.about} Pictures that are no charts, and differences in pairs, are of all trials.`);
    }
    show();
  }

  /** What a link says beside the operating point. */
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

  /** Write what was chosen into the address. @param {boolean} [compares] */
  function keepInLink(compares = isCompared) {
    isCompared = compares;
    const condition = conditions.at === null ? null : conditions.rows[conditions.at].name;
    const n = nTrials() === EXPECTED ? null : String(nTrials());
    Links.keep(toLink(choice, { n, condition, ...compare.linked(isCompared) }));
  }

  /** @param {any} box @param {(value: number) => any} made @param {() => string} expected */
  function onTyping(box, made, expected) {
    box.addEventListener("input", () => {
      const chosen = made(Typing.numberOf(box.value));
      if (isChoice(chosen)) choose(chosen, box);
      else Typing.refuse(box, expected());
    });
    box.addEventListener("change", () => {
      if (box.getAttribute("aria-invalid") !== "true") fill(null);
    });
  }

  const costOf = (/** @type {any} */ slider) => Number((10 ** Number(slider.value)).toPrecision(2));
  onTyping(input("prior"), (p) => ({ ...choice, p }), () => `Type a prior above 0 and below 1, such as 0.01, 1/100 or 1%. Numbers below are still those of ${choice.p}.`);
  const aCost = () => "Type a cost above 0, such as 10; the other cost may differ by a factor of 7e10 at most.";
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
    else Typing.refuse(input("trials"), `Type a number of trials above 0, such as 10,000. Numbers below are those of ${count(EXPECTED)}.`);
    show();
    keepInLink();
  });
  data.points.forEach((/** @type {any} */ one, /** @type {number} */ k) => {
    const costs = one.c_miss === 1 && one.c_fa === 1 ? "" : `, costs ${one.c_miss}:${one.c_fa}`;
    input("preset").append(Charts.element("option", { value: String(k) }, `prior ${one.p}${costs} (${one.of})`));
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
      place("copied").textContent = "The browser does not let pages copy: the command is selected, press Ctrl+C.";
    }
  });

  let isDrawn = true;
  /** Draw all charts again, once before the next picture. */
  function refresh() {
    if (!isDrawn) return;
    isDrawn = false;
    requestAnimationFrame(() => {
      isDrawn = true;
      for (const chart of charts.values()) chart.refresh();
    });
  }

  /** @param {number | null} index */
  function light(index) {
    if (view.lit === index) return;
    view.lit = index;
    refresh();
  }

  const panel = document.getElementById("chart-choices");
  const figures = [...document.querySelectorAll("figure[data-plot]")].filter((one) => plots[/** @type {any} */ (one).dataset.plot]);
  if (panel && figures.length) {
    systems.forEach((/** @type {any} */ system, /** @type {number} */ index) => {
      const label = Charts.element("label", {});
      const box = /** @type {HTMLInputElement} */ (Charts.element("input", { type: "checkbox", name: "system", value: String(index) }));
      box.checked = true;
      label.append(box, named(system));
      box.addEventListener("change", () => {
        view.shown[index] = box.checked;
        refresh();
      });
      label.addEventListener("mouseenter", () => light(index));
      label.addEventListener("mouseleave", () => light(null));
      box.addEventListener("focus", () => light(index));
      box.addEventListener("blur", () => light(null));
      panel.querySelector("[data-place=systems]")?.append(label);
    });
    const bands = /** @type {HTMLInputElement} */ (panel.querySelector("[name=bands]"));
    bands.checked = view.bands;
    bands.addEventListener("change", () => {
      view.bands = bands.checked;
      refresh();
    });
    if (data.level === null) /** @type {HTMLElement} */ (bands.closest("label")).hidden = true;
    panel.hidden = false;
    document.addEventListener("lit", (/** @type {any} */ event) => light(event.detail));
    const waiting = new IntersectionObserver(
      (seen) => {
        for (const { isIntersecting, target } of seen) {
          if (!isIntersecting) continue;
          waiting.unobserve(target);
          const figure = /** @type {HTMLElement} */ (target);
          figure.classList.add("live");
          const chart = new Charts.Chart(figure, plots[figure.dataset.plot ?? ""], systems, view);
          chart.follow(pointOf(data, choice, systems));
          charts.set(figure, chart);
        }
      },
      { rootMargin: "400px" },
    );
    for (const figure of figures) waiting.observe(figure);
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const chart of charts.values()) chart.draw();
  });
  section.hidden = false;
  fill(null);
  restore();
  document.documentElement.dataset.live = "ready";
})();
