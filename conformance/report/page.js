"use strict";
// All that is here can be read without it: it filters, and opens what a link points to.
(() => {
  const byId = (id) => document.getElementById(id);
  const box = byId("filter"), only = byId("only"), count = byId("count");
  const text = (el, what) => el.querySelector(what).textContent.toLowerCase();
  const stories = [...document.querySelectorAll(".story")].map((el) => ({
    el, row: document.querySelector(`tr[data-story="${el.id}"]`),
    cases: [...el.querySelectorAll(".case")].map((one) => ({
      el: one, odd: one.classList.contains("odd"), text: [text(el, "h3"), text(one, "summary"), text(one, ".where")].join(" "),
    })),
  }));
  const total = stories.reduce((n, s) => n + s.cases.length, 0);

  const filter = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const s of stories) {
      let some = 0;
      for (const c of s.cases) {
        c.el.hidden = (only.checked && !c.odd) || !words.every((w) => c.text.includes(w));
        some += !c.el.hidden;
      }
      shown += some;
      s.el.hidden = s.row.hidden = some === 0;
    }
    for (const body of document.querySelectorAll(".matrix tbody")) body.hidden = !body.querySelector("tr[data-story]:not([hidden])");
    count.textContent = shown === total ? `${total} cases` : `${shown} of ${total} cases`;
  };

  // remember keeps a fragment in the address; where that is not allowed, as in a sandbox, the page works all the same.
  const remember = (fragment) => {
    try { history.replaceState(null, "", "#" + fragment); } catch { /* there is no address to keep it in */ }
  };
  const search = () => {
    const q = new URLSearchParams();
    if (box.value) q.set("q", box.value);
    if (only.checked) q.set("only", "1");
    remember(q.toString());
    filter();
  };

  // toggle shows the evidence of a cell in a row below it, or takes it away.
  let rows = 0;
  const toggle = (cell, open) => {
    const row = cell.closest("tr"), table = cell.closest("table"), entry = byId(cell.hash.slice(1));
    for (const old of table.querySelectorAll("tr.shown")) old.remove();
    for (const other of table.querySelectorAll("a[aria-controls]")) {
      other.setAttribute("aria-expanded", "false");
      other.removeAttribute("aria-controls");
    }
    if (!open) return;
    const below = document.createElement("tr"), td = below.insertCell(), sheet = document.createElement("div");
    below.className = "shown";
    below.id = "shown_" + ++rows;
    td.colSpan = [...row.cells].reduce((n, c) => n + c.colSpan, 0);
    sheet.className = "sheet";
    sheet.append(...entry.cloneNode(true).childNodes);
    td.append(sheet);
    row.after(below);
    cell.setAttribute("aria-expanded", "true");
    cell.setAttribute("aria-controls", below.id);
  };

  // choose marks a run of a story, and opens the cases that did not pass on it.
  const choose = (el) => {
    for (const old of document.querySelectorAll(".chosen")) old.classList.remove("chosen");
    if (!el.matches(".story > .on > li")) return;
    const run = el.querySelector("b").textContent;
    el.classList.add("chosen");
    for (const result of el.closest(".story").querySelectorAll(".case > .on > li")) {
      if (result.querySelector("b").textContent !== run) continue;
      result.classList.add("chosen");
      if (result.querySelector(".failed, .skipped")) result.closest(".case").open = true;
    }
  };

  const go = () => {
    const fragment = location.hash.slice(1);
    if (/^(q|only)=/.test(fragment)) {
      const q = new URLSearchParams(fragment);
      box.value = q.get("q") ?? "";
      only.checked = q.get("only") === "1";
      filter();
      return;
    }
    const el = fragment && byId(fragment);
    if (!el) return;
    if (el.closest("[hidden]")) {
      box.value = "";
      only.checked = false;
      filter();
    }
    choose(el);
    const cell = el.matches(".evidence li") && el.closest(".case").querySelector(`.truth a[href="#${fragment}"]`);
    for (let up = cell || el; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
    if (cell) {
      toggle(cell, true);
      el.closest(".evidence").open = false;
    }
    const target = cell || (el.matches("details") ? el.querySelector("summary") : el);
    if (!target.matches("a, summary")) target.tabIndex = -1;
    target.focus({ preventScroll: true });
    if (cell) cell.scrollIntoView({ block: "center" });
    else (el.matches(".story > .on > li") ? el.closest(".story") : el).scrollIntoView();
  };

  document.addEventListener("click", (e) => {
    const link = e.target.closest('a[href^="#"]');
    if (!link || e.button || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    if (link.matches(".truth a")) {
      e.preventDefault();
      toggle(link, link.getAttribute("aria-expanded") !== "true");
      remember(link.hash.slice(1));
    } else if (link.hash === location.hash) {
      e.preventDefault();
      go();
    }
  });
  document.addEventListener("keydown", (e) => {
    if (e.key === "/" && !e.ctrlKey && !e.metaKey && !e.altKey && !e.target.matches("input")) {
      e.preventDefault();
      box.focus();
      box.select();
    } else if (e.key === "Escape" && e.target === box) {
      box.value = "";
      search();
    }
  });
  // A cell is told to open something only where it will be read: there are thousands.
  document.addEventListener("toggle", (e) => {
    if (!e.target.matches(".case[open]")) return;
    for (const a of e.target.querySelectorAll(".truth a:not([aria-expanded])")) a.setAttribute("aria-expanded", "false");
  }, true);

  box.form.hidden = false;
  box.form.addEventListener("submit", (e) => e.preventDefault());
  box.addEventListener("input", search);
  only.addEventListener("change", search);
  addEventListener("hashchange", go);
  filter(); // a reload keeps what was typed
  go();
  addEventListener("load", go); // by then the browser may have opened and scrolled to something else
})();
