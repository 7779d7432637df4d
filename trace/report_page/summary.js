// The figures in numbers, and the page's start.
function add(parent, tag, text, className) {
  const child = document.createElement(tag);
  if (text !== undefined) child.textContent = text;
  if (className) child.className = className;
  parent.append(child);
  return child;
}

function add_card(value, name) {
  const card = add(element("cards"), "div", undefined, "card");
  add(card, "b", value);
  add(card, "span", name);
}

// parts: [share of the bar, class, title, colour]
function add_bar(parent, name, parts, text, style = "") {
  const bar = add(parent, "div", undefined, `bar ${style}`);
  add(bar, "span", name);
  const track = add(bar, "div");
  for (const [share, look, title, colour] of parts) {
    const part = add(track, "i", undefined, look);
    if (colour) part.style.background = colour;
    part.style.width = `${100 * Math.max(0, Math.min(1, share))}%`;
    part.title = title;
  }
  add(bar, "span", text);
  return bar;
}

function show_verdict() {
  if (all.time === 0) return;
  const [finding, support] = verdict(this_run, all);
  add(element("verdict"), "b", finding);
  element("verdict").append(` ${support}`);
}

function show_cards() {
  add_card(as_time(report.end), "time");
  if (all.flops > 0 && report.end > 0) add_card(as_flops(all.flops / (report.end / 1e9)), "speed");
  // Prefer the program's counts of bytes read and written: links also carry padding and generated values.
  const counted = new Map(report.totals);
  const in_files = { "from disk": ["bytes_read", "read from files"], "to disk": ["bytes_written", "written to files"] };
  for (const kind of kinds) {
    const [key, name] = in_files[kind] ?? [];
    if (counted.has(key)) add_card(as_bytes(counted.get(key)), name);
    else if (all.by_kind[kind] > 0) add_card(as_bytes(all.by_kind[kind]), `moved ${kind}`);
  }
  add_card(as_count(evictions.count), "evictions");
}

function spending_legend(parent, parts) {
  fill_legend(add(parent, "ul", undefined, "legend"), parts.map(({ key, name }) => ["", name, key]));
}

// A bar per worker, or per memory if there are many.
const most_bars = 16;
function show_shares() {
  const parts = spending_of(all);
  const in_columns = (row) => {
    row.style.gridTemplateColumns = `8rem 1fr repeat(${parts.length}, 4.6rem)`;
    return row;
  };
  const head = in_columns(add(element("shares"), "div", undefined, "bar shares head"));
  for (const text of ["", "", ...parts.map(({ name }) => name)]) add(head, "span", text);
  const bar = (name, workers) => {
    const part = spent(report, workers);
    const shares = parts.map(({ key }) => part[key] / (part.time || 1));
    const row = in_columns(add_bar(element("shares"), name,
      parts.map(({ key, name: what }, n) => [shares[n], key, `${what}: ${as_time(part[key] / workers.length)}`]), percent(shares[0]), "shares"));
    for (const share of shares.slice(1)) add(row, "span", percent(share));
  };
  if (several) {
    for (const [name, workers] of typical_processes()) bar(name, workers);
  } else if (report.workers.length <= most_bars) {
    report.workers.forEach((worker, n) => bar(worker.name, [sums.workers[n]]));
  } else {
    for (const node of new Set(report.workers.map((worker) => worker.node))) {
      bar(report.nodes[node].name, sums.workers.filter((_, n) => report.workers[n].node === node));
    }
  }
  spending_legend(element("shares"), parts);
}

// A bar of a measured value, with a line at its lower bound.
function add_measured(name, value, bound, text, top = Math.max(value, bound)) {
  const bar = add_bar(element("bounds"), name, [[value / top, "measured", `measured: ${text(value)}`]], `${text(value)}, ${(value / bound).toFixed(2)} × lower bound`);
  const mark = add(bar.children[1], "i", undefined, "mark");
  mark.style.left = `${(100 * bound) / top}%`;
  mark.title = `lower bound: ${text(bound)}`;
}
function add_bound(name, value, bound, bound_name, text) {
  add_measured(name, value, bound, text);
  add(element("bounds"), "p", `Lower bound: ${text(bound)}. ${bound_name}.`, "hint");
}

function show_bounds() {
  const { seconds, measured, loads, reads } = report.bounds;
  if (seconds) {
    add_bound("time", report.end, seconds * 1e9,
      measured ? "No schedule takes less if tasks take the mean times of this run; transfers are left out" : "No schedule takes less; transfers are left out", as_time);
  }
  if (loads && all.loaded > 0) add_bound("bytes loaded", all.loaded, loads, "No order of the tasks loads less into these memories", as_bytes);
  show_loads();
  const read = new Map(report.totals).get("bytes_read") ?? all.by_kind["from disk"];
  if (reads && read > 0) add_bound("bytes read", read, reads, "No order of the tasks reads less from the files", as_bytes);
  if (element("bounds").childElementCount === 0) {
    add(element("bounds"), "p", "No lower bounds are known for this run.", "hint");
  } else {
    fill_legend(add(element("bounds"), "ul", undefined, "legend"), [["", "measured", "measured"], ["", "lower bound", "mark"]]);
  }
}

// The bytes that each device's memory received, and the lower bound for the operations of its workers.
function show_loads() {
  const nodes = report.bounds.nodes ?? [];
  if (nodes.length === 0 || nodes.length > most_bars) return;
  const loaded = (node) => report.links.reduce((sum, link, n) => sum + (link.to === node ? sums.links[n].bytes : 0), 0);
  const top = Math.max(1, ...nodes.map(([node, least]) => Math.max(least, loaded(node))));
  for (const [node, least] of nodes) {
    add_measured(`into ${report.nodes[node].name}`, loaded(node), least, as_bytes, top);
  }
  add(element("bounds"), "p", "Bytes loaded into each device. The lower bound is for the operations that the device did.", "hint");
}

// Long tables of several processes are closed at first.
function table_place(count) {
  if (!several || count <= 2 * most_bars) return element("tables");
  const details = add(element("tables"), "details");
  add(details, "summary");
  return details;
}

function add_table(id, caption, head, rows, className, parent = element(className === "text" ? "configuration" : "tables")) {
  if (rows.length === 0) return;
  const scroll = add(parent, "div", undefined, "scroll");
  const table_element = add(scroll, "table", undefined, className);
  table_element.id = id;
  if (caption) add(table_element, "caption", caption);
  if (parent.tagName === "DETAILS" && parent.firstChild.textContent === "") parent.firstChild.textContent = `${caption}: ${as_count(rows.length)} rows`;
  const line = add(add(table_element, "thead"), "tr");
  for (const name of head) add(line, "th", name).scope = "col";
  const body = add(table_element, "tbody");
  for (const cells of rows) {
    const row = add(body, "tr");
    if (cells.key) row.dataset.key = cells.key;
    for (const cell of cells) {
      // [formatted text, number]
      const [text, value] = Array.isArray(cell) ? cell : [cell];
      const data = add(row, "td", text);
      if (value !== undefined) data.dataset.value = String(value);
    }
  }
}

// Labels for the totals and options, by their names in files.
const labels = {
  n: "matrix order n", m: "rows", nrhs: "right-hand sides", tile: "tile size", tiles: "tiles in each direction", workers: "CPU workers", cpus: "CPU workers",
  depth: "depth: tasks committed ahead", memory_limit_bytes: "memory limit", memory_peak_bytes: "peak memory in use", seconds: "time", gflops: "speed",
  flops: "operations", bytes_read: "read from files", bytes_written: "written to files", io_bound_bytes: "lower bound on bytes read",
  io_bound_nonsymmetric_bytes: "lower bound on bytes read without using symmetry", compulsory_bytes: "compulsory bytes",
  wait_seconds: "waiting for data, all workers together", decision_seconds: "scheduling decisions", residual: "residual", growth: "pivot growth",
  zero_pivot: "zero pivot", check_seconds: "check after the run", device_memory_bytes: "memory limit of each device", device_lanes: "lanes of each device",
  bytes_host_to_devices: "moved from host to devices", bytes_devices_to_host: "moved from devices to host", bytes_device_to_device: "moved between devices",
  iterations: "refinement iterations", used_float: "factored in single precision",
  "least seconds": "lower bound on the time", "least seconds at measured speed": "lower bound on the time at the measured speed of tasks",
  "area seconds": "lower bound: all work shared out evenly", "critical path seconds": "lower bound: longest chain of tasks",
  "least bytes loaded": "lower bound on bytes loaded", "least bytes read": "lower bound on bytes read from files",
};
const label_of = (name) => labels[name] ?? name.replace("least bytes loaded into", "lower bound on bytes loaded into").replaceAll("_", " ");
function total_text(name, value) {
  if (name === "gflops") return as_flops(1e9 * value);
  if (/\bbytes|_bytes/.test(name)) return as_bytes(Math.round(value));
  if (/seconds/.test(name)) return as_time(Math.round(1e9 * value));
  return Number.isInteger(value) ? as_count(value) : String(Number(value.toPrecision(6)));
}

const count_cell = (value) => [as_count(value), value];
const time_cell = (value) => [as_time(value), value];
const bytes_cell = (value) => [as_bytes(value), value];
const speed_cell = (flops, ns) => [flops > 0 && ns > 0 ? as_flops(flops / (ns / 1e9)) : "", flops];

function show_tables() {
  add_table("t-codelets", "Codelets", ["codelet", "tasks", "time", "share of workers' time", "mean", "shortest", "longest", "speed"],
    sums.codelets.filter((sum) => sum.count > 0).map((sum) => [sum.name, count_cell(sum.count), time_cell(sum.time),
      as_share(sum.time / (all.time || 1)), as_time(Math.round(sum.time / sum.count)), as_time(sum.least), as_time(sum.most),
      speed_cell(sum.flops, sum.time)]));
  const any_stopped = total(sums.workers, "stopped") > 0;
  add_table("t-workers", "Workers", ["worker", "tasks", "failed", ...(any_stopped ? ["stopped"] : []), "in tasks", "blocked by Kokkos", "waiting for data", ...(several ? ["waiting for other processes"] : []), "idle", "idle after the last task", "speed"],
    sums.workers.map((sum, n) => [report.workers[n].name, count_cell(sum.count), count_cell(sum.failed), ...(any_stopped ? [count_cell(sum.stopped)] : []), time_cell(sum.busy), time_cell(sum.blocked),
      time_cell(sum.waiting), ...(several ? [time_cell(sum.peers)] : []),
      time_cell(Math.max(0, report.end - sum.busy - sum.blocked - sum.waiting - sum.peers)), time_cell(sum.after), speed_cell(sum.flops, report.end)]),
    "", table_place(report.workers.length));
  add_table("t-links", "Links", ["link", "transfers", "bytes", "bytes written back", "in use, share of time", "rate while in use", "bandwidth"],
    sums.links.flatMap((sum, n) => (sum.count === 0 ? [] : [[link_name(n), count_cell(sum.count), bytes_cell(sum.bytes),
      bytes_cell(sum.written), [as_share(sum.busy / (report.end || 1)), sum.busy], sum.busy > 0 ? as_rate(sum.bytes / (sum.busy / 1e9)) : "",
      as_rate(report.links[n].bandwidth)]])), "", table_place(report.links.length));
  add_table("t-nodes", "Memories", ["memory", "limit", "peak", "evictions", "bytes evicted", "written back first"],
    sums.nodes.flatMap((sum, n) => (report.nodes[n].kind === "peers" ? [] : [[report.nodes[n].name, report.nodes[n].capacity ? bytes_cell(report.nodes[n].capacity) : "none",
      bytes_cell(sum.peak), count_cell(sum.evictions), bytes_cell(sum.bytes), count_cell(sum.written)]])), "", table_place(report.nodes.length));
  add_table("t-totals", "Totals, as the program counted them", ["quantity", "value"],
    report.totals.map(([name, value]) => Object.assign([label_of(name), [total_text(name, value), value]], { key: name })));
  add_table("t-configuration", "Program and options", ["option", "value"],
    report.configuration.map(([name, value]) => Object.assign([label_of(name), value], { key: name })), "text");
}

function show_legend() {
  const codelets = sums.codelets.map((_, n) => n).filter((n) => sums.codelets[n].count > 0)
    .sort((a, b) => sums.codelets[b].time - sums.codelets[a].time);
  const used = kinds.filter((kind) => all.by_kind[kind] > 0);
  fill_legend(element("legend"), [
    ...(several ? [["", "Processes:", "head"], ["linear-gradient(90deg, var(--lane), var(--full))", "share of workers in tasks, 0 to 100 %"],
      [`linear-gradient(90deg, var(--lane), ${colour_of_kind["between processes"]})`, "below it: share that waits for other processes"]] : []),
    ["", "Workers:", "head"], ...codelets.map((n) => [colour_of[n], report.codelets[n]]),
    ...(all.blocked > 0 ? [["", "blocked by Kokkos", "blocked"]] : []), ["", "waiting for data", "waiting"],
    ...(all.peers > 0 ? [["", "waiting for other processes", "peers"]] : []), ["", "idle", "idle"],
    ...(total(sums.workers, "failed") > 0 ? [["var(--limit)", "failed"]] : []),
    ...(total(sums.workers, "stopped") > 0 ? [["", "stopped before its end, in the colour of its codelet", "stopped"]] : []),
    ...(used.length > 0 ? [["", "Transfers:", "head"]] : []), ...used.map((kind) => [colour_of_kind[kind], kind])]);
}

function start() {
  document.title = report.title;
  element("title").textContent = report.title;
  element("subtitle").textContent = report.subtitle;
  if (report.dropped > 0) {
    element("dropped").hidden = false;
    element("dropped").textContent = `The recorder was full: ${as_count(report.dropped)} events are missing, and all figures below are of those that were kept.`;
  }
  const failed = total(sums.workers, "failed") + transfers.failed.reduce((sum, one) => sum + one, 0);
  if (failed > 0) {
    element("failed").hidden = false;
    element("failed").textContent = `${as_count(failed)} tasks and transfers failed; they are red in the timeline.`;
  }
  show_verdict();
  show_cards();
  show_shares();
  show_bounds();
  show_processes();
  show_tables();
  show_legend();
  make_rows();
  listen();
  listen_for_another();
  start_order();
  draw_timeline();
  addEventListener("resize", () => {
    redraw();
    redraw_order();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    hatching = null;
    strips = null;
    redraw();
    redraw_order();
  });
  document.body.dataset.drawn = String(Math.round(performance.now()));
  document.body.dataset.state = "ready";
}
start();
