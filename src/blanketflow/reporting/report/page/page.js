// The page itself: light or dark, charts that can be saved, and paper.

/** Add the button that changes between light and dark. The choice is kept nowhere: a page from a file asks nothing. */
function addThemeButton() {
  const root = document.documentElement;
  const button = element("button", { type: "button", class: "theme" });
  const isDark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const label = () => button.replaceChildren(isDark() ? "Light colours" : "Dark colours");
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    label();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  label();
  document.querySelector("nav")?.append(button);
}

prepareTables();
prepareCharts();
document.querySelectorAll("figure.chart, .picture").forEach(addSaving);
addThemeButton();
// On paper what is folded stays folded: a reader opens what is to be printed.
addEventListener("beforeprint", drawAllCharts);
matchMedia("print").addEventListener("change", (media) => media.matches && drawAllCharts());
