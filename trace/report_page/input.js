// Mouse, keyboard and tooltips of the timeline.
function describe(row, n) {
  const rows = row.table;
  if (row.kind === "memory") {
    const capacity = report.nodes[row.lane].capacity;
    const limit = capacity ? ` of ${as_bytes(capacity)} (${as_share(rows.used[n] / capacity)})` : "";
    const [first, last] = [booked.first[row.lane], booked.first[row.lane + 1]];
    const level = first_after(booked, first, last, rows.begin[n]) - 1;
    const sleeps = level >= first && booked.limit[level] > 0 ? `; submission sleeps above ${as_bytes(booked.limit[level])}` : "";
    const by_tasks = level >= first ? `\n${as_bytes(booked.bytes[level])} booked by submitted tasks${sleeps}` : "";
    return `${row.name}: ${as_bytes(rows.used[n])}${limit} in use\nfrom ${as_time(rows.begin[n])}${by_tasks}`;
  }
  const when = `${as_time(rows.length[n])}, from ${as_time(rows.begin[n])} to ${as_time(rows.begin[n] + rows.length[n])}`;
  if (row.kind === "link") {
    const why = rows.why[n] === 1 ? "write-back" : "fetch";
    return `${data_name(rows.data[n])}, ${as_bytes(rows.bytes[n])}, ${why}${rows.failed[n] ? ", failed" : ""}\n${row.name}\n${when}` +
      (rows.length[n] > 0 ? `\n${as_rate(rows.bytes[n] / (rows.length[n] / 1e9))}` : "");
  }
  const indices = ["i", "j", "k"].filter((key) => rows[key][n] >= 0).map((key) => `${key} = ${rows[key][n]}`).join(", ");
  const flops = report.flops[rows.flops[n]];
  const speed = flops > 0 && rows.length[n] > 0 ? `, ${as_flops(flops / (rows.length[n] / 1e9))}` : "";
  return `${report.codelets[rows.codelet[n]]}${indices ? ` (${indices})` : ""}, task ${as_count(rows.task[n])}${rows.failed[n] ? ", failed" : rows.stopped[n] ? ", stopped before its end" : ""}\n` +
    `writes ${data_name(rows.data[n])}\n${when}${speed}\nhanded to ${row.name} ${as_time(rows.issued[n])} before it began`;
}

// The span of the row at an instant, or one that is at most a few pixels away; -1 for none.
function span_at(row, instant) {
  const [first, last] = [row.table.first[row.lane], row.table.first[row.lane + 1]];
  const n = first_after(row.table, first, last, instant) - 1;
  if (row.kind === "memory") return n >= first ? n : -1;
  const near = (3 * (view.to - view.from)) / plot_width();
  for (let back = n; back >= Math.max(first, n - most_rows); --back) {
    if (row.table.begin[back] + row.table.length[back] >= instant) return back;
  }
  if (n >= first && row.table.begin[n] + row.table.length[n] + near >= instant) return n;
  return n + 1 < last && n + 1 >= first && row.table.begin[n + 1] - near <= instant ? n + 1 : -1;
}

function waits_at(row, instant) {
  const n = first_after(waits, waits.first[row.lane], waits.first[row.lane + 1], instant) - 1;
  const found = n >= waits.first[row.lane] && waits.begin[n] + waits.length[n] >= instant;
  return found ? ["waiting for data", "blocked by Kokkos, which runs another worker's kernel", "waiting for other processes"][waits.why[n]] : "idle";
}

function say(text, x, y) {
  const tooltip = element("tooltip");
  tooltip.hidden = !text;
  tooltip.textContent = text;
  if (!text) return;
  tooltip.style.left = `${Math.min(x + 14, innerWidth - tooltip.offsetWidth - 8)}px`;
  tooltip.style.top = `${y + 18 + tooltip.offsetHeight > innerHeight ? y - tooltip.offsetHeight - 10 : y + 18}px`;
}

function row_at(y) {
  return view.rows.find((row) => row.kind !== "title" && y >= row.top - 1 && y <= row.top + row.height + 1);
}

function point(event) {
  const box = view.canvas.getBoundingClientRect();
  const x = event.clientX - box.left;
  const row = row_at(event.clientY - box.top);
  const inside = x >= gutter && x <= gutter + plot_width();
  view.cursor = inside ? instant_at(x) : null;
  let text = "";
  if (inside && row?.table) {
    const n = span_at(row, view.cursor);
    if (n >= 0) text = describe(row, n);
    else if (row.kind === "worker") text = `${row.name}: ${waits_at(row, view.cursor)} at ${as_time(view.cursor)}`;
  }
  if (inside && row?.kind === "process") text = describe_process(row, view.cursor);
  say(text, event.clientX, event.clientY);
  redraw();
}

function select(row, n) {
  view.selected = { row, n };
  const begin = row.table.begin[n];
  const length = row.table.length?.[n] ?? 0;
  if (begin + length > view.to || begin < view.from) {
    const half = (view.to - view.from) / 2;
    show(begin + length / 2 - half, begin + length / 2 + half);
  }
  element("status").textContent = describe(row, n).replaceAll("\n", " · ");
  redraw();
}

function choose(direction) {
  let n = view.chosen;
  do n += direction; while (view.rows[n] && !can_be_chosen(view.rows[n]));
  if (!view.rows[n]) return;
  view.chosen = n;
  view.selected = null;
  element("status").textContent = view.rows[n].name.replace(/^[▸▾] /, "");
  redraw();
}

function step(direction) {
  const row = view.rows[view.chosen];
  if (!row?.table) return;
  const [first, last] = [row.table.first[row.lane], row.table.first[row.lane + 1]];
  if (first === last) return;
  const from = view.selected?.row === row ? view.selected.n + direction : first_after(row.table, first, last, view.from - 1);
  select(row, Math.max(first, Math.min(last - 1, from)));
}

const keys = {
  ArrowLeft: () => show(view.from - (view.to - view.from) / 8, view.to - (view.to - view.from) / 8),
  ArrowRight: () => show(view.from + (view.to - view.from) / 8, view.to + (view.to - view.from) / 8),
  ArrowUp: () => choose(-1),
  ArrowDown: () => choose(1),
  Enter: () => toggle_process(view.rows[view.chosen]),
  "+": () => zoom(0.5),
  "=": () => zoom(0.5),
  "-": () => zoom(2),
  0: () => show(0, report.end),
  ".": () => step(1),
  ",": () => step(-1),
};

function listen() {
  const canvas = view.canvas;
  let grabbed = null;
  canvas.addEventListener("pointerdown", (event) => {
    grabbed = { x: event.clientX, y: event.clientY, moved: false, from: view.from, to: view.to };
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add("dragging");
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!grabbed) return point(event);
    grabbed.moved ||= Math.abs(event.clientX - grabbed.x) > 3;
    if (!grabbed.moved) return;
    const shift = ((event.clientX - grabbed.x) / plot_width()) * (grabbed.to - grabbed.from);
    show(grabbed.from - shift, grabbed.to - shift);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, () => {
      if (name === "pointerup" && grabbed && !grabbed.moved) toggle_process(row_at(grabbed.y - canvas.getBoundingClientRect().top));
      grabbed = null;
      canvas.classList.remove("dragging");
    });
  }
  canvas.addEventListener("pointerleave", () => {
    view.cursor = null;
    say("");
    redraw();
  });
  // The wheel alone scrolls the page: the timeline may fill the window.
  canvas.addEventListener("wheel", (event) => {
    if (event.ctrlKey) {
      event.preventDefault();
      zoom(1.0015 ** event.deltaY, instant_at(event.clientX - canvas.getBoundingClientRect().left));
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      const shift = (event.deltaX / plot_width()) * (view.to - view.from);
      show(view.from + shift, view.to + shift);
    }
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  canvas.addEventListener("focus", redraw);
  canvas.addEventListener("blur", redraw);
  element("zoom-in").addEventListener("click", () => zoom(0.5));
  element("zoom-out").addEventListener("click", () => zoom(2));
  element("zoom-all").addEventListener("click", () => show(0, report.end));
}
