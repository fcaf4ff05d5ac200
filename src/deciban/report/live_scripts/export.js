// @ts-check
"use strict";
/** A chart as a file: SVG and PNG of what is shown, and CSV of the values along its curves. */
const Export = (() => {
  /** @param {string} text */
  const escaped = (text) => text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);

  /** @param {string} name @param {string} address */
  function download(name, address) {
    const link = document.createElement("a");
    link.href = address;
    link.download = name;
    link.click();
  }

  /** @param {string} text @param {string} type */
  const asAddress = (text, type) => `data:${type};charset=utf-8,${encodeURIComponent(text)}`;

  /** @param {number} value */
  const short = (value) => String(Number(value.toFixed(2)));

  /** @param {number} value @param {number[]} ends */
  const inside = (value, [low, high]) => value >= low && value <= high;

  /** The area of a band as a path; null values are left out. @param {any[]} band @param {any} at */
  function areaOf(band, { x, y }) {
    const [low, high] = band.map(([xs, ys]) => xs.flatMap((/** @type {any} */ one, /** @type {number} */ k) => (one === null || ys[k] === null ? [] : [`${short(x(one))} ${short(y(ys[k]))}`])));
    return low.length ? `M${[...low, ...high.reverse()].join("L")}Z` : "";
  }

  /** A line as a path, with gaps at null values. @param {any} one @param {any} at */
  function pathOf(one, { x, y }) {
    let path = "";
    let before = NaN;
    one.x.forEach((/** @type {number | null} */ value, /** @type {number} */ k) => {
      if (value === null || one.y[k] === null) before = NaN;
      else {
        const [across, down] = [short(x(value)), short(y(one.y[k]))];
        path += Number.isNaN(before) ? `M${across} ${down}` : one.isStep ? `H${across}V${down}` : `L${across} ${down}`;
        before = one.y[k];
      }
    });
    return path;
  }

  /** Axes with their labels and grid. @param {any} plot @param {any} range @param {any} at @param {number[]} box */
  function axesOf(plot, range, { x, y }, [left, top, right, bottom]) {
    const parts = [];
    const shown = (/** @type {any} */ axis, /** @type {number[]} */ [low, high]) => axis.splits(low, high).filter((/** @type {number} */ one) => inside(one, [low, high]));
    for (const value of shown(plot.x, range.x)) {
      const place = plot.x.turned ? `transform="translate(${short(x(value) + 4)} ${bottom + 6}) rotate(-90)" text-anchor="end"` : `x="${short(x(value))}" y="${bottom + 18}" text-anchor="middle"`;
      parts.push(`<path d="M${short(x(value))} ${top}V${bottom}" stroke="#ddd"/><text ${place}>${escaped(plot.x.write(value))}</text>`);
    }
    for (const value of shown(plot.y, range.y)) parts.push(`<path d="M${left} ${short(y(value))}H${right}" stroke="#ddd"/><text x="${left - 8}" y="${short(y(value) + 4)}" text-anchor="end">${escaped(plot.y.write(value))}</text>`);
    if (plot.top) {
      for (const value of shown(plot.top, range.x)) parts.push(`<text x="${short(x(value))}" y="${top - 6}" text-anchor="middle">${escaped(plot.top.write(value))}</text>`);
      parts.push(`<text x="${left - 8}" y="${top - 6}" text-anchor="end">${escaped(plot.top.label)}</text>`);
    }
    parts.push(`<text x="${(left + right) / 2}" y="${bottom + (plot.x.turned ? plot.x.size : 0) + 44}" text-anchor="middle">${escaped(plot.x.label)}</text>`);
    parts.push(`<text transform="translate(18 ${(top + bottom) / 2}) rotate(-90)" text-anchor="middle">${escaped(plot.y.label)}</text>`);
    return parts;
  }

  /** Everything inside the axes: cells, bands, references, lines, symbols and marks. @param {any} chart @param {any} at @param {number[]} box */
  function contentOf(chart, { x, y }, [left, top, right, bottom]) {
    const { plot, range, view, systems, lines, point } = chart;
    const at = { x, y };
    const colored = (/** @type {number} */ k) => systems[k].color;
    const shown = systems.map((/** @type {any} */ _, /** @type {number} */ k) => k).filter((/** @type {number} */ k) => view.shown[k]);
    const visible = lines.filter((/** @type {any} */ one) => chart.draws(one));
    const parts = [];
    const [width, height] = [x(1) - x(0), y(0) - y(1)];
    for (const one of shown.flatMap((/** @type {number} */ k) => plot.cells?.(systems[k]) ?? [])) {
      parts.push(`<rect x="${short(x(one.x) - width / 2)}" y="${short(y(one.y) - height / 2)}" width="${short(width)}" height="${short(height)}" fill="${one.color}" fill-opacity="${short(0.06 + 0.74 * one.share)}"/>`);
      if (width >= 26 && height >= 13) parts.push(`<text x="${short(x(one.x))}" y="${short(y(one.y) + 4)}" text-anchor="middle" fill="#000" font-size="11">${escaped(one.value)}</text>`);
    }
    for (const one of visible) if (one.band && (view.bands || view.lit === one.system)) parts.push(`<path class="band" d="${areaOf(one.band, at)}" fill="${colored(one.system)}" fill-opacity="0.2"/>`);
    const cuts = plot.cuts?.(shown.map((/** @type {number} */ k) => systems[k])) ?? { x: [], y: [] };
    const dotted = [...new Set(cuts.x)].map((one) => `M${short(x(one))} ${top}V${bottom}`).concat([...new Set(cuts.y)].map((one) => `M${left} ${short(y(one))}H${right}`));
    if (plot.reference) dotted.push(pathOf({ x: plot.reference(...range.x).map((/** @type {number[]} */ [one]) => one), y: plot.reference(...range.x).map((/** @type {number[]} */ [, one]) => one) }, at));
    if (dotted.length) parts.push(`<path class="reference" d="${dotted.join("")}" stroke="#1c2128" stroke-width="1.2" stroke-dasharray="2 3"/>`);
    for (const one of visible) parts.push(`<path d="${pathOf(one, at)}" stroke="${colored(one.system)}" stroke-width="${one.wide ?? (one.dash ? 1.3 : 2)}"${one.dash ? ' stroke-dasharray="6 4"' : ""}${one.pale ? ` stroke-opacity="${one.pale}"` : ""}/>`);
    for (const k of shown) {
      for (const { x: across, y: up, corners } of plot.symbols?.(systems[k]) ?? []) parts.push(`<path class="symbol" d="M${corners.map((/** @type {number[]} */ [over, down]) => `${short(x(across) + over)} ${short(y(up) + down)}`).join("L")}Z" fill="${colored(k)}" stroke="#fff"/>`);
      for (const [across, up] of point ? plot.marks(systems[k], point) : []) if (!Number.isNaN(across + up)) parts.push(`<circle class="mark" cx="${short(Math.min(Math.max(x(across), left), right))}" cy="${short(Math.min(Math.max(y(up), top), bottom))}" r="5" fill="${colored(k)}" stroke="#fff" stroke-width="1.5"/>`);
    }
    if (plot.threshold && point && inside(point.threshold, range.x)) parts.push(`<path class="threshold" d="M${short(x(point.threshold))} ${top}V${bottom}" stroke="#1c2128" stroke-width="1.5" stroke-dasharray="6 4"/>`);
    return parts;
  }

  let drawings = 0;

  /** The shown part of a chart as SVG, on white paper, which can be edited and printed at any size. @param {any} chart @param {number} [wide] @returns {string} */
  function svgOf(chart, wide = 720) {
    const { plot, range, view, systems } = chart;
    const named = systems.filter((/** @type {any} */ _, /** @type {number} */ k) => view.shown[k]);
    const [left, right] = [Math.max(70, (plot.y.size ?? 0) + 30), wide - 20];
    /** Places of the names, in rows. */
    let [over, row] = [0, 0];
    const places = named.map((/** @type {any} */ { name }) => {
      const long = 30 + 7.5 * name.length;
      if (over && left + over + long > right) [over, row] = [0, row + 1];
      over += long;
      return [left + over - long, 31 + 18 * row];
    });
    const top = 64 + 18 * row + (plot.top ? 18 : 0);
    const [width, height] = [wide, top + 0.5 * wide + 70 + (plot.x.turned ? plot.x.size : 0)];
    const bottom = top + 0.5 * wide + 10;
    drawings += 1; // clips of several drawings in one page have different names
    const at = {
      x: (/** @type {number} */ value) => left + ((value - range.x[0]) / (range.x[1] - range.x[0])) * (right - left),
      y: (/** @type {number} */ value) => bottom - ((value - range.y[0]) / (range.y[1] - range.y[0])) * (bottom - top),
    };
    const box = [left, top, right, bottom];
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13">`,
      `<rect width="${width}" height="${height}" fill="#fff"/><text x="${left}" y="22" font-weight="bold">${escaped(chart.title)}</text>`,
      ...named.map((/** @type {any} */ one, /** @type {number} */ k) => `<rect x="${places[k][0]}" y="${places[k][1]}" width="10" height="10" fill="${one.color}"/><text x="${places[k][0] + 16}" y="${places[k][1] + 9}">${escaped(one.name)}</text>`),
      ...axesOf(plot, range, at, box),
      `<clipPath id="inside-${drawings}"><rect x="${left}" y="${top}" width="${right - left}" height="${bottom - top}"/></clipPath><g clip-path="url(#inside-${drawings})" fill="none">`,
      ...contentOf(chart, at, box),
      "</g></svg>",
    ].join("");
  }

  /** The same drawing as an element for print. @param {any} chart */
  function printedOf(chart) {
    const drawn = document.importNode(new DOMParser().parseFromString(svgOf(chart, 540), "image/svg+xml").documentElement, true);
    drawn.setAttribute("class", "printed");
    drawn.setAttribute("aria-hidden", "true");
    return drawn;
  }

  /** The values along all curves that are shown. @param {any} chart @returns {string} */
  function csvOf(chart) {
    const quoted = (/** @type {string} */ text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const safe = (/** @type {string} */ text) => quoted(/^[=+\-@\t]/.test(text) ? `'${text}` : text); // spreadsheets run such cells
    const { plot, systems, view } = chart;
    const rows = [["system", plot.cells ? "value" : "curve", plot.x.label || "column", plot.y.label || "row"].map(quoted).join(",")];
    systems.forEach((/** @type {any} */ system, /** @type {number} */ k) => {
      if (view.shown[k]) for (const { x, y, value } of plot.cells?.(system) ?? []) rows.push([system.name, value, plot.x.whole(x), plot.y.whole(y)].map(safe).join(","));
    });
    for (const one of chart.lines) {
      if (!chart.view.shown[one.system]) continue;
      const name = safe(chart.systems[one.system].name);
      // Axes of normal deviates have rates in percent beside them.
      const [xs, ys] = one.rates ?? [one.x, one.y];
      const [across, up] = one.rates ? [100, 100] : [plot.x.factor ?? 1, plot.y.factor ?? 1];
      const written = (/** @type {number} */ value) => String(Number(value.toPrecision(12)));
      xs.forEach((/** @type {number | null} */ value, /** @type {number} */ k) => {
        const row = plot.y.size ? safe(plot.y.whole(Math.round(ys[k]))) : written(up * ys[k]);
        if (value !== null && ys[k] !== null) rows.push(`${name},${one.dash ? "dashed" : one.pale ? "pale" : "solid"},${written(across * value)},${row}`);
      });
    }
    return `${rows.join("\n")}\n`;
  }

  /** The same picture as PNG, with two dots for each unit. @param {any} chart @returns {Promise<string>} */
  async function pictureOf(chart) {
    const drawn = new Image();
    drawn.src = asAddress(svgOf(chart), "image/svg+xml");
    await drawn.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * drawn.width, 2 * drawn.height];
    /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")).drawImage(drawn, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL("image/png");
  }

  /** Buttons that save a chart. @param {any} chart @param {string} name @returns {HTMLElement} */
  function buttonsOf(chart, name) {
    const row = document.createElement("span");
    row.className = "chart-tools";
    /** @type {Record<string, () => any>} */
    const made = {
      SVG: () => download(`${name}.svg`, asAddress(svgOf(chart), "image/svg+xml")),
      PNG: async () => download(`${name}.png`, await pictureOf(chart)),
      CSV: () => download(`${name}.csv`, asAddress(csvOf(chart), "text/csv")),
      "Show all": () => chart.zoom(chart.home),
    };
    for (const [text, save] of Object.entries(made)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.setAttribute("aria-label", text === "Show all" ? `Show all of ${chart.title}` : `Save ${chart.title} as ${text}`);
      if (text === "Show all") button.className = "whole";
      button.addEventListener("click", save);
      row.append(button);
    }
    return row;
  }

  return { buttonsOf, csvOf, pathOf, printedOf, svgOf };
})();
