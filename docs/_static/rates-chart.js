// Draws the chart of error rates before the study's picture, which stays where scripts do not run.
const ratesPicture = document.querySelector('img[src*="ci-tests-false-positives"]');
if (ratesPicture && window.vegaEmbed) {
  const place = document.createElement("div");
  place.className = "rates-chart vega-embed";
  ratesPicture.before(place);
  // Pixels of a panel with its axis: as many as fit beside each other.
  const [PANEL, AXIS] = [170, 50];
  const columns = Math.max(1, Math.floor(place.clientWidth / PANEL));
  const width = Math.floor(place.clientWidth / columns) - AXIS;
  const spec = { ...ratesChart, columns, spec: { ...ratesChart.spec, width } };
  window.vegaEmbed(place, spec, { actions: false, renderer: "svg" }).then(
    () => { ratesPicture.hidden = true; },
    (error) => { place.remove(); throw error; },
  );
}
