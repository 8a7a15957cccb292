"use strict";
// All that is here can be read without it: it filters, and opens what a link points to.
(() => {
  const byId = (id) => document.getElementById(id);
  const box = byId("filter"), only = byId("only"), count = byId("count");
  const text = (el, what) => el.querySelector(what).textContent.toLowerCase();
  const times = new Map([...document.querySelectorAll("#times tbody a")].map((a) => [a.hash.slice(1), a.closest("tr")]));
  const stories = [...document.querySelectorAll(".story")].map((el) => ({
    el, row: document.querySelector(`tr[data-story="${el.id}"]`),
    cases: [...el.querySelectorAll(".case")].map((one) => ({
      el: one, time: times.get(one.id), odd: one.classList.contains("odd"), text: [text(el, "h3"), text(one, "summary"), text(one, ".where")].join(" "),
    })),
  }));
  const total = stories.reduce((n, s) => n + s.cases.length, 0);

  const filter = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const s of stories) {
      let some = 0;
      for (const c of s.cases) {
        c.el.hidden = c.time.hidden = (only.checked && !c.odd) || !words.every((w) => c.text.includes(w));
        some += !c.el.hidden;
      }
      shown += some;
      s.el.hidden = s.row.hidden = some === 0;
    }
    for (const body of document.querySelectorAll(".matrix tbody")) body.hidden = !body.querySelector("tr[data-story]:not([hidden])");
    count.textContent = shown === total ? `${total} cases` : `${shown} of ${total} cases`;
  };

  // The fragment of the address holds all that a reload keeps: the filter, and what is open.
  const fragment = (at) => {
    const q = new URLSearchParams();
    if (box.value) q.set("q", box.value);
    if (only.checked) q.set("only", "1");
    if (!q.toString()) return at;
    if (at) q.set("at", at);
    return q.toString();
  };
  // remember keeps it; where that is not allowed, as in a sandbox, the page works all the same.
  const remember = (at) => {
    try { history.replaceState(null, "", "#" + fragment(at)); } catch { /* there is no address to keep it in */ }
  };
  const search = () => {
    remember("");
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

  // choose opens the cases of a story, and marks a run in them and in the matrix.
  const choose = (story, result) => {
    const run = [...result.parentElement.children].indexOf(result);
    const row = document.querySelector(`tr[data-story="${story.id}"]`);
    const marked = [document.querySelectorAll(".matrix thead .r")[run], row.querySelectorAll(".m")[run]];
    for (const list of story.querySelectorAll(".on")) marked.push(list.children[run]);
    for (const group of story.querySelectorAll(".group[data-runs]")) {
      if (group.dataset.runs.split(" ").includes(String(run))) marked.push(group);
    }
    for (const el of marked) el.classList.add("chosen");
    for (const one of story.querySelectorAll(".case:not([hidden])")) one.open = true;
  };

  const go = () => {
    const hash = location.hash.slice(1);
    const q = new URLSearchParams(/^(q|only|at)=/.test(hash) ? hash : { at: hash });
    box.value = q.get("q") ?? "";
    only.checked = q.get("only") === "1";
    filter();
    for (const old of document.querySelectorAll(".chosen")) old.classList.remove("chosen");
    const el = byId(q.get("at") ?? "");
    if (!el) return;
    const story = el.matches(".on > li") && el.closest(".story");
    if ((story || el).closest("[hidden]")) {
      box.value = "";
      only.checked = false;
      remember(el.id);
      filter();
    }
    if (story) choose(story, el);
    const cell = el.matches(".evidence li") && el.closest(".case").querySelector(`.truth a[href="#${el.id}"]`);
    for (let up = story || cell || el; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
    if (cell) {
      toggle(cell, true);
      el.closest(".evidence").open = false;
    }
    const target = story || cell || (el.matches("details") ? el.querySelector("summary") : el);
    if (!target.matches("a, summary, [tabindex]")) target.tabIndex = -1;
    target.focus({ preventScroll: true });
    if (cell) cell.scrollIntoView({ block: "center" });
    else (story && el.querySelector(".failed") ? el.closest(".case") : story || el).scrollIntoView();
  };

  const setAll = (open) => () => {
    for (const one of document.querySelectorAll(".story:not([hidden]) .case:not([hidden])")) one.open = open;
  };

  document.addEventListener("click", (e) => {
    const link = e.target.closest('a[href^="#"]');
    if (!link || e.button || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    const at = link.hash.slice(1);
    if (link.matches(".truth a")) {
      e.preventDefault();
      const open = link.getAttribute("aria-expanded") !== "true";
      toggle(link, open);
      remember(open ? at : "");
      return;
    }
    const to = "#" + fragment(at);
    if (to === location.hash) {
      e.preventDefault();
      go();
    } else if (to !== link.hash) {
      e.preventDefault();
      location.hash = to;
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

  // What the filter shows is printed open, and left as it was.
  let opened = [];
  addEventListener("beforeprint", () => {
    const closed = [...document.querySelectorAll("#failed details:not([open]), .case:not([open])")].filter((el) => !el.closest("[hidden]"));
    for (const el of closed) el.open = true;
    opened.push(...closed);
  });
  addEventListener("afterprint", () => {
    for (const el of opened) el.open = false;
    opened = [];
  });

  box.form.hidden = byId("open").parentElement.hidden = false;
  byId("open").addEventListener("click", setAll(true));
  byId("close").addEventListener("click", setAll(false));
  box.form.addEventListener("submit", (e) => e.preventDefault());
  box.addEventListener("input", search);
  only.addEventListener("change", search);
  addEventListener("hashchange", go);
  go();
  addEventListener("load", go); // by then the browser may have opened and scrolled to something else
})();
