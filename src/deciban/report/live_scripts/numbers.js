// @ts-check
"use strict";
/** Formats of numbers, identical to deciban.tables.writers. */
const Numbers = (() => {
  const MINUS = "\u2212";
  const MISSING = "\u2013";

  /**
   * Write a fixed number of decimals; ties round to even, as in Python.
   * @param {number} value
   * @param {number} digits
   */
  function fixed(value, digits) {
    const exact = Math.abs(value).toFixed(100);
    const cut = exact.length - 100 + digits;
    const kept = digits ? exact.slice(0, cut) : exact.slice(0, -101);
    const rest = exact.slice(digits ? cut : -100);
    const isTie = rest[0] === "5" && /^50*$/.test(rest);
    const last = Number(kept[kept.length - 1]);
    const text = isTie && last % 2 === 0 ? kept : Math.abs(value).toFixed(digits);
    return (value < 0 ? "-" : "") + text;
  }

  /** @param {string} text */
  function grouped(text) {
    const [whole, part] = text.split(".");
    const commas = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
    return part === undefined ? commas : `${commas}.${part}`;
  }

  /**
   * Write a number of significant digits without trailing zeros, as in Python's format "g".
   * @param {number} value
   * @param {number} digits
   */
  function general(value, digits) {
    if (value === 0) return "0";
    const [rounded, power] = value.toExponential(digits - 1).split("e");
    const exponent = Number(power);
    const trim = (/** @type {string} */ text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
    if (exponent >= -4 && exponent < digits) return trim(fixed(value, Math.max(digits - 1 - exponent, 0)));
    // Larger ties are whole numbers; smaller ties have more digits than are ever shown.
    const whole = Number.isInteger(value) && Math.abs(value) < 1e21 ? String(Math.abs(value)) : "";
    const isTieBelow = /^50*$/.test(whole.slice(digits)) && Number(whole[digits - 1]) % 2 === 0;
    const mantissa = isTieBelow ? `${value < 0 ? "-" : ""}${whole[0]}.${whole.slice(1, digits)}` : rounded;
    const sign = exponent < 0 ? "-" : "+";
    return `${trim(mantissa)}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }

  /** @param {string} text */
  const typeset = (text) => text.replaceAll("-", MINUS);

  /**
   * Write a number with fixed decimals.
   * @param {number | null} value
   * @param {number} [digits]
   */
  function number(value, digits = 3) {
    if (value === null || Number.isNaN(value)) return MISSING;
    if (!Number.isFinite(value)) return value > 0 ? "\u221e" : `${MINUS}\u221e`;
    if (Math.abs(value) >= 1e6) return typeset(general(value, 3));
    const text = grouped(fixed(value, digits));
    return text.startsWith("-") && Number(text.replaceAll(",", "")) === 0 ? text.slice(1) : text.replace("-", MINUS);
  }

  /**
   * Write a fraction in percent, with two decimals or, for small values, two digits.
   * @param {number | null} fraction
   */
  function percent(fraction) {
    if (fraction === null || Number.isNaN(fraction)) return MISSING;
    const value = 100 * fraction;
    return `${value >= 0.1 || value === 0 ? fixed(value, 2) : general(value, 2)} %`;
  }

  /**
   * Write a number of trials; sums of weights have one decimal.
   * @param {number | null} value
   */
  function count(value) {
    if (value === null || Number.isNaN(value)) return MISSING;
    return grouped(fixed(value, Number.isInteger(value) ? 0 : 1));
  }

  /**
   * Write a probability with four digits, or with four digits of its difference to 1.
   * @param {number} p
   */
  function prior(p) {
    if (p <= 0.99) return general(p, 4);
    const lacks = Number((1 - p).toPrecision(4));
    return lacks >= 1e-3 ? general(1 - lacks, 7) : `1 ${MINUS} ${typeset(general(lacks, 4))}`;
  }

  /**
   * Write an interval in brackets; empty without one.
   * @param {number | null | undefined} low
   * @param {number | null | undefined} high
   * @param {(value: number) => string} write
   */
  function interval(low, high, write) {
    if (low === undefined || high === undefined || low === null || high === null) return "";
    const plain = (/** @type {number} */ value) => write(value).replace(/ %$/, "");
    return `[${plain(low)}, ${plain(high)}]`;
  }

  return { MISSING, count, fixed, general, interval, number, percent, prior, typeset };
})();
