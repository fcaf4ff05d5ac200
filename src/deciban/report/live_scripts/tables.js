// @ts-check
"use strict";
/** Tables of the class "sortable": headings become buttons that sort by their column, and a button copies the table. */
(() => {
  /** @typedef {{ head: HTMLTableCellElement, at: number, group: string }} Column */

  /** Return the text of a cell, without its interval. @param {Element | undefined} cell */
  function estimate(cell) {
    const own = /** @type {Element} */ (cell?.cloneNode(true) ?? document.createElement("td"));
    for (const one of own.querySelectorAll(".interval")) one.remove();
    for (const one of own.querySelectorAll("small")) one.prepend(" ");
    return (own.textContent ?? "").trim();
  }

  /** Return the number in a text; NaN if there is none. @param {string} text */
  function numberOf(text) {
    const plain = text.replaceAll("\u2212", "-").replaceAll(",", "").replace(/\s*%$/, "").replace("\u221e", "Infinity");
    return /^[-+]?(\d|\.\d|Infinity)/.test(plain) ? Number(plain) : NaN;
  }

  /** @param {string} text */
  const isMissing = (text) => text === "" || text === "\u2013";

  /** Return every heading with its column, in the order of columns. @param {HTMLTableElement} table @returns {Column[]} */
  function columnsOf(table) {
    /** @type {string[][]} */
    const taken = [];
    /** @type {Column[]} */
    const found = [];
    [...(table.tHead?.rows ?? [])].forEach((row, line) => {
      let at = 0;
      for (const head of row.cells) {
        while (taken[line]?.[at] !== undefined) at += 1;
        const group = line ? (taken[line - 1]?.[at] ?? "") : "";
        for (let k = 0; k < head.rowSpan; k += 1) {
          taken[line + k] ??= [];
          for (let j = 0; j < head.colSpan; j += 1) taken[line + k][at + j] = estimate(head);
        }
        if (head.colSpan === 1 && !head.classList.contains("spark")) found.push({ head, at, group });
        at += head.colSpan;
      }
    });
    return found.sort((a, b) => a.at - b.at);
  }

  /**
   * Sort rows by a column: numbers by value, missing values last, ties in their previous order.
   * @param {HTMLTableRowElement[]} rows
   * @param {number} at
   * @param {number} sign
   */
  function sorted(rows, at, sign) {
    const texts = rows.map((row) => estimate(row.cells[at]));
    const isText = rows.some((row, k) => row.cells[at]?.classList.contains("text") || (!isMissing(texts[k]) && Number.isNaN(numberOf(texts[k]))));
    /** @param {number} a @param {number} b */
    function order(a, b) {
      const lacking = Number(isMissing(texts[a])) - Number(isMissing(texts[b]));
      if (lacking) return lacking;
      if (isMissing(texts[a])) return a - b;
      const [one, other] = [numberOf(texts[a]), numberOf(texts[b])];
      const difference = isText ? texts[a].localeCompare(texts[b], undefined, { numeric: true }) : one === other ? 0 : one < other ? -1 : 1;
      return sign * difference || a - b;
    }
    return rows.map((_, k) => k).sort(order).map((k) => rows[k]);
  }

  /** Return the table as text: a line for each row, tabs between cells. @param {HTMLTableElement} table @param {Column[]} columns */
  function asText(table, columns) {
    const plain = (/** @type {string} */ text) => text.replace(/\s+/g, " ").trim();
    const heads = columns.map(({ head, group }) => plain(`${group} ${estimate(head)}`));
    const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden).map((row) =>
      [...row.cells].filter((cell) => !cell.classList.contains("spark")).map((cell) => {
        const bracket = cell.querySelector(".interval")?.textContent ?? "";
        const [own, text] = [estimate(cell), plain(`${estimate(cell)} ${bracket}`)];
        const isNumber = !bracket && !cell.classList.contains("text") && !Number.isNaN(numberOf(own));
        return isNumber ? own.replaceAll("\u2212", "-").replaceAll(",", "") : text;
      }),
    );
    return [heads, ...rows].map((cells) => cells.join("\t")).join("\n");
  }

  /** Add a filter box: rows stay visible if their first cell contains all of its words. @param {HTMLTableElement} table @param {string} label */
  function filterOf(table, label) {
    const [whole, box] = [document.createElement("label"), document.createElement("input")];
    whole.className = "filter";
    box.type = "search";
    whole.append(label, box);
    box.addEventListener("input", () => {
      const words = box.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
      for (const row of table.tBodies[0].rows) {
        const held = estimate(row.cells[0]).toLowerCase();
        row.hidden = !words.every((word) => held.includes(word));
      }
    });
    return whole;
  }

  /** @param {HTMLTableElement} table */
  function enliven(table) {
    const columns = columnsOf(table);
    if (table.tBodies.length !== 1 || table.tBodies[0].rows.length < 2) return;
    const body = table.tBodies[0];
    for (const { head, at } of columns) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const isUp = head.getAttribute("aria-sort") !== "ascending";
        for (const one of columns) one.head.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", isUp ? "ascending" : "descending");
        body.append(...sorted([...body.rows], at, isUp ? 1 : -1));
      });
    }
    const [line, copy, said] = [document.createElement("p"), document.createElement("button"), document.createElement("span")];
    line.className = "copy-table";
    copy.type = "button";
    copy.textContent = "Copy table";
    const label = table.closest("[aria-label]")?.getAttribute("aria-label");
    if (label) copy.setAttribute("aria-label", `Copy table: ${label}`);
    said.setAttribute("role", "status");
    line.append(copy, " ", said);
    if (table.dataset.filter) line.prepend(filterOf(table, table.dataset.filter));
    (table.closest(".wide") ?? table).before(line);
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(asText(table, columns));
        said.textContent = "Copied, with tabs between columns.";
      } catch {
        getSelection()?.selectAllChildren(table);
        said.textContent = "The browser does not allow pages to copy. The table is selected: press Ctrl+C.";
      }
    });
  }

  for (const table of document.querySelectorAll("table.sortable")) enliven(/** @type {HTMLTableElement} */ (table));
})();
