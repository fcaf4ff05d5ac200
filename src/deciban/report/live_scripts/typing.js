// @ts-check
"use strict";
/** Typed numbers, and messages next to boxes with invalid text. */
const Typing = (() => {
  /** Parse a number with a point or a comma. @param {string} text */
  const plain = (text) => (/^[-+]?(\d+([.,]\d*)?|[.,]\d+)(e[-+]?\d+)?$/i.test(text.trim()) ? Number(text.trim().replace(",", ".")) : NaN);

  /** Parse a number of trials with thousands separators. @param {string} text */
  const countOf = (text) => (/^\d{1,3}([.,\s]\d{3})+$/.test(text.trim()) ? Number(text.replace(/\D/g, "")) : plain(text));

  /** Parse a number, a fraction or a percentage; NaN for anything else. @param {string} text @returns {number} */
  function numberOf(text) {
    const parts = text.split("/");
    if (parts.length === 2) return countOf(parts[0]) / countOf(parts[1]);
    const share = /^(.*)%\s*$/.exec(text);
    // Shifts digits, because 12.3 / 100 is not the number nearest to 0.123.
    return share ? (Number.isNaN(plain(share[1])) ? NaN : Number(`${plain(share[1])}e-2`)) : plain(text);
  }

  /** Parse a probability, also as 1 in 100 or as odds 1:99. @param {string} text @returns {number} */
  function shareOf(text) {
    const among = text.split(/\s+in\s+/i);
    if (among.length === 2) return countOf(among[0]) / countOf(among[1]);
    const odds = text.split(":");
    return odds.length === 2 ? countOf(odds[0]) / (countOf(odds[0]) + countOf(odds[1])) : numberOf(text);
  }

  /** Mark a box as invalid, without changing its text, and show next to it what is expected. @param {any} box @param {string} expected */
  function refuse(box, expected) {
    box.setAttribute("aria-invalid", "true");
    const note = noteOf(box);
    note.textContent = `${box.value.trim() === "" ? "The box is empty." : `\u201c${box.value}\u201d is not valid.`} ${expected}`;
    note.hidden = false;
    box.setAttribute("aria-describedby", note.id);
  }

  /** Remove the mark and the message of a box. @param {any} box */
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
    box.closest(".field, #frequencies").append(note);
    return note;
  }

  return { accept, countOf, numberOf, refuse, shareOf };
})();
