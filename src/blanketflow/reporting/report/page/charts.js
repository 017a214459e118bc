// Draws charts when they come into view, and all charts before the page is printed.

const chartConfig = JSON.parse(document.getElementById("chart-config")?.textContent ?? "{}");
const figures = [...document.querySelectorAll("figure.chart")];
const drawn = new WeakSet();
// Widths in pixels: a page on which all charts fit, a panel with its axis, the names next to a chart, the narrowest chart.
const [WIDE, PANEL, MARGIN, NARROWEST] = [700, 300, 140, 160];
const tooltip = element("dl", { class: "tooltip", "aria-hidden": "true", hidden: "" });

async function drawChart(figure) {
  if (drawn.has(figure)) return;
  drawn.add(figure);
  const box = figure.querySelector("[role=img]");
  try {
    const spec = fitted(specOf(figure, box.clientWidth), box.clientWidth, "fits" in figure.dataset);
    // ast: expressions are interpreted, because the page's policy allows no eval.
    const options = { mode: "vega-lite", renderer: "svg", ast: true, actions: false, defaultStyle: false };
    const place = box.appendChild(element("div", { "aria-hidden": "true" })); // the box has the name
    await window.vegaEmbed(place, spec, { ...options, config: chartConfig, tooltip: showTooltip });
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0; // so that the arrow keys scroll it
      figure.classList.add("wide");
    }
    if ("centred" in figure.dataset) box.scrollLeft = (box.scrollWidth - box.clientWidth) / 2;
  } catch (error) {
    box.removeAttribute("role");
    box.replaceChildren(element("p", { class: "notice" }, `This chart could not be drawn: ${error.message}`));
  }
}

/** Return the specification of a chart: of its narrow form, if it has one, in a box that is not WIDE. */
function specOf(figure, width) {
  const narrow = width > 0 && width < WIDE ? figure.querySelector("script.narrow") : null;
  const spec = JSON.parse((narrow ?? figure.querySelector("script")).textContent);
  for (const [name, data] of Object.entries(spec.datasets ?? {})) spec.datasets[name] = rowsOf(data);
  return spec;
}

/** Return rows from columns, of which those with many equal values are written as levels and codes. */
function rowsOf(data) {
  if (Array.isArray(data)) return data;
  const columns = Object.entries(data).map(([name, column]) => [
    name,
    Array.isArray(column) ? column : column.codes.map((code) => column.levels[code]),
  ]);
  return columns[0][1].map((_, at) => Object.fromEntries(columns.map(([name, values]) => [name, values[at]])));
}

/** Return the chart for a box of this many pixels: fewer panels in a row, or narrower if `mayShrink`. */
function fitted(spec, width, mayShrink) {
  if (width === 0 || width >= WIDE) return spec; // not laid out yet, or wide enough
  if (spec.facet) spec.columns = Math.max(1, Math.floor(width / PANEL));
  if (mayShrink) spec.width = Math.max(NARROWEST, Math.min(spec.width, width - MARGIN));
  return spec;
}

function drawAllCharts() {
  return Promise.all(figures.map(drawChart));
}

/** Show Vega's text for the mark under the pointer. As text, not HTML: it may hold names from users' files. */
function showTooltip(_handler, event, _item, value) {
  tooltip.hidden = value === null || value === undefined || value === "";
  if (tooltip.hidden) return;
  const facts = typeof value === "object" ? Object.entries(value) : [["", value]];
  tooltip.replaceChildren(
    ...facts.map(([term, text]) => element("div", {}, element("dt", {}, term), element("dd", {}, String(text)))),
  );
  const at = event.changedTouches?.[0] ?? event;
  const { width, height } = tooltip.getBoundingClientRect();
  const left = Math.min(at.clientX + 14, innerWidth - width - 8);
  const top = at.clientY + 14 + height > innerHeight ? at.clientY - height - 10 : at.clientY + 14;
  tooltip.style.left = `${Math.max(8, left)}px`;
  tooltip.style.top = `${Math.max(8, top)}px`;
}

/** Let radio buttons choose which of a group's charts is shown. */
function makeChoice(group, at) {
  const choices = [...group.querySelectorAll("figure")];
  if (choices.length < 2) return;
  const set = element("fieldset", {}, element("legend", {}, group.dataset.legend));
  for (const figure of choices) {
    const input = element("input", { type: "radio", name: `choice-${at}` });
    input.checked = figure === choices[0];
    input.addEventListener("change", () => {
      for (const other of choices) other.classList.toggle("unchosen", other !== figure);
    });
    figure.classList.toggle("unchosen", !input.checked);
    set.append(element("label", {}, input, ` ${figure.dataset.choice}`));
  }
  group.prepend(set);
}

function prepareCharts() {
  document.body.append(tooltip);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") tooltip.hidden = true;
  });
  document.querySelectorAll(".choice").forEach(makeChoice);
  const near = (entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) drawChart(target);
  };
  const observer = new IntersectionObserver(near, { rootMargin: "600px" });
  for (const figure of figures) {
    figure.hidden = false;
    observer.observe(figure);
  }
}
