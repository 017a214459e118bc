// Sorts tables by a button in each header, and searches long tables by a field above them. The controls are made here,
// so that a page without JavaScript has no controls that do nothing.

const SEARCHED_FROM = 9; // rows
const NEXT = { none: "ascending", ascending: "descending", descending: "none" };
const letters = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Let each header of the table sort it: upwards, downwards, and as it was written. */
function makeSortable(table) {
  const body = table.tBodies[0];
  const written = [...body.rows];
  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) => {
    const button = element("button", { type: "button" }, ...header.childNodes);
    header.append(button);
    header.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const direction = NEXT[header.getAttribute("aria-sort")];
      for (const other of headers) other.setAttribute("aria-sort", "none");
      header.setAttribute("aria-sort", direction);
      body.append(...sorted(written, column, header.classList.contains("num"), direction));
    });
  });
}

/** Return the rows by one column; equal ones keep their order, and missing values stand last either way. */
function sorted(rows, column, isNumber, direction) {
  if (direction === "none") return rows;
  const sign = direction === "ascending" ? 1 : -1;
  const compare = isNumber ? (a, b) => (a > b) - (a < b) : letters.compare;
  return rows
    .map((row) => ({ row, key: sortKey(row.cells[column], isNumber) }))
    .sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
      return sign * compare(a.key, b.key);
    })
    .map(({ row }) => row);
}

function sortKey(cell, isNumber) {
  if (isNumber) return "value" in cell.dataset ? Number(cell.dataset.value) : null;
  const text = cell.textContent.trim();
  return text === "" || text === "–" ? null : text;
}

/** Put a search field above the table in a box: a row stays if it has all the words, anywhere. */
function makeSearchable(box) {
  const rows = [...box.querySelector("tbody").rows];
  const input = element("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  const name = element("span", { class: "unseen" }, ` ${box.getAttribute("aria-label")}`);
  const count = element("span", { role: "status", "aria-live": "polite" }, `${rows.length} rows`);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    const shown = rows.filter((row) => !row.hidden).length;
    count.textContent = words.length ? `${shown} of ${rows.length} rows` : `${rows.length} rows`;
  });
  box.before(element("div", { class: "search" }, element("label", {}, "Search", name, " ", input), count));
}

function prepareTables() {
  for (const table of document.querySelectorAll("table")) {
    const n = table.tBodies[0].rows.length;
    if (n > 1) makeSortable(table);
    if (n >= SEARCHED_FROM) makeSearchable(table.parentElement);
  }
}
