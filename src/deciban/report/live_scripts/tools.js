// @ts-check
"use strict";
/** Buttons of the header, links to sections, and the button that shows all controls on narrow screens. */
(() => {
  const root = document.documentElement;
  /** @param {string} name @returns {HTMLButtonElement | null} */
  const tool = (name) => document.querySelector(`[data-tool="${name}"]`);
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);

  const theme = tool("theme");
  const named = () => {
    if (theme) theme.textContent = isDark() ? "Light" : "Dark";
  };
  theme?.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    named();
    document.dispatchEvent(new CustomEvent("theme"));
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    named();
    document.dispatchEvent(new CustomEvent("theme"));
  });
  named();
  tool("print")?.addEventListener("click", () => print());
  const tools = tool("theme")?.parentElement;
  if (tools) tools.hidden = false;

  const more = tool("more");
  more?.addEventListener("click", () => {
    const isOpen = more.getAttribute("aria-expanded") !== "true";
    more.setAttribute("aria-expanded", String(isOpen));
    more.textContent = isOpen ? "Less" : "More";
    more.closest("[data-region]")?.classList.toggle("open", isOpen);
  });

  /** Sections that scripts filled have links as well. */
  const link = () => {
    for (const one of document.querySelectorAll("nav[aria-label=Sections] a")) {
      const section = document.getElementById(one.getAttribute("href")?.slice(1) ?? "");
      if (one.parentElement) one.parentElement.hidden = !section || section.hidden;
    }
  };
  new MutationObserver(link).observe(document.querySelector("main") ?? root, { subtree: true, attributes: true, attributeFilter: ["hidden"] });
  link();

  /** On narrow screens, sections are closed, except the answer and a few notes. */
  const narrow = matchMedia("(max-width: 599px)");
  if (narrow.matches) {
    for (const section of document.querySelectorAll("main > section:not(#answer)")) {
      const [head, ...rest] = section.children;
      if ((section.id === "notes" && rest.length < 4) || head.matches("details.closed")) continue;
      if (rest.length === 1 && rest[0] instanceof HTMLDetailsElement) rest[0].open = true;
      const [whole, title] = [document.createElement("details"), document.createElement("summary")];
      whole.className = "folded";
      title.append(head);
      whole.append(title, ...rest);
      section.append(whole);
    }
  }
  const unfold = () => document.querySelectorAll("details.folded").forEach((one) => one.setAttribute("open", ""));
  narrow.addEventListener("change", () => narrow.matches || unfold());
  addEventListener("beforeprint", unfold);

  /** Open and show a place of the page. @param {string} hash */
  const open = (hash) => {
    const target = hash.length > 1 && !/[=%]/.test(hash) ? document.getElementById(hash.slice(1)) : null;
    if (!target) return false;
    for (let one = target.closest("details"); one; one = one.parentElement?.closest("details") ?? null) one.open = true;
    const own = target instanceof HTMLDetailsElement ? target : target.querySelector(":scope > details.folded, :scope > details.closed");
    own?.setAttribute("open", "");
    target.scrollIntoView();
    return true;
  };
  // The address keeps the operating point, which a link to a section would replace.
  document.addEventListener("click", (event) => {
    const link = /** @type {HTMLElement} */ (event.target).closest?.('a[href^="#"]');
    if (link && open(link.getAttribute("href") ?? "")) event.preventDefault();
  });
  open(location.hash);

  /** Sections that are linked to stand below the controls. */
  const controls = document.querySelector("[data-region=controls]");
  if (controls) new ResizeObserver(() => root.style.setProperty("--bar", `${controls.clientHeight}px`)).observe(controls);

  document.addEventListener("keydown", (event) => {
    const typed = /** @type {HTMLElement | null} */ (event.target);
    if (event.key !== "/" || event.ctrlKey || event.metaKey || typed?.matches?.("input, select, textarea")) return;
    const box = /** @type {HTMLInputElement | null} */ (document.querySelector("[name=prior], [name=class-prior]"));
    if (!box) return;
    event.preventDefault();
    box.focus();
    box.select();
  });
})();
