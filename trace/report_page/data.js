// The page's data: a header in JSON, and tables with integer columns, stored as differences of consecutive values in zigzag
// varints and base64. Instants and durations are in nanoseconds.
"use strict";

const element = (id) => document.getElementById(id);

function report_error(message) {
  document.body.dataset.errors = String(Number(document.body.dataset.errors) + 1);
  element("error").hidden = false;
  element("error").textContent = `This page has an error and may be incomplete: ${message}`;
}
addEventListener("error", (event) => report_error(event.message));

function decode(column, count, Type) {
  const text = atob(column.textContent);
  const values = new Type(count);
  let at = 0;
  let value = 0;
  for (let n = 0; n < count; ++n) {
    let byte = text.charCodeAt(at++);
    let zigzag = byte & 127;
    for (let scale = 128; byte > 127; scale *= 128) {
      byte = text.charCodeAt(at++);
      zigzag += (byte & 127) * scale;
    }
    value += zigzag % 2 ? -(zigzag + 1) / 2 : zigzag / 2;
    values[n] = value;
  }
  if (at !== text.length) throw new Error(`column ${column.id} holds ${text.length} bytes, ${at} of them used`);
  column.remove();
  return values;
}

// The first row of [from, to) that begins after `instant`.
function first_after(rows, from, to, instant) {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (rows.begin[middle] > instant) to = middle;
    else from = middle + 1;
  }
  return from;
}

// Formatted numbers.
const digits = (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2));
function scaled(value, base, units) {
  let unit = 0;
  while (value >= base && unit + 1 < units.length) {
    value /= base;
    ++unit;
  }
  return unit === 0 && Number.isInteger(value) ? `${value} ${units[0]}` : `${digits(value)} ${units[unit]}`;
}
const as_bytes = (value) => scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);
const as_rate = (value) => `${as_bytes(Math.round(value))}/s`;
const as_flops = (value) => scaled(value / 1e9, 1000, ["GFlop/s", "TFlop/s", "PFlop/s"]);
const as_time = (ns) => (ns < 0 ? `−${as_time(-ns)}` : scaled(ns, 1000, ["ns", "µs", "ms", "s"]));
const as_share = (value) => `${(100 * value).toFixed(1)} %`;
const as_count = (value) => value.toLocaleString("en");

// A colour has one meaning on the page. Codelets, transfers and memories have different colours, which colour-blind people
// can distinguish (after Okabe, Ito and Tol); order has a scale; red is failure; amounts are grey.
const palette = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#8c564b", "#7a68a6", "#6b7a89"];
const kinds = ["to devices", "device to device", "from devices", "from disk", "to disk", "host to host", "between processes"];
const colour_of_kind = Object.fromEntries(kinds.map((kind, n) => [kind, ["#56b4e9", "#d55e00", "#d4b106", "#44aa99", "#882255", "#999999", "#c51b8a"][n]]));

const each = (rows, visit) => {
  for (let lane = 0; lane + 1 < rows.first.length; ++lane) {
    for (let n = rows.first[lane]; n < rows.first[lane + 1]; ++n) visit(lane, n);
  }
};

// The data of a page: this one, or another one to compare with.
function load(page) {
  const report = JSON.parse(page.getElementById("report-header").textContent);
  // A table's rows are sorted by lane (worker, link or node) and then by instant; first[lane] is a lane's first row.
  const table = (name, types) => {
    const { count, first } = report.tables[name];
    const rows = { count, first };
    for (const [key, Type] of Object.entries(types)) rows[key] = decode(page.getElementById(`${name}-${key}`), count, Type);
    return rows;
  };
  const spans = { begin: Float64Array, length: Float64Array };
  const run = { report };
  run.tasks = table("tasks", { ...spans, issued: Float64Array, task: Float64Array, codelet: Uint32Array, i: Int32Array,
    j: Int32Array, k: Int32Array, data: Int32Array, flops: Uint32Array, failed: Uint8Array });
  // Runs that were stopped before their end, in which case the task ran again. Pages of earlier versions do not have them.
  const stopped = page.getElementById("tasks-stopped");
  run.tasks.stopped = stopped ? decode(stopped, run.tasks.count, Uint8Array) : new Uint8Array(run.tasks.count);
  run.waits = table("waits", { ...spans, why: Uint8Array });
  run.transfers = table("transfers", { ...spans, data: Int32Array, bytes: Float64Array, why: Uint8Array, failed: Uint8Array });
  run.evictions = table("evictions", { begin: Float64Array, data: Int32Array, bytes: Float64Array, reason: Uint8Array,
    written: Uint8Array });
  run.memory = table("memory", { begin: Float64Array, used: Float64Array });
  // A limit of 0: none. Pages of earlier versions have no such table.
  run.booked = report.tables.booked ? table("booked", { begin: Float64Array, bytes: Float64Array, limit: Float64Array })
    : { count: 0, first: report.nodes.map(() => 0).concat(0) };
  run.processes = report.processes ?? 1;
  run.process_of_node = report.nodes.map((node) => node.process ?? 0);
  // "3: host → gpu0" of process 3, if there are several.
  const name_of = (node) => report.nodes[node].name;
  const name_in_process = (node) => (run.processes > 1 ? name_of(node).replace(`${run.process_of_node[node]}: `, "") : name_of(node));
  run.link_name = (link) => `${name_of(report.links[link].from)} → ${name_in_process(report.links[link].to)}`;
  run.kind_of_link = (link) => {
    const from = report.nodes[report.links[link].from].kind;
    const to = report.nodes[report.links[link].to].kind;
    if (from === "peers" || to === "peers") return "between processes";
    if (to === "disk") return "to disk";
    if (from === "disk") return "from disk";
    if (to === "device") return from === "device" ? "device to device" : "to devices";
    return from === "device" ? "from devices" : "host to host";
  };
  run.sums = add_up(run);
  return run;
}

// Sums for several figures and tables.
function add_up({ report, tasks, waits, transfers, evictions, memory, booked }) {
  const sums = {
    codelets: report.codelets.map((name) => ({ name, count: 0, time: 0, least: Infinity, most: 0, flops: 0 })),
    workers: report.workers.map(() => ({ count: 0, busy: 0, blocked: 0, waiting: 0, peers: 0, after: 0, flops: 0, failed: 0, stopped: 0, last: 0 })),
    links: report.links.map(() => ({ count: 0, bytes: 0, busy: 0, written: 0, until: 0 })),
    nodes: report.nodes.map(() => ({ peak: 0, booked: 0, evictions: 0, written: 0, bytes: 0 })),
  };
  each(tasks, (worker, n) => {
    const time = tasks.length[n];
    const sum = sums.workers[worker];
    sum.busy += time;
    sum.last = Math.max(sum.last, tasks.begin[n] + time);
    if (tasks.stopped[n]) {
      sum.stopped += 1;
      return;
    }
    const flops = report.flops[tasks.flops[n]];
    const codelet = sums.codelets[tasks.codelet[n]];
    codelet.count += 1;
    codelet.time += time;
    codelet.least = Math.min(codelet.least, time);
    codelet.most = Math.max(codelet.most, time);
    codelet.flops += flops;
    sum.count += 1;
    sum.flops += flops;
    sum.failed += tasks.failed[n];
  });
  for (const sum of sums.workers) if (sum.count > 0) sum.after = Math.max(0, report.end - sum.last);
  each(waits, (worker, n) => {
    const sum = sums.workers[worker];
    sum[["waiting", "blocked", "peers"][waits.why[n]]] += waits.length[n];
    if (waits.begin[n] >= sum.last) sum.after = Math.max(0, sum.after - waits.length[n]);
  });
  each(transfers, (link, n) => {
    const sum = sums.links[link];
    sum.count += 1;
    sum.bytes += transfers.bytes[n];
    if (transfers.why[n] === 1) sum.written += transfers.bytes[n];
    const end = transfers.begin[n] + transfers.length[n];
    sum.busy += Math.max(0, end - Math.max(sum.until, transfers.begin[n]));
    sum.until = Math.max(sum.until, end);
  });
  each(evictions, (node, n) => {
    sums.nodes[node].evictions += 1;
    sums.nodes[node].written += evictions.written[n];
    sums.nodes[node].bytes += evictions.bytes[n];
  });
  each(memory, (node, n) => (sums.nodes[node].peak = Math.max(sums.nodes[node].peak, memory.used[n])));
  each(booked, (node, n) => (sums.nodes[node].booked = Math.max(sums.nodes[node].booked, booked.bytes[n])));
  return sums;
}

const this_run = load(document);
const { report, tasks, waits, transfers, evictions, memory, booked, sums, link_name, kind_of_link } = this_run;
const process_of_worker = (worker) => this_run.process_of_node[report.workers[worker].node];
const data_name = (index) => (index < 0 ? "no datum" : report.data[index][0]);
const row_of = (task) => (tasks.data[task] < 0 ? -1 : report.data[tasks.data[task]][2]);
const column_of = (task) => (tasks.data[task] < 0 ? -1 : report.data[tasks.data[task]][3]);

function mix(colour, other, part) {
  const channel = (text, at) => parseInt(text.slice(at, at + 2), 16);
  return `rgb(${[1, 3, 5].map((at) => Math.round(channel(colour, at) * (1 - part) + channel(other, at) * part)).join(" ")})`;
}

// Codelets get colours by their share of the time: the first ones differ most, later ones are lighter.
const colour_of = new Array(report.codelets.length);
sums.codelets.map((_, n) => n).sort((a, b) => sums.codelets[b].time - sums.codelets[a].time)
  .forEach((codelet, rank) => (colour_of[codelet] = mix(palette[rank % palette.length], "#ffffff", 0.5 * (Math.floor(rank / palette.length) % 2))));

// Concurrent transfers on a link are drawn in separate rows, up to four.
const most_rows = 4;
const row_in_link = new Uint8Array(transfers.count);
const rows_of_link = report.links.map((_, link) => {
  const ends = [];
  let rows = 1;
  for (let n = transfers.first[link]; n < transfers.first[link + 1]; ++n) {
    let row = 0;
    while (row + 1 < most_rows && ends[row] > transfers.begin[n]) ++row;
    row_in_link[n] = row;
    rows = Math.max(rows, row + 1);
    const end = transfers.begin[n] + transfers.length[n];
    ends[row] = Math.max(ends[row] ?? 0, end);
  }
  return rows;
});
