(function () {
  "use strict";
  var form = document.getElementById("filter");
  var search = document.getElementById("q");
  var level = document.getElementById("level");
  var count = document.getElementById("count");
  var none = document.getElementById("none");
  var toggles = Array.from(form.querySelectorAll(".toggle"));
  var groups = Array.from(document.querySelectorAll(".matrix tbody")).map(function (body) {
    return {
      head: body.rows[0],
      rows: Array.from(body.rows).slice(1).map(function (row) {
        return { element: row, text: row.textContent.toLowerCase(), verdict: row.dataset.verdict, level: row.dataset.level };
      })
    };
  });

  function apply() {
    var words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    var pressed = toggles.filter(function (one) { return one.getAttribute("aria-pressed") === "true"; })
      .map(function (one) { return one.dataset.verdict; });
    var shown = 0, all = 0;
    groups.forEach(function (group) {
      var left = 0;
      group.rows.forEach(function (row) {
        var fits = (!pressed.length || pressed.includes(row.verdict)) &&
          (!level.value || row.level === level.value) &&
          words.every(function (word) { return row.text.includes(word); });
        row.element.hidden = !fits;
        left += fits ? 1 : 0;
      });
      group.head.hidden = !left;
      shown += left;
      all += group.rows.length;
    });
    none.hidden = shown > 0;
    count.textContent = shown === all ? "All " + all + " requirements" : shown + " of " + all + " requirements";
  }

  function clear() {
    search.value = "";
    level.value = "";
    toggles.forEach(function (one) { one.setAttribute("aria-pressed", "false"); });
    apply();
  }

  function reveal() {
    var target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target) { return; }
    if (target.closest("[hidden]")) { clear(); }
    for (var one = target; one; one = one.parentElement) {
      if (one.tagName === "DETAILS") { one.open = true; }
    }
    target.scrollIntoView();
  }

  form.hidden = false;
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  search.addEventListener("input", apply);
  search.addEventListener("keydown", function (event) { if (event.key === "Escape") { clear(); } });
  level.addEventListener("change", apply);
  toggles.forEach(function (one) {
    one.addEventListener("click", function () {
      one.setAttribute("aria-pressed", one.getAttribute("aria-pressed") === "true" ? "false" : "true");
      apply();
    });
  });
  document.getElementById("clear").addEventListener("click", clear);
  window.addEventListener("hashchange", reveal);

  // On paper everything is open; afterwards it is as it was.
  var opened = [];
  window.addEventListener("beforeprint", function () {
    opened = Array.from(document.querySelectorAll("details:not([open])"));
    opened.forEach(function (one) { one.open = true; });
  });
  window.addEventListener("afterprint", function () {
    opened.forEach(function (one) { one.open = false; });
  });

  apply();
  reveal();
})();
