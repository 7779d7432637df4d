// Several processes: a row for each in the timeline, with its workers, links and memories below it on demand, and a table.
const several = this_run.processes > 1;
const workers_of_process = Array.from({ length: this_run.processes }, () => []);
report.workers.forEach((_, lane) => workers_of_process[process_of_worker(lane)].push(lane));
const sums_of_process = (process) => workers_of_process[process].map((lane) => sums.workers[lane]);

// The processes whose workers are shown, the last one opened at the end. A canvas must not be higher than browsers allow.
const opened = { processes: [], most_height: 12000 };

function process_rows() {
  const rows = [];
  const height = Math.max(4, Math.min(22, 768 / this_run.processes));
  const labels = Math.ceil(10 / (height + 1));
  for (let process = 0; process < this_run.processes; ++process) {
    const open = opened.processes.includes(process);
    rows.push({ kind: "process", lane: process, name: `${open ? "▾" : "▸"} process ${process}`, height, quiet: !open && process % labels > 0 });
    if (open) rows.push(...rows_of_process(process));
  }
  return rows;
}

function rows_of_process(process) {
  const workers = workers_of_process[process];
  const height = Math.max(7, Math.min(16, 320 / Math.max(1, workers.length)));
  const rows = workers.map((lane) => ({ kind: "worker", lane, name: report.workers[lane].name, height, table: tasks }));
  report.links.forEach((link, lane) => {
    if (this_run.process_of_node[link.from] !== process || sums.links[lane].count === 0) return;
    rows.push({ kind: "link", lane, name: link_name(lane), height: Math.max(5 * rows_of_link[lane], 10), table: transfers });
  });
  report.nodes.forEach((node, lane) => {
    if (this_run.process_of_node[lane] !== process || memory.first[lane + 1] === memory.first[lane]) return;
    rows.push({ kind: "memory", lane, name: node.name, height: 46, table: memory });
  });
  return rows;
}

function toggle_process(row) {
  if (row?.kind !== "process") return;
  const before = opened.processes.length;
  opened.processes = opened.processes.filter((process) => process !== row.lane);
  if (opened.processes.length === before) opened.processes.push(row.lane);
  do make_rows(); while (view.height > opened.most_height && opened.processes.length > 1 && opened.processes.shift() !== undefined);
  view.chosen = view.rows.findIndex(({ kind, lane }) => kind === "process" && lane === row.lane);
  view.selected = null;
  element("status").textContent = `process ${row.lane}, ${opened.processes.includes(row.lane) ? "with" : "without"} its workers`;
  redraw();
}

// By process and pixel: the shares of its workers that ran tasks, waited for other processes, and waited for other data;
// and pictures of the first two. They are kept until the view changes.
let strips = null;
const strip_parts = 3;
function make_strips() {
  const width = Math.max(1, Math.ceil(plot_width()));
  const key = `${view.from} ${view.to} ${width}`;
  if (strips?.key === key) return strips;
  const scale = plot_width() / (view.to - view.from);
  const shares = workers_of_process.map(() => new Float32Array(width * strip_parts));
  const add_up_spans = (rows, part_of) => {
    for (let lane = 0; lane < report.workers.length; ++lane) {
      const process = process_of_worker(lane);
      const into = shares[process];
      const one = 1 / workers_of_process[process].length;
      const [first, last] = [rows.first[lane], rows.first[lane + 1]];
      const end = first_after(rows, first, last, view.to);
      for (let n = Math.max(first, first_after(rows, first, last, view.from) - 1); n < end; ++n) {
        const part = part_of(n);
        if (part < 0) continue;
        const from = Math.max(0, (rows.begin[n] - view.from) * scale);
        const to = Math.min(width, (rows.begin[n] + rows.length[n] - view.from) * scale);
        for (let pixel = Math.floor(from); pixel < to; ++pixel) {
          into[pixel * strip_parts + part] += one * (Math.min(pixel + 1, to) - Math.max(pixel, from));
        }
      }
    }
  };
  add_up_spans(tasks, () => 0);
  add_up_spans(waits, (n) => [2, -1, 1][waits.why[n]]);
  strips = { key, width, shares, busy: picture_of(shares, 0, width, style_of("--full")),
    peers: picture_of(shares, 1, width, colour_of_kind["between processes"]) };
  return strips;
}

// A picture with a line of pixels for each process, the colour as opaque as the share is large.
function picture_of(shares, part, width, colour) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = shares.length;
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, shares.length);
  const channels = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  shares.forEach((of_process, process) => {
    for (let pixel = 0; pixel < width; ++pixel) {
      const at = 4 * (process * width + pixel);
      channels.forEach((value, n) => (image.data[at + n] = value));
      image.data[at + 3] = Math.round(255 * Math.min(1, of_process[pixel * strip_parts + part]));
    }
  });
  context.putImageData(image, 0, 0);
  return canvas;
}

function draw_process(context, row) {
  const { busy, peers, width } = make_strips();
  draw_lane(context, row);
  const below = Math.max(1.5, Math.min(5, row.height / 3));
  context.imageSmoothingEnabled = false;
  context.drawImage(busy, 0, row.lane, width, 1, gutter, row.top, width, row.height - below);
  context.drawImage(peers, 0, row.lane, width, 1, gutter, row.top + row.height - below, width, below);
  if (row.quiet) return;
  const { busy: time, time: all_time } = spent(report, sums_of_process(row.lane));
  note(context, row, `${as_share(time / (all_time || 1))} in tasks`);
}

// The workers of a process at an instant: the means in its pixel.
function describe_process(row, instant) {
  const { shares, width } = make_strips();
  const pixel = Math.max(0, Math.min(width - 1, Math.floor(x_of(instant) - gutter)));
  const count = workers_of_process[row.lane].length;
  const [busy, peers, waiting] = shares[row.lane].subarray(pixel * strip_parts, (pixel + 1) * strip_parts);
  const idle = Math.max(0, 1 - busy - peers - waiting);
  const line = (share, what) => (share < 0.0005 ? "" : `\n${(share * count).toFixed(1)} ${what}`);
  return `process ${row.lane}, ${as_count(count)} ${count === 1 ? "worker" : "workers"}, at ${as_time(instant)}:` +
    line(busy, "in tasks") + line(peers, "waiting for other processes") + line(waiting, "waiting for data in this process") + line(idle, "idle");
}

// The figures of each process.
function figures_of_processes() {
  const rows = workers_of_process.map((_, process) => ({ process, ...spent(report, sums_of_process(process)), tasks: total(sums_of_process(process), "count"),
    flops: total(sums_of_process(process), "flops"), received: 0, evictions: 0 }));
  report.links.forEach((link, lane) => {
    if (report.nodes[link.from].kind === "peers") rows[this_run.process_of_node[link.to]].received += sums.links[lane].bytes;
  });
  report.nodes.forEach((_, lane) => (rows[this_run.process_of_node[lane]].evictions += sums.nodes[lane].evictions));
  return rows;
}

function show_processes() {
  element("processes").hidden = !several;
  if (!several) return;
  const rows = figures_of_processes();
  const parts = spending_of(all);
  const mean = total(rows, "flops") / rows.length;
  const share = (row, key) => row[key] / (row.time || 1);
  add_table("t-processes", "", ["process", "workers' time", "tasks", ...(mean > 0 ? ["operations / mean"] : []), ...parts.map(({ name }) => name), "received", "evictions"],
    rows.map((row) => [[String(row.process), row.process], "", count_cell(row.tasks), ...(mean > 0 ? [[(row.flops / mean).toFixed(2), row.flops / mean]] : []),
      ...parts.map(({ key }) => [as_share(share(row, key)), share(row, key)]), bytes_cell(row.received), count_cell(row.evictions)]),
    "processes", element("processes-table"));
  const table = element("t-processes");
  [...table.tBodies[0].rows].forEach((line, n) => {
    const bar = add(line.cells[1], "div", undefined, "bar");
    const track = add(bar, "div");
    for (const { key, name } of parts) {
      const part = add(track, "i", undefined, key);
      part.style.width = `${100 * share(rows[n], key)}%`;
      part.title = `${name}: ${as_share(share(rows[n], key))}`;
    }
  });
  sort_by_columns(table);
  spending_legend(element("processes-table"), parts);
  const by = (key) => [...rows].sort((a, b) => share(b, key) - share(a, key));
  const [most, least] = [by("busy")[0], by("busy").at(-1)];
  const receiver = rows.reduce((a, b) => (b.received > a.received ? b : a));
  element("processes-finding").textContent =
    `The workers of process ${most.process} were in tasks ${percent(share(most, "busy"))} of the time, the most; those of process ${least.process} ${percent(share(least, "busy"))}, the least.` +
    (receiver.received > 0 ? ` Process ${receiver.process} received the most, ${as_bytes(receiver.received)}.` : "") + " A click on a column's name sorts the table by it.";
}

function sort_by_columns(table) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (column === 1) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = column === 0 ? head.ariaSort === "ascending" : head.ariaSort !== "descending";
      const value = (row) => Number(row.cells[column].dataset.value);
      for (const other of table.tHead.rows[0].cells) other.ariaSort = null;
      head.ariaSort = down ? "descending" : "ascending";
      table.tBodies[0].append(...[...table.tBodies[0].rows].sort((a, b) => (down ? value(b) - value(a) : value(a) - value(b))));
    });
  });
}

// The processes, or a few of them from the one most in tasks to the one least: [name, sums of its workers].
function typical_processes() {
  const busy = (process) => {
    const part = spent(report, sums_of_process(process));
    return part.busy / (part.time || 1);
  };
  const sorted = workers_of_process.map((_, process) => process).sort((a, b) => busy(b) - busy(a));
  if (sorted.length <= most_bars) return workers_of_process.map((_, process) => [`process ${process}`, sums_of_process(process)]);
  const names = ["most", "quartile 1", "median", "quartile 3", "least"];
  return [["all processes", sums.workers], ...names.map((name, n) => {
    const process = sorted[Math.round((n / 4) * (sorted.length - 1))];
    return [`${name}: ${process}`, sums_of_process(process)];
  })];
}
