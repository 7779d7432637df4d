// A sentence on what limited the run, and the comparison of two runs.
const total = (rows, key) => rows.reduce((sum, row) => sum + row[key], 0);
const percent = (value) => `${(100 * value).toFixed(0)} %`;

// The parts of the workers' time, and how they are drawn.
const spending = [
  { key: "busy", name: "in tasks", verb: "in tasks" },
  { key: "blocked", name: "blocked by Kokkos", verb: "blocked by Kokkos" },
  { key: "peers", name: "waiting for other processes", verb: "waiting for other processes" },
  { key: "waiting", name: "waiting for data", verb: "waiting for data" },
  { key: "starved", name: "no ready task", verb: "without a ready task" },
  { key: "after", name: "after the last task", verb: "after the last task" },
];

// Only Kokkos before 4.0 blocks workers, and only runs on several processes wait for others: otherwise the part is omitted.
const spending_of = (...runs) => spending.filter(({ key }) => !["blocked", "peers"].includes(key) || runs.some((figures) => figures[key] > 0));

// How one or several workers spent the time of the run.
function spent(report, workers) {
  const part = { time: workers.length * report.end, busy: total(workers, "busy"), blocked: total(workers, "blocked"),
    peers: total(workers, "peers"), waiting: total(workers, "waiting"), after: total(workers, "after") };
  part.starved = Math.max(0, part.time - part.busy - part.blocked - part.peers - part.waiting - part.after);
  return part;
}

function figures_of(run) {
  const { report, sums } = run;
  const figures = { ...spent(report, sums.workers), end: report.end, workers: sums.workers.length, flops: total(sums.workers, "flops"),
    evictions: run.evictions.count, by_kind: Object.fromEntries(kinds.map((kind) => [kind, 0])), busiest: -1 };
  sums.links.forEach((sum, link) => {
    figures.by_kind[run.kind_of_link(link)] += sum.bytes;
    if (sum.count > 0 && (figures.busiest < 0 || sum.busy > sums.links[figures.busiest].busy)) figures.busiest = link;
  });
  figures.moved = kinds.reduce((sum, kind) => sum + figures.by_kind[kind], 0);
  const devices = figures.by_kind["to devices"] + figures.by_kind["device to device"];
  figures.loaded = devices || figures.by_kind["from disk"];
  figures.into = devices > 0 ? "the devices' memories" : "memory";
  figures.least = report.bounds.loads ?? (devices > 0 ? 0 : report.bounds.reads ?? 0);
  return figures;
}
const all = figures_of(this_run);

// The codelet that ran most while other workers had no ready task, and its share, sampled in `bins` equal parts of the run.
function blamed({ report, tasks, waits }, bins = 4096) {
  const idle = new Float64Array(bins).fill(report.workers.length);
  const running = report.codelets.map(() => new Float64Array(bins));
  const spread = (rows, n, visit) => {
    const from = (rows.begin[n] / report.end) * bins;
    const to = Math.min(bins, ((rows.begin[n] + rows.length[n]) / report.end) * bins);
    for (let bin = Math.floor(from); bin < to; ++bin) visit(bin, Math.min(bin + 1, to) - Math.max(bin, from));
  };
  each(tasks, (_, n) => spread(tasks, n, (bin, part) => {
    idle[bin] -= part;
    running[tasks.codelet[n]][bin] += part;
  }));
  each(waits, (_, n) => spread(waits, n, (bin, part) => (idle[bin] -= part)));
  const blame = new Float64Array(report.codelets.length);
  let sum = 0;
  for (let bin = 0; bin < bins; ++bin) {
    const starved = Math.max(0, idle[bin]);
    const busy = running.reduce((all_of_them, one) => all_of_them + one[bin], 0);
    sum += starved;
    if (busy > 0) running.forEach((one, codelet) => (blame[codelet] += (starved * one[bin]) / busy));
  }
  const codelet = blame.reduce((most, value, n) => (value > blame[most] ? n : most), 0);
  return { name: report.codelets[codelet], share: sum > 0 ? blame[codelet] / sum : 0 };
}

const of_loaded = (figures) => `${as_bytes(figures.loaded)} were loaded into ${figures.into}` +
  (figures.least > 0 ? `, ${(figures.loaded / figures.least).toFixed(1)} times the lower bound` : "");

// The mean time from the request for a value of another process to its arrival, and its ratio to that at the network's
// bandwidth. The rest are the sender's own loads, and other values in the network.
function receiving({ report, transfers }) {
  let [count, time, alone] = [0, 0, 0];
  each(transfers, (lane, n) => {
    const link = report.links[lane];
    if (report.nodes[link.from].kind !== "peers") return;
    count += 1;
    time += transfers.length[n];
    alone += (1e9 * transfers.bytes[n]) / link.bandwidth;
  });
  return { mean: Math.round(time / (count || 1)), ratio: time / (alone || 1) };
}

// [finding, evidence]
function verdict(run, figures) {
  const share = (key) => figures[key] / figures.time;
  const lost = ["blocked", "peers", "waiting", "starved", "after"].reduce((most, key) => (figures[key] > figures[most] ? key : most));
  if (share("busy") >= 0.75) {
    const bound = run.report.bounds.seconds;
    return [`Workers were in tasks ${percent(share("busy"))} of the time: the speed of the tasks limits the run.`,
      bound ? `The run took ${(figures.end / 1e9 / bound).toFixed(2)} times the lower bound on its time.` : ""];
  }
  const limit = (what) => (share("busy") > share(lost) ? `apart from the tasks, ${what} took the most time` : `${what} limit the run`);
  if (lost === "blocked") {
    return [`Workers were blocked ${percent(share("blocked"))} of the time, as this Kokkos runs one host kernel at a time: ${limit("these waits")}.`,
      "Kokkos 4.0 and newer run the host kernels of several workers concurrently."];
  }
  if (lost === "peers") {
    const { mean, ratio } = receiving(run);
    return [`Workers waited ${percent(share("peers"))} of the time for values of other processes: ${limit("these waits")}.`,
      `${as_bytes(figures.by_kind["between processes"])} were sent between processes. A value took ${as_time(mean)} from request to arrival, ` +
      `${ratio.toFixed(1)} times as long as at the bandwidth of the network.`];
  }
  if (lost === "waiting") {
    const link = figures.busiest;
    const use = link < 0 ? "" : `The busiest link, ${run.link_name(link)}, was in use ${percent(run.sums.links[link].busy / figures.end)} of the time. `;
    return [`Workers waited ${percent(share("waiting"))} of the time for data: ${limit("transfers")}.`, `${use}${of_loaded(figures)}.`];
  }
  if (lost === "after") {
    return [`Workers had nothing left to do in ${percent(share("after"))} of the time: ${limit("last tasks and write-backs")}.`,
      "Other workers still ran tasks, or final values were written back."];
  }
  const { name, share: part } = blamed(run);
  return [`Workers had no ready task in ${percent(share("starved"))} of the time: ${limit("dependencies and the order of the tasks")}.`,
    part > 0.4 ? `In ${percent(part)} of that time the tasks that did run were ${name}.` : ""];
}

// Names for two runs: their schedulers, or else the first option that differs.
function names_of(mine, other) {
  const [a, b] = [new Map(mine.configuration), new Map(other.configuration)];
  const differs = (name) => a.has(name) && b.has(name) && a.get(name) !== b.get(name);
  if (differs("scheduler")) return [a.get("scheduler"), b.get("scheduler")];
  const name = [...a.keys()].find(differs);
  return name ? [`${name} ${a.get(name)}`, `${name} ${b.get(name)}`] : ["this run", "the other run"];
}

// Two sentences on the difference: its size and its cause.
function difference(a, b) {
  const [less, more] = a.figures.end <= b.figures.end ? [a, b] : [b, a];
  const saved = more.figures.end - less.figures.end;
  const mean = (one, key) => one.figures[key] / (one.figures.workers || 1);
  const gains = spending.map(({ key, verb }) => ({ key, verb, gain: mean(more, key) - mean(less, key) })).sort((x, y) => y.gain - x.gain);
  const { key, verb } = gains[0];
  const first = `With ${less.name} the run took ${as_time(less.figures.end)}, with ${more.name} ${as_time(more.figures.end)}, ` +
    `${(more.figures.end / less.figures.end).toFixed(2)} times as long.`;
  if (saved <= 0 || gains[0].gain <= 0) return [first, ""];
  const moved = [less, more].map((one) => as_bytes(one.figures.moved));
  const second = `A worker spent ${as_time(mean(more, key))} instead of ${as_time(mean(less, key))} ${verb}, ${percent(Math.min(1, gains[0].gain / saved))} of the difference` +
    (key === "waiting" ? `; ${moved[1]} were moved instead of ${moved[0]}.` : ".");
  return [first, second];
}

function compare(text) {
  const panel = element("comparison");
  panel.replaceChildren();
  let other = null;
  try {
    other = load(new DOMParser().parseFromString(text, "text/html"));
  } catch {
    add(panel, "p", "This file is not a granary report that this page can read.", "warning");
    return;
  }
  const names = names_of(report, other.report);
  const runs = [{ run: this_run, figures: all, name: names[0] }, { run: other, figures: figures_of(other), name: names[1] }];
  const [first, second] = difference(...runs);
  add(add(panel, "p", undefined, "verdict"), "b", first);
  panel.lastChild.append(` ${second}`);
  const longest = Math.max(1, ...runs.map(({ figures }) => figures.end));
  const columns = add(panel, "div", undefined, "columns");
  const time = add(columns, "div");
  add(time, "h3", "A worker's mean time");
  const parts = spending_of(...runs.map(({ figures }) => figures));
  for (const { figures, name } of runs) {
    add_bar(time, name, parts.map(({ key, name: what }) => {
      const mean = figures[key] / (figures.workers || 1);
      return [mean / longest, key, `${what}: ${as_time(mean)}`];
    }), as_time(figures.end), "free");
  }
  spending_legend(time, parts);
  const bytes = add(columns, "div");
  add(bytes, "h3", "Bytes moved");
  const most = Math.max(1, ...runs.map(({ figures }) => figures.moved));
  for (const { figures, name } of runs) {
    add_bar(bytes, name, kinds.map((kind) => [figures.by_kind[kind] / most, "", `${kind}: ${as_bytes(figures.by_kind[kind])}`, colour_of_kind[kind]]),
      as_bytes(figures.moved), "free");
  }
  const used = kinds.filter((kind) => runs.some(({ figures }) => figures.by_kind[kind] > 0));
  fill_legend(add(bytes, "ul", undefined, "legend"), used.map((kind) => [colour_of_kind[kind], kind]));
  compare_numbers(panel, runs, used, parts);
}

function compare_numbers(panel, runs, used, parts) {
  const row = (name, value, cell) => {
    const [mine, theirs] = runs.map(({ figures, run }) => value(figures, run));
    return [name, cell(mine), cell(theirs), mine > 0 && theirs > 0 ? [(mine / theirs).toFixed(2), mine / theirs] : ""];
  };
  const details = add(panel, "details");
  add(details, "summary", "In numbers");
  add_table("t-comparison", "The two runs", ["quantity", ...runs.map(({ name }) => name), "ratio"], [
    row("time", (figures) => figures.end, time_cell),
    ...parts.map(({ key, name }) => row(`a worker, ${name}`, (figures) => Math.round(figures[key] / (figures.workers || 1)), time_cell)),
    ...used.map((kind) => row(`moved ${kind}`, (figures) => figures.by_kind[kind], bytes_cell)),
    row("evictions", (figures) => figures.evictions, count_cell),
    row("tasks", (_, run) => total(run.sums.workers, "count"), count_cell),
  ], "", details);
}

// A second report is chosen in a dialog, or dropped on the page.
function listen_for_another() {
  const input = element("other");
  const read = (file) => file?.text().then(compare);
  input.addEventListener("change", () => read(input.files[0]));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    read(event.dataTransfer.files[0]);
  });
}
