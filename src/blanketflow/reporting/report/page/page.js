// The page itself: light or dark, and everything open on paper.

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
  document.querySelector("nav").append(button);
}

let opened = [];

/** Open and draw all that is folded, for paper. */
function unfold() {
  opened.push(...document.querySelectorAll("details:not([open])"));
  for (const details of opened) details.open = true;
  return drawAllCharts();
}

function foldAgain() {
  for (const details of opened) details.open = false;
  opened = [];
}

prepareTables();
prepareCharts();
addThemeButton();
addEventListener("beforeprint", unfold);
addEventListener("afterprint", foldAgain);
matchMedia("print").addEventListener("change", (media) => (media.matches ? unfold() : foldAgain()));
