// What can be said in numbers, and the page's start.
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
  for (const kind of kinds) if (all.by_kind[kind] > 0) add_card(as_bytes(all.by_kind[kind]), `moved ${kind}`);
  add_card(as_count(evictions.count), "evictions");
}

function spending_legend(parent) {
  fill_legend(add(parent, "ul", undefined, "legend"), spending.map(({ key, name }) => ["", name, key]));
}

// A bar for each worker, or for each memory where there are many.
const most_bars = 16;
function show_shares() {
  const bar = (name, workers) => {
    const part = spent(report, workers);
    const shares = spending.map(({ key }) => part[key] / (part.time || 1));
    add_bar(element("shares"), name, spending.map(({ key, name: what }, n) => [shares[n], key, `${what}: ${as_time(part[key] / workers.length)}`]),
      shares.map(percent).join(" · "));
  };
  if (report.workers.length <= most_bars) {
    report.workers.forEach((worker, n) => bar(worker.name, [sums.workers[n]]));
  } else {
    for (const node of new Set(report.workers.map((worker) => worker.node))) {
      bar(report.nodes[node].name, sums.workers.filter((_, n) => report.workers[n].node === node));
    }
  }
  spending_legend(element("shares"));
}

// A bar of what was needed; dark up to the bound, bright beyond it.
function add_bound(name, value, bound, bound_name, text) {
  const top = Math.max(value, bound);
  const parts = value >= bound ? [[bound / top, "busy", bound_name], [1 - bound / top, "over", "beyond the bound"]] : [[value / top, "busy", name]];
  add_bar(element("bounds"), name, parts, `${text(value)}, ${(value / bound).toFixed(2)} × bound`);
  add(element("bounds"), "p", `${bound_name}: ${text(bound)}`, "hint");
}

function show_bounds() {
  const { seconds, measured, loads, reads } = report.bounds;
  if (seconds) {
    add_bound("time", report.end, seconds * 1e9,
      measured ? "no schedule takes less with the mean times that these tasks took, transfers left aside" : "no schedule takes less, transfers left aside", as_time);
  }
  if (loads && all.loaded > 0) add_bound("bytes loaded", all.loaded, loads, "no order of the tasks loads less in these memories", as_bytes);
  show_loads();
  if (reads && all.by_kind["from disk"] > 0) add_bound("bytes read", all.by_kind["from disk"], reads, "no order of the tasks reads less from the disk", as_bytes);
  if (element("bounds").childElementCount === 0) add(element("bounds"), "p", "No bounds are known for this run.", "hint");
}

// What each device's memory received, against the least for the operations that were done there.
function show_loads() {
  const nodes = report.bounds.nodes ?? [];
  if (nodes.length === 0 || nodes.length > most_bars) return;
  const loaded = (node) => report.links.reduce((sum, link, n) => sum + (link.to === node ? sums.links[n].bytes : 0), 0);
  const top = Math.max(1, ...nodes.map(([node, least]) => Math.max(least, loaded(node))));
  for (const [node, least] of nodes) {
    add_bar(element("bounds"), report.nodes[node].name,
      [[Math.min(least, loaded(node)) / top, "busy", "the least"], [(loaded(node) - least) / top, "over", "beyond the least"]],
      `${as_bytes(loaded(node))}, ${(loaded(node) / least).toFixed(2)} × bound`);
  }
  add(element("bounds"), "p", "of these, what came into each device; the bound is of the operations that it did", "hint");
}

function add_table(id, caption, head, rows, className, parent = element(className === "text" ? "configuration" : "tables")) {
  if (rows.length === 0) return;
  const scroll = add(parent, "div", undefined, "scroll");
  const table_element = add(scroll, "table", undefined, className);
  table_element.id = id;
  add(table_element, "caption", caption);
  const line = add(add(table_element, "thead"), "tr");
  for (const name of head) add(line, "th", name).scope = "col";
  const body = add(table_element, "tbody");
  for (const cells of rows) {
    const row = add(body, "tr");
    for (const cell of cells) {
      // [what people read, the number itself]
      const [text, value] = Array.isArray(cell) ? cell : [cell];
      const data = add(row, "td", text);
      if (value !== undefined) data.dataset.value = String(value);
    }
  }
}

const count_cell = (value) => [as_count(value), value];
const time_cell = (value) => [as_time(value), value];
const bytes_cell = (value) => [as_bytes(value), value];
const speed_cell = (flops, ns) => [flops > 0 && ns > 0 ? as_flops(flops / (ns / 1e9)) : "", flops];

function show_tables() {
  add_table("t-codelets", "Codelets", ["codelet", "tasks", "time", "of all time", "mean", "least", "most", "speed"],
    sums.codelets.filter((sum) => sum.count > 0).map((sum) => [sum.name, count_cell(sum.count), time_cell(sum.time),
      as_share(sum.time / (all.time || 1)), as_time(Math.round(sum.time / sum.count)), as_time(sum.least), as_time(sum.most),
      speed_cell(sum.flops, sum.time)]));
  add_table("t-workers", "Workers", ["worker", "tasks", "failed", "in tasks", "waiting", "idle", "of it after the last task", "speed"],
    sums.workers.map((sum, n) => [report.workers[n].name, count_cell(sum.count), count_cell(sum.failed), time_cell(sum.busy),
      time_cell(sum.waiting), time_cell(Math.max(0, report.end - sum.busy - sum.waiting)), time_cell(sum.after), speed_cell(sum.flops, report.end)]));
  add_table("t-links", "Links", ["link", "transfers", "bytes", "of it written back", "in use", "rate in use", "bandwidth"],
    sums.links.flatMap((sum, n) => (sum.count === 0 ? [] : [[link_name(n), count_cell(sum.count), bytes_cell(sum.bytes),
      bytes_cell(sum.written), [as_share(sum.busy / (report.end || 1)), sum.busy], sum.busy > 0 ? as_rate(sum.bytes / (sum.busy / 1e9)) : "",
      as_rate(report.links[n].bandwidth)]])));
  add_table("t-nodes", "Memories", ["memory", "limit", "peak", "evictions", "bytes evicted", "written back first"],
    sums.nodes.map((sum, n) => [report.nodes[n].name, report.nodes[n].capacity ? bytes_cell(report.nodes[n].capacity) : "none",
      bytes_cell(sum.peak), count_cell(sum.evictions), bytes_cell(sum.bytes), count_cell(sum.written)]));
  add_table("t-totals", "As the run itself counted", ["what", "value"],
    report.totals.map(([name, value]) => [name, [Number.isInteger(value) ? as_count(value) : String(Number(value.toPrecision(6))), value]]));
  add_table("t-configuration", "What was run, and how", ["name", "value"], report.configuration, "text");
}

function show_legend() {
  const codelets = sums.codelets.map((_, n) => n).filter((n) => sums.codelets[n].count > 0)
    .sort((a, b) => sums.codelets[b].time - sums.codelets[a].time);
  const used = kinds.filter((kind) => all.by_kind[kind] > 0);
  fill_legend(element("legend"), [...codelets.map((n) => [colour_of[n], report.codelets[n]]), ["", "waiting for data", "waiting"],
    ["", "idle", "idle"], ...used.map((kind) => [colour_of_kind[kind], `transfer ${kind}`])]);
}

function start() {
  document.title = report.title;
  element("title").textContent = report.title;
  element("subtitle").textContent = report.subtitle;
  if (report.dropped > 0) {
    element("dropped").hidden = false;
    element("dropped").textContent = `The recorder's bound was reached: ${as_count(report.dropped)} events are missing, and all figures below are of those that were kept.`;
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
    redraw();
    redraw_order();
  });
  document.body.dataset.drawn = String(Math.round(performance.now()));
  document.body.dataset.state = "ready";
}
start();
