// @ts-check
"use strict";
/** Numbers that readers type, and what is said beside a box that holds none. */
const Typing = (() => {
  /** A number with a point or a comma. @param {string} text */
  const plain = (text) => (/^[-+]?(\d+([.,]\d*)?|[.,]\d+)(e[-+]?\d+)?$/i.test(text.trim()) ? Number(text.trim().replace(",", ".")) : NaN);

  /** A number, a fraction or a percentage; NaN for anything else. @param {string} text @returns {number} */
  function numberOf(text) {
    const parts = text.split("/");
    if (parts.length === 2) return plain(parts[0]) / plain(parts[1]);
    const share = /^(.*)%\s*$/.exec(text);
    // By its digits: 12.3 / 100 is not the number nearest to 0.123.
    return share ? (Number.isNaN(plain(share[1])) ? NaN : Number(`${plain(share[1])}e-2`)) : plain(text);
  }

  /** A number of trials, in which separators stand between thousands. @param {string} text */
  const countOf = (text) => (/^\d{1,3}([.,\s]\d{3})+$/.test(text.trim()) ? Number(text.replace(/\D/g, "")) : plain(text));

  /** Keep the text of a box, mark it, and say beside it what is expected. @param {any} box @param {string} expected */
  function refuse(box, expected) {
    box.setAttribute("aria-invalid", "true");
    const note = noteOf(box);
    note.textContent = `${box.value.trim() === "" ? "Nothing is typed." : `\u201c${box.value}\u201d is none.`} ${expected}`;
    note.hidden = false;
    box.setAttribute("aria-describedby", note.id);
  }

  /** Take the mark from a box, and what was said. @param {any} box */
  function accept(box) {
    box.removeAttribute("aria-invalid");
    box.removeAttribute("aria-describedby");
    noteOf(box).hidden = true;
  }

  /** @param {any} box @returns {HTMLElement} */
  function noteOf(box) {
    const id = `${box.id}-wrong`;
    const known = document.getElementById(id);
    if (known) return known;
    const note = document.createElement("span");
    note.id = id;
    note.className = "small wrong";
    note.setAttribute("role", "alert");
    note.hidden = true;
    box.closest(".field").append(note);
    return note;
  }

  return { accept, countOf, numberOf, refuse };
})();
