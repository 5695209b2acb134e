// Runs before the styles, so that no page is ever shown in the wrong colours.
(function () {
  try {
    const wanted = localStorage.getItem("mem.theme");
    if (wanted === "light" || wanted === "dark") document.documentElement.dataset.theme = wanted;
  } catch {
    // A browser that keeps nothing follows the system.
  }
})();
