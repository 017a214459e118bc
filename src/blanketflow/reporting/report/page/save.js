// Saves a chart, or the picture of an answer, as SVG, PNG or CSV. The page asks the network for nothing.

/** Return the drawn images of a box as one SVG document beside each other, on white with black text. */
function asSvg(box) {
  const whole = document.createElementNS(box.querySelector("svg").namespaceURI, "svg");
  let [width, height] = [0, 0];
  for (const image of box.querySelectorAll("svg")) {
    const { width: own, height: high } = image.viewBox.baseVal;
    const copy = whole.appendChild(image.cloneNode(true));
    copy.removeAttribute("style");
    for (const [name, value] of Object.entries({ x: width, width: own, height: high, "font-family": "sans-serif" })) copy.setAttribute(name, value);
    [width, height] = [width + own + 20, Math.max(height, high)];
  }
  const on = { viewBox: `-10 -10 ${width} ${height + 20}`, width, height: height + 20, color: "#000", style: "background:#fff" };
  for (const [name, value] of Object.entries(on)) whole.setAttribute(name, value);
  return { text: new XMLSerializer().serializeToString(whole), width, height: height + 20 };
}

async function asPng(box) {
  const { text, width, height } = asSvg(box);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = element("canvas", { width: 3 * width, height: 3 * height });
  const pen = canvas.getContext("2d");
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** Return the numbers of a chart as CSV, a block for each of its data sets; text that a spreadsheet would compute is quoted. */
function asCsv(box) {
  if (box.dataset.csv) return box.dataset.csv;
  const cell = (value) => {
    const text = typeof value === "string" && /^[=+\-@]/.test(value) ? `'${value}` : String(value ?? "");
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const blocks = Object.values(specOf(box, 0).datasets ?? {}).filter((rows) => rows.length);
  return blocks
    .map((rows) => [Object.keys(rows[0]), ...rows.map((row) => Object.values(row))].map((row) => row.map(cell).join(",")).join("\n"))
    .join("\n\n");
}

function addSaving(box, at) {
  const label = box.querySelector("[role=img]")?.getAttribute("aria-label") ?? "chart";
  const name = `blanketflow-${at + 1}-${label.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 40)}`;
  const ways = { SVG: () => new Blob([asSvg(box).text], { type: "image/svg+xml" }), PNG: () => asPng(box), data: () => new Blob([asCsv(box)], { type: "text/csv" }) };
  const line = element("p", { class: "save" }, "Save as ");
  for (const [way, made] of Object.entries(ways)) {
    const button = element("button", { type: "button", "aria-label": `Save ${label.slice(0, 80)} as ${way}` }, way);
    button.addEventListener("click", async () => {
      const href = URL.createObjectURL(await made());
      element("a", { href, download: `${name}.${way === "data" ? "csv" : way.toLowerCase()}` }).click();
      setTimeout(() => URL.revokeObjectURL(href), 10_000);
    });
    line.append(button, " ");
  }
  box.append(line);
}
