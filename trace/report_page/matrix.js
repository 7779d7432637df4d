// The order of execution on the matrix, as in Figures 8, 9 and 13 of Gonthier, Thibault, Marchal, "DARTS": one picture
// for each iteration, in it one square for each task, at the tile that it writes.
const order = { canvas: element("matrix"), tasks: null, iterations: 0, rows: 0, columns: 0, pending: false };
const viridis = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];
const bands = 7;
const memory_colours = ["#332288", "#ddcc77", "#117733", "#cc6677", "#88ccee", "#aa4499", "#999933"];
const axis = { left: 34, top: 22, bottom: 32 };

// Tasks on tiles, in the order in which they began, each with its iteration: its k, or else the number of earlier
// writes of its tile.
function make_order() {
  const chosen = [];
  const worker_of = new Uint32Array(tasks.count);
  each(tasks, (worker, n) => {
    worker_of[n] = worker;
    if (row_of(n) >= 0 && column_of(n) >= 0 && !tasks.stopped[n]) chosen.push(n);
  });
  const sorted = Uint32Array.from(chosen).sort((a, b) => tasks.begin[a] - tasks.begin[b] || a - b);
  const written = new Uint32Array(report.data.length);
  const has_k = chosen.some((n) => tasks.k[n] >= 0);
  order.tasks = sorted;
  order.worker_of = worker_of;
  order.iteration = Int32Array.from(sorted, (n) => (has_k ? tasks.k[n] : written[tasks.data[n]]++));
  for (let n = 0; n < sorted.length; ++n) {
    order.rows = Math.max(order.rows, row_of(sorted[n]) + 1);
    order.columns = Math.max(order.columns, column_of(sorted[n]) + 1);
    order.iterations = Math.max(order.iterations, order.iteration[n] + 1);
  }
  const note = has_k ? "The iteration is k of the algorithm." : "The iteration is the number of earlier writes of the tile.";
  element("order-note").textContent = note;
}

function smooth_colour(part) {
  const at = Math.min(viridis.length - 1.001, part * (viridis.length - 1));
  return mix(viridis[Math.floor(at)], viridis[Math.floor(at) + 1], at % 1);
}
function band_colour(part) {
  return smooth_colour(Math.floor(Math.min(bands - 0.001, part * bands)) / (bands - 1));
}
// Where a task ran: a memory or, if there are several, a process.
const place_of = (worker) => (several ? process_of_worker(worker) : report.workers[worker].node);
const place_name = (place) => (several ? `process ${place}` : report.nodes[place].name);
const places = () => [...new Set(report.workers.map((_, worker) => place_of(worker)))];
function colour_of_place(place) {
  if (!several || this_run.processes <= memory_colours.length) return memory_colours[place % memory_colours.length];
  return `hsl(${(place * 137.5) % 360} 60% ${[40, 58, 74][place % 3]}%)`;
}

function colour_of_order(n) {
  const task = order.tasks[n];
  const mode = element("order-colour").value;
  if (mode === "memory") return colour_of_place(place_of(order.worker_of[task]));
  return (mode === "smooth" ? smooth_colour : band_colour)(n / order.tasks.length);
}

// The tile size, if the trace has it, and the smallest memory of the device workers, or of all workers if there are none.
function tiles_in_memory() {
  const data = order.tasks.length > 0 ? report.data[tasks.data[order.tasks[order.tasks.length - 1]]][1] : 0;
  const nodes = report.workers.map((worker) => report.nodes[worker.node]);
  const devices = nodes.filter((node) => node.kind === "device");
  const limits = (devices.length > 0 ? devices : nodes).map((node) => node.capacity).filter((capacity) => capacity);
  return limits.length > 0 && data > 0 ? Math.floor(Math.min(...limits) / data) : 0;
}

function draw_memory_square(context, x, y, square, width) {
  const tiles = tiles_in_memory();
  const side = Math.ceil(Math.sqrt(tiles));
  // There is room for it only above the diagonal of a triangular matrix.
  if (tiles === 0 || order.tasks.some((task) => column_of(task) > row_of(task))) return 0;
  if (side > Math.min(order.rows, order.columns) / 2) return 0;
  context.strokeStyle = style_of("--text");
  context.lineWidth = 1;
  for (let n = 0; n < tiles; ++n) {
    context.strokeRect(x + width - (side - (n % side)) * square, y + Math.floor(n / side) * square, square, square);
  }
  return tiles;
}

// Rows and columns of tiles, counted from 0.
function draw_matrix_axes(context, x, square, first) {
  context.fillStyle = style_of("--soft");
  context.font = "11px system-ui, 'DejaVu Sans', sans-serif";
  const below = axis.top + square * order.rows + 12;
  const number = (text, at, y, align) => {
    context.textAlign = align;
    context.fillText(text, at, y);
  };
  number("0", x + square / 2, below, "center");
  if (order.columns > 1) number(String(order.columns - 1), x + (order.columns - 0.5) * square, below, "center");
  number("column of tiles", x + (order.columns * square) / 2, below, "center");
  if (!first) return;
  number("0", x - 5, axis.top + square / 2 + 4, "right");
  if (order.rows > 1) number(String(order.rows - 1), x - 5, axis.top + (order.rows - 0.5) * square + 4, "right");
  context.save();
  context.translate(x - 22, axis.top + (order.rows * square) / 2);
  context.rotate(-Math.PI / 2);
  number("row of tiles", 0, 0, "center");
  context.restore();
}

function draw_order() {
  order.pending = false;
  const width = order.canvas.clientWidth;
  const panels = Math.max(1, Math.min(order.iterations, Math.floor(width / 250), 6));
  const side = (width - axis.left - (panels - 1) * 18) / panels;
  const square = side / Math.max(order.rows, order.columns);
  const height = axis.top + square * order.rows + axis.bottom;
  const slider = element("iteration");
  slider.max = String(order.iterations - panels);
  const first = Number(slider.value);
  element("iteration-value").textContent = `${first + 1} to ${first + panels} of ${order.iterations}`;
  const context = fit_canvas(order.canvas, width, height);
  let tiles_drawn = 0;
  for (let panel = 0; panel < panels; ++panel) {
    const x = axis.left + panel * (side + 18);
    context.fillStyle = style_of("--lane");
    context.fillRect(x, axis.top, square * order.columns, square * order.rows);
    context.fillStyle = style_of("--soft");
    context.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    context.textAlign = "left";
    context.fillText(`iteration ${first + panel + 1}`, x, 14);
    tiles_drawn = draw_memory_square(context, x, axis.top, square, square * order.columns);
    draw_matrix_axes(context, x, square, panel === 0);
  }
  const chosen = element("order-workers").value;
  const only_view = element("order-window").checked;
  const gap = square > 5 ? 0.5 : 0;
  for (let n = 0; n < order.tasks.length; ++n) {
    const panel = order.iteration[n] - first;
    const task = order.tasks[n];
    if (panel < 0 || panel >= panels) continue;
    if (chosen !== "" && place_of(order.worker_of[task]) !== Number(chosen)) continue;
    if (only_view && (tasks.begin[task] > view.to || tasks.begin[task] + tasks.length[task] < view.from)) continue;
    context.fillStyle = colour_of_order(n);
    context.fillRect(axis.left + panel * (side + 18) + column_of(task) * square, axis.top + row_of(task) * square, square - gap, square - gap);
  }
  order_legend(tiles_drawn);
}

function order_legend(tiles_drawn) {
  const entries = [];
  const mode = element("order-colour").value;
  if (mode === "memory") {
    const all_places = places();
    if (several && all_places.length > most_bars) entries.push(["", "one colour for each process", "head"]);
    else for (const place of all_places) entries.push([colour_of_place(place), place_name(place)]);
  } else {
    for (let band = 0; band < bands; ++band) {
      const colours = [0.02, 0.5, 0.98].map((part) => (mode === "smooth" ? smooth_colour : band_colour)((band + part) / bands));
      entries.push([`linear-gradient(90deg, ${colours.join(", ")})`,
        `tasks ${as_count(Math.floor((band * order.tasks.length) / bands) + 1)} to ${as_count(Math.floor(((band + 1) * order.tasks.length) / bands))}`]);
    }
  }
  if (tiles_drawn > 0) entries.push(["", `size of one memory: ${as_count(tiles_drawn)} tiles`, "outline"]);
  fill_legend(element("order-legend"), entries);
}

function fill_legend(list, entries) {
  list.replaceChildren(...entries.map(([background, text, style]) => {
    const item = document.createElement("li");
    const swatch = document.createElement("span");
    item.className = style === "head" ? "head" : "";
    swatch.className = `swatch ${style ?? ""}`;
    if (background) swatch.style.background = background;
    item.append(swatch, text);
    return item;
  }));
}

function redraw_order() {
  if (order.pending || order.tasks === null || order.iterations === 0) return;
  order.pending = true;
  requestAnimationFrame(draw_order);
}
function view_changed() {
  if (element("order-window").checked) redraw_order();
}

function start_order() {
  make_order();
  element("order").hidden = order.iterations === 0;
  if (order.iterations === 0) return;
  const select_workers = element("order-workers");
  select_workers.append(new Option("all workers", ""));
  for (const place of places()) select_workers.append(new Option(`workers of ${place_name(place)}`, String(place)));
  if (several) element("order-colour").namedItem("order-place").textContent = "process of its worker";
  for (const id of ["iteration", "order-workers", "order-colour", "order-window"]) element(id).addEventListener("input", redraw_order);
  redraw_order();
}
