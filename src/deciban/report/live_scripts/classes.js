// @ts-check
"use strict";
/** Decisions between many classes: the confusion matrix at a prior that the reader chooses, and what is known of a pair. */
(() => {
  const source = document.getElementById("page-data");
  const section = document.getElementById("class-decisions");
  if (!source || !section) return;
  const data = JSON.parse(source.textContent ?? "");
  const { count, number, percent, general } = Numbers;
  const { classes, priors, systems } = data;
  const n = classes.length;
  const view = { system: 0, target: 0, at: /** @type {number | null} */ (null), pair: [0, 1] };

  /** @param {string} name @returns {any} */
  const input = (name) => section.querySelector(`[name="${name}"]`);
  /** @param {string} name @returns {any} */
  const place = (name) => section.querySelector(`[data-place="${name}"]`);

  /** Rates are rounded to what can be told apart. @param {number} p */
  const prior = (p) => general(p, 4);

  /** Decisions at the chosen prior; those of the evaluation if none is chosen. @returns {number[][]} */
  function confusion() {
    const system = systems[view.system];
    if (view.at === null || !system.decided) return system.confusion;
    const [numbers, k] = [system.decided[view.target], view.target];
    const found = classes.map(() => classes.map(() => 0));
    for (let at = 0, i = 0; at <= priors.length; at += 1)
      for (let c = 0; c < n; c += 1)
        for (let j = 0; j < n - 1; j += 1, i += 1) found[c][at <= view.at ? k : j < k ? j : j + 1] += numbers[i];
    return found;
  }

  /** The prior of every class. @returns {number[]} */
  function priorOfAll() {
    const own = systems[view.system].prior;
    if (view.at === null) return own;
    const p = priors[view.at];
    return own.map((/** @type {number} */ share, /** @type {number} */ k) => (k === view.target ? p : (share * (1 - p)) / (1 - own[view.target])));
  }

  /** Brier score, and C_avg with the prior of a target that it is at. @returns {[number | null, {p: number, value: number | null}]} */
  function otherFigures() {
    const { brier, c_avg } = systems[view.system];
    if (view.at === null || !brier[1]) return [brier[0], { p: c_avg[0], value: c_avg[1] }];
    const at = view.at;
    return [brier[1][view.target][at], c_avg[2] ? { p: priors[at], value: c_avg[2][at] } : { p: c_avg[0], value: c_avg[1] }];
  }

  /** @type {HTMLButtonElement[][]} */
  const buttons = [];
  const head = place("columns");
  const rows = place("cells");
  /** @param {string} tag @param {string} text @param {string} scope */
  function heading(tag, text, scope) {
    const one = document.createElement(tag);
    one.textContent = text;
    one.setAttribute("scope", scope);
    return one;
  }
  head.append(heading("th", "class \u2193, taken for \u2192", "col"), ...classes.map((/** @type {string} */ name) => heading("th", name, "col")));
  classes.forEach((/** @type {string} */ name, /** @type {number} */ c) => {
    const row = rows.insertRow();
    row.append(heading("th", name, "row"));
    buttons.push(
      classes.map((/** @type {string} */ other, /** @type {number} */ k) => {
        const button = document.createElement("button");
        button.type = "button";
        row.insertCell().append(button);
        button.addEventListener("click", () => choosePair(c, k));
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

  /** @param {number} c @param {number} k */
  function choosePair(c, k) {
    view.pair = [c, k];
    for (const one of buttons.flat()) one.tabIndex = -1;
    buttons[c][k].tabIndex = 0;
    show();
  }

  /** What is known of the chosen cell. @param {number[][]} found @returns {string[]} */
  function aboutPair(found) {
    const system = systems[view.system];
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

  function show() {
    const [found, shares, system] = [confusion(), priorOfAll(), systems[view.system]];
    let wrong = 0;
    found.forEach((row, c) => {
      const total = system.counts[c];
      wrong += shares[c] * (1 - row[c] / total);
      row.forEach((value, k) => {
        const button = buttons[c][k];
        const share = total ? value / total : 0;
        button.textContent = count(value);
        button.dataset.value = String(value);
        button.style.setProperty("--share", `${Math.round(100 * Math.sqrt(share))}%`);
        button.classList.toggle("right", c === k);
        button.setAttribute("aria-pressed", String(c === view.pair[0] && k === view.pair[1]));
        button.setAttribute("aria-label", `${classes[c]} taken for ${classes[k]}: ${count(value)} of ${count(total)}`);
      });
    });
    place("error_rate").textContent = percent(wrong);
    place("error_rate").dataset.value = String(wrong);
    const [brier, cost] = otherFigures();
    place("brier").textContent = number(brier);
    place("c_avg").textContent = number(cost.value, 4);
    place("p_target").textContent = prior(cost.p);
    place("shares").textContent = shares.map((p, k) => `${classes[k]} ${prior(p)}`).join(", ");
    place("default").textContent = percent(1 - Math.max(...shares));
    place("pair").replaceChildren(
      ...aboutPair(found).map((text) => {
        const line = document.createElement("p");
        line.textContent = text;
        return line;
      }),
    );
    const p = shares[view.target];
    if (document.activeElement !== input("class-prior")) input("class-prior").value = prior(p);
    input("class-prior-slider").value = String(view.at ?? nearest(p));
    input("class-prior-slider").setAttribute("aria-valuetext", prior(p));
    const isKnown = Boolean(system.decided);
    for (const name of ["class-prior", "class-prior-slider", "class-target"]) input(name).disabled = !isKnown;
    place("class-moved").textContent = !isKnown
      ? "Decisions were counted at the prior of the evaluation alone."
      : view.at === null
        ? "Shown at the prior of the evaluation."
        : `Shown at prior ${prior(p)} of ${classes[view.target]}, one of ${priors.length} at which decisions were counted; the other classes keep their shares of the rest.`;
  }

  /** @param {number} p */
  function nearest(p) {
    const odds = (/** @type {number} */ x) => Math.log(x) - Math.log1p(-x);
    const far = priors.map((/** @type {number} */ one) => Math.abs(odds(one) - odds(p)));
    return far.indexOf(Math.min(...far));
  }

  /** @param {any} select @param {string[]} names */
  function fill(select, names) {
    names.forEach((name, k) => {
      const option = document.createElement("option");
      option.value = String(k);
      option.textContent = name;
      select.append(option);
    });
  }
  fill(input("class-system"), systems.map((/** @type {any} */ one) => one.name));
  fill(input("class-target"), classes);
  input("class-prior-slider").max = String(priors.length - 1);
  input("class-system").addEventListener("change", () => {
    view.system = Number(input("class-system").value);
    show();
  });
  input("class-target").addEventListener("change", () => {
    view.target = Number(input("class-target").value);
    show();
  });
  input("class-prior-slider").addEventListener("input", () => {
    view.at = Number(input("class-prior-slider").value);
    show();
  });
  input("class-prior").addEventListener("input", () => {
    const p = Number(input("class-prior").value.trim().replace(",", ".") || NaN);
    if (p > 0 && p < 1) {
      view.at = nearest(p);
      input("class-prior").removeAttribute("aria-invalid");
      show();
    } else input("class-prior").setAttribute("aria-invalid", "true");
  });
  input("class-prior").addEventListener("change", () => {
    input("class-prior").blur();
    input("class-prior").removeAttribute("aria-invalid");
    show();
  });
  place("class-reset").addEventListener("click", () => {
    view.at = null;
    show();
  });
  choosePair(0, n > 1 ? 1 : 0);
  section.hidden = false;
})();
