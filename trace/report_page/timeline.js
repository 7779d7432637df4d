// The timeline: rows for workers, links, memories and rates over one axis of time. A row reads only the visible
// spans; spans narrower than a pixel are summed per pixel, so that a million spans cost one pass.
const view = { from: 0, to: Math.max(1, report.end), canvas: element("timeline"), width: 0, rows: [], height: 0, chosen: 0,
  selected: null, cursor: null, pending: false };
const gutter = 190;
const scale_width = 62;
const right_margin = 124;

const style_of = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const plot_width = () => view.width - gutter - right_margin;
const x_of = (instant) => gutter + ((instant - view.from) / (view.to - view.from)) * plot_width();
const instant_at = (x) => view.from + ((x - gutter) / plot_width()) * (view.to - view.from);

const title_row = (name) => ({ kind: "title", name, height: 24 });

// The rows of a run on one process above its rates.
function lane_rows() {
  const rows = [];
  const title = (text) => rows.push(title_row(text));
  const lane_height = Math.max(7, Math.min(20, 420 / Math.max(1, report.workers.length)));
  title("Workers");
  report.workers.forEach((worker, lane) => rows.push({ kind: "worker", lane, name: worker.name, height: lane_height, table: tasks }));
  const used = report.links.map((_, lane) => lane).filter((lane) => sums.links[lane].count > 0);
  if (used.length > 0) title("Links");
  for (const lane of used) {
    const height = Math.max(5 * rows_of_link[lane], Math.max(7, Math.min(14, 320 / used.length)));
    rows.push({ kind: "link", lane, name: link_name(lane), height, table: transfers });
  }
  const nodes = report.nodes.map((_, lane) => lane).filter((lane) => memory.first[lane + 1] > memory.first[lane]);
  if (nodes.length > 0) title("Memory in use (dashed: limit; ticks below: evictions, longer ones with a write-back)");
  for (const lane of nodes) rows.push({ kind: "memory", lane, name: report.nodes[lane].name, height: 46, table: memory });
  return rows;
}

function make_rows() {
  const rows = several ? [title_row("Processes (click a row, or press Enter, for its workers, links and memories)"), ...process_rows()] : lane_rows();
  rows.push(title_row("Rates"));
  if (transfers.count > 0) rows.push({ kind: "bytes", name: "transfer rate", height: 84 });
  if (sums.workers.some((sum) => sum.flops > 0)) rows.push({ kind: "flops", name: "speed of tasks", height: 64 });
  let top = 22;
  for (const row of rows) {
    row.top = top;
    top += row.height + (row.kind === "title" ? 0 : row.kind === "process" ? 1 : row.kind === "worker" || row.kind === "link" ? 2 : 10);
  }
  view.rows = rows;
  view.height = top + 6;
  view.chosen = rows.findIndex(can_be_chosen);
}

const can_be_chosen = (row) => Boolean(row.table) || row.kind === "process";

// Patterns of waiting: for data, blocked, and for other processes; and by codelet, of runs that were stopped.
let hatching = null;
let stopped_looks = null;
function make_hatching(context) {
  const pattern = (width, lines, colour = style_of("--waiting")) => {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const pen = tile.getContext("2d");
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.beginPath();
    for (const [x, y, to_x, to_y] of lines) {
      pen.moveTo(x, y);
      pen.lineTo(to_x, to_y);
    }
    pen.stroke();
    return context.createPattern(tile, "repeat");
  };
  hatching = [pattern(1.6, [-6, 0, 6].map((shift) => [shift, 6, shift + 6, 0])), pattern(1.2, [[0, 3, 6, 3], [3, 0, 3, 6]]),
    pattern(1.6, [-6, 0, 6].map((shift) => [shift, 0, shift + 6, 6]), colour_of_kind["between processes"])];
  stopped_looks = colour_of.map((colour) => pattern(1.6, [[1.5, 0, 1.5, 6], [4.5, 0, 4.5, 6]], colour));
}

// Draws the spans of one lane: wide ones directly; for narrow ones a column per pixel above `base`, divided by the share
// of the pixel's time that each look takes. look: maps a row to its index in looks. Returns the shares.
function draw_spans(context, row, rows, { looks, look, sub_rows = 1, sub_row = () => 0, base = null }) {
  const width = plot_width();
  const scale = width / (view.to - view.from);
  const parts = new Float32Array((Math.ceil(width) + 1) * looks.length);
  const [first, last] = [rows.first[row.lane], rows.first[row.lane + 1]];
  const end = first_after(rows, first, last, view.to);
  const height = row.height / sub_rows;
  // Spans of a lane overlap only in links, and only a few.
  for (let n = Math.max(first, first_after(rows, first, last, view.from) - 4 * sub_rows); n < end; ++n) {
    const x = (rows.begin[n] - view.from) * scale;
    const wide = rows.length[n] * scale;
    if (x + wide < 0) continue;
    if (wide >= 2) {
      const left = Math.max(0, x);
      context.fillStyle = looks[look(n)];
      context.fillRect(gutter + left, row.top + sub_row(n) * height, Math.min(width, x + wide) - left - (wide > 4 ? 0.7 : 0), height);
      continue;
    }
    for (let pixel = Math.max(0, Math.floor(x)); pixel <= x + wide && pixel < width; ++pixel) {
      parts[pixel * looks.length + look(n)] += (Math.min(pixel + 1, x + wide) - Math.max(pixel, x)) / sub_rows;
    }
  }
  const cover = new Float32Array(Math.ceil(width) + 1);
  for (let at = 0; at < parts.length; ++at) {
    if (parts[at] < 0.01) continue;
    const pixel = Math.floor(at / looks.length);
    const below = Math.min(1, cover[pixel] + (base ? base[pixel] : 0)) * row.height;
    const tall = Math.min(row.height - below, parts[at] * row.height);
    context.fillStyle = looks[at % looks.length];
    context.fillRect(gutter + pixel, row.top + row.height - below - tall, 1, tall);
    cover[pixel] += parts[at];
  }
  return cover;
}

function draw_lane(context, row) {
  context.fillStyle = style_of("--lane");
  context.fillRect(gutter, row.top, plot_width(), row.height);
}

function draw_worker(context, row) {
  draw_lane(context, row);
  const failed = colour_of.length;
  const look = (n) => (tasks.failed[n] ? failed : tasks.stopped[n] ? failed + 1 + tasks.codelet[n] : tasks.codelet[n]);
  const base = draw_spans(context, row, tasks, { looks: [...colour_of, style_of("--limit"), ...stopped_looks], look });
  draw_spans(context, row, waits, { looks: hatching, look: (n) => waits.why[n], base });
  note(context, row, `${as_share(sums.workers[row.lane].busy / (report.end || 1))} in tasks`);
}

function draw_link(context, row) {
  draw_lane(context, row);
  draw_spans(context, row, transfers, { looks: [colour_of_kind[kind_of_link(row.lane)], style_of("--limit")], look: (n) => transfers.failed[n],
    sub_rows: rows_of_link[row.lane], sub_row: (n) => row_in_link[n] });
  note(context, row, as_bytes(sums.links[row.lane].bytes));
}

// A scale at the left of a row with bars up to `top`: 0 and a few round values.
function draw_scale(context, row, top, text, base) {
  const most = row.height / 22;
  const round = base === 2 ? 2 ** Math.ceil(Math.log2(top / most)) : 10 ** Math.floor(Math.log10(top / most));
  const step = base === 2 ? round : round * [1, 2, 5, 10].find((factor) => top / (round * factor) <= most);
  context.font = "10px system-ui, 'DejaVu Sans', sans-serif";
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (let value = 0; value <= top; value += step) {
    const y = row.top + row.height * (1 - value / top);
    context.fillStyle = style_of("--line");
    context.fillRect(gutter - 4, y - 0.5, plot_width() + 4, 1);
    context.fillStyle = style_of("--soft");
    context.fillText(value === 0 ? "0" : text(value), gutter - 6, y);
  }
}
const round_bytes = (value) => as_bytes(value).replace(/\.0+(?= )/, "");
const round_flops = (value) => as_flops(value).replace(/\.0+(?= )/, "");

function note(context, row, text, y = row.top + row.height / 2) {
  context.fillStyle = style_of("--soft");
  context.font = "11px system-ui, 'DejaVu Sans', sans-serif";
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(text, view.width - right_margin + 6, y);
}

// A line at the booked bytes, and a soft one at the limit above which submission sleeps.
function draw_booked(context, row, y) {
  const [first, last] = [booked.first[row.lane], booked.first[row.lane + 1]];
  const end = first_after(booked, first, last, view.to);
  for (let n = Math.max(first, first_after(booked, first, last, view.from) - 1); n < end;) {
    const pixel = Math.floor(x_of(booked.begin[n]));
    let most = booked.bytes[n];
    let next = n + 1;
    while (next < end && Math.floor(x_of(booked.begin[next])) === pixel) most = Math.max(most, booked.bytes[next++]);
    const until = Math.min(next < last ? Math.floor(x_of(booked.begin[next])) : x_of(report.end), gutter + plot_width());
    const left = Math.max(gutter, pixel);
    const limit = booked.limit[next - 1];
    context.fillStyle = style_of("--soft");
    if (limit > 0 && y(limit) >= row.top) context.fillRect(left, y(limit) - 0.5, Math.max(1, until - left), 1);
    context.fillStyle = style_of("--text");
    context.fillRect(left, y(most) - 0.75, Math.max(1, until - left), 1.5);
    n = next;
  }
}

function draw_memory(context, row) {
  const node = report.nodes[row.lane];
  const [first, last] = [memory.first[row.lane], memory.first[row.lane + 1]];
  const top = Math.max(node.capacity ?? 0, sums.nodes[row.lane].peak, sums.nodes[row.lane].booked, 1);
  const y = (used) => row.top + row.height * (1 - used / top);
  draw_lane(context, row);
  draw_scale(context, row, top, round_bytes, 2);
  context.fillStyle = style_of("--level");
  const begin = Math.max(first, first_after(memory, first, last, view.from) - 1);
  const end = first_after(memory, first, last, view.to);
  for (let n = begin; n < end;) {
    // The maximum of the samples in a pixel; the last one is valid until the next pixel.
    const pixel = Math.floor(x_of(memory.begin[n]));
    let most = memory.used[n];
    let next = n + 1;
    while (next < end && Math.floor(x_of(memory.begin[next])) === pixel) most = Math.max(most, memory.used[next++]);
    const until = next < last ? Math.min(Math.floor(x_of(memory.begin[next])), gutter + plot_width()) : Math.min(x_of(report.end), gutter + plot_width());
    const left = Math.max(gutter, pixel);
    if (most > 0) context.fillRect(left, y(most), 1, row.top + row.height - y(most));
    const level = memory.used[next - 1];
    if (level > 0 && until > left + 1) context.fillRect(left + 1, y(level), until - left - 1, row.top + row.height - y(level));
    n = next;
  }
  draw_booked(context, row, y);
  context.fillStyle = style_of("--text");
  const last_eviction = first_after(evictions, evictions.first[row.lane], evictions.first[row.lane + 1], view.to);
  let drawn = -1;
  for (let n = first_after(evictions, evictions.first[row.lane], evictions.first[row.lane + 1], view.from); n < last_eviction; ++n) {
    const x = Math.round(x_of(evictions.begin[n]));
    if (x !== drawn) context.fillRect(x, row.top + row.height, 1, evictions.written[n] ? 6 : 3);
    drawn = x;
  }
  if (node.capacity) {
    context.fillStyle = style_of("--text");
    for (let x = gutter; x < gutter + plot_width(); x += 8) context.fillRect(x, y(node.capacity) - 0.5, 5, 1.5);
    note(context, row, `limit ${as_bytes(node.capacity)}`, row.top + 6);
  }
  note(context, row, `peak ${as_bytes(sums.nodes[row.lane].peak)}`, row.top + 22);
  note(context, row, `${as_count(sums.nodes[row.lane].evictions)} evictions`, row.top + 38);
}

// Spreads each row's amount evenly over its span; returns the amounts per second by bin of pixels.
const bin_pixels = 4;
function rates(rows, amount, group, groups) {
  const bins = Math.ceil(plot_width() / bin_pixels);
  const scale = bins / (view.to - view.from);
  const result = Array.from({ length: groups }, () => new Float64Array(bins));
  const per_second = scale * 1e9;
  for (let lane = 0; lane + 1 < rows.first.length; ++lane) {
    const into = result[group(lane)];
    const end = first_after(rows, rows.first[lane], rows.first[lane + 1], view.to);
    for (let n = Math.max(rows.first[lane], first_after(rows, rows.first[lane], rows.first[lane + 1], view.from) - 16); n < end; ++n) {
      const from = (rows.begin[n] - view.from) * scale;
      const wide = Math.max(rows.length[n] * scale, 1e-9);
      for (let bin = Math.max(0, Math.floor(from)); bin <= from + wide && bin < bins; ++bin) {
        const part = Math.min(bin + 1, from + wide) - Math.max(bin, from);
        if (part > 0) into[bin] += (amount(n) * part * per_second) / wide;
      }
    }
  }
  return result;
}

// `mark` is a rate to compare with: a dashed line.
function draw_rates(context, row, stacks, colours, mark, text, base, notes) {
  const totals = stacks[0].map((_, bin) => stacks.reduce((sum, stack) => sum + stack[bin], 0));
  const top = Math.max(1e-9, mark ?? 0, totals.reduce((a, b) => Math.max(a, b), 0));
  draw_lane(context, row);
  draw_scale(context, row, top, text, base);
  const below = new Float64Array(stacks[0].length);
  stacks.forEach((stack, n) => {
    context.fillStyle = colours[n];
    stack.forEach((rate, bin) => {
      const tall = (rate / top) * row.height;
      if (tall <= 0) return;
      const x = gutter + bin * bin_pixels;
      context.fillRect(x, row.top + row.height - below[bin] - tall, Math.min(bin_pixels, gutter + plot_width() - x), tall);
      below[bin] += tall;
    });
  });
  notes.forEach((line, n) => note(context, row, line, row.top + 6 + 14 * n));
  if (!mark) return;
  context.fillStyle = style_of("--text");
  const y = row.top + row.height * (1 - mark / top);
  for (let x = gutter; x < gutter + plot_width(); x += 8) context.fillRect(x, y, 5, 1.5);
}

function draw_row(context, row) {
  if (row.kind === "process") draw_process(context, row);
  if (row.kind === "worker") draw_worker(context, row);
  if (row.kind === "link") draw_link(context, row);
  if (row.kind === "memory") draw_memory(context, row);
  if (row.kind === "bytes") {
    draw_rates(context, row, rates(transfers, (n) => transfers.bytes[n], (link) => kinds.indexOf(kind_of_link(link)), kinds.length),
      kinds.map((kind) => colour_of_kind[kind]), null, (rate) => `${round_bytes(Math.round(rate))}/s`, 2, [`mean ${as_rate(all.moved / (report.end / 1e9 || 1))}`]);
  }
  if (row.kind === "flops") {
    // Not a limit at one instant: the mean speed of the whole run at the lower bound.
    const fastest = report.bounds.seconds ? all.flops / report.bounds.seconds : null;
    draw_rates(context, row, rates(tasks, (n) => report.flops[tasks.flops[n]], () => 0, 1), [style_of("--level")], fastest, round_flops, 10,
      [`mean ${as_flops(all.flops / (report.end / 1e9 || 1))}`, ...(fastest ? ["dashed: mean at the", "lower bound on time,", as_flops(fastest)] : [])]);
  }
}

function draw_axis(context) {
  const span = view.to - view.from;
  const most = Math.max(2, plot_width() / 110);
  const power = 10 ** Math.floor(Math.log10(span / most));
  const step = power * [1, 2, 5, 10].find((factor) => span / (power * factor) <= most);
  context.font = "11px system-ui, 'DejaVu Sans', sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "center";
  for (let mark = Math.ceil(view.from / step) * step; mark <= view.to; mark += step) {
    const x = x_of(mark);
    context.fillStyle = style_of("--line");
    context.fillRect(x, 18, 1, view.height - 18);
    context.fillStyle = style_of("--soft");
    context.fillText(as_time(mark), x, 9);
  }
}

function fit_canvas(canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.clearRect(0, 0, width, height);
  return context;
}

function shortened(context, text, width) {
  while (text.length > 1 && context.measureText(text).width > width) text = `${text.slice(0, text.endsWith("…") ? -2 : -1)}…`;
  return text;
}

function draw_timeline() {
  view.pending = false;
  view.width = view.canvas.clientWidth;
  const context = fit_canvas(view.canvas, view.width, view.height);
  if (!hatching) make_hatching(context);
  draw_axis(context);
  view.rows.forEach((row, n) => {
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.font = row.kind === "title" ? "600 12px system-ui, 'DejaVu Sans', sans-serif" : "11px system-ui, 'DejaVu Sans', sans-serif";
    context.fillStyle = row.kind === "title" || n === view.chosen ? style_of("--text") : style_of("--soft");
    if (row.quiet && n !== view.chosen) return draw_row(context, row);
    const mark = n === view.chosen && document.activeElement === view.canvas ? "▸ " : "";
    const width = row.kind === "title" ? view.width : ["worker", "link", "process"].includes(row.kind) ? gutter - 8 : gutter - scale_width - 8;
    context.fillText(shortened(context, mark + row.name, width), 0, row.top + row.height / 2);
    if (row.kind !== "title") draw_row(context, row);
  });
  draw_marks(context);
  element("range").textContent = `${as_time(view.from)} to ${as_time(view.to)} of ${as_time(report.end)}`;
}

function draw_marks(context) {
  context.fillStyle = style_of("--text");
  if (view.cursor !== null) context.fillRect(x_of(view.cursor), 18, 1, view.height - 18);
  if (!view.selected) return;
  const { row, n } = view.selected;
  const left = Math.max(gutter, x_of(row.table.begin[n]));
  const right = Math.min(gutter + plot_width(), x_of(row.table.begin[n] + (row.table.length?.[n] ?? 0)));
  context.strokeStyle = style_of("--text");
  context.lineWidth = 2;
  if (right >= left) context.strokeRect(left, row.top - 1, Math.max(2, right - left), row.height + 2);
}

function redraw() {
  if (view.pending) return;
  view.pending = true;
  requestAnimationFrame(draw_timeline);
}

function show(from, to) {
  const span = Math.min(Math.max(to - from, 50), Math.max(1, report.end));
  view.from = Math.max(0, Math.min(from, report.end - span));
  view.to = view.from + span;
  redraw();
  view_changed();
}
function zoom(factor, around = (view.from + view.to) / 2) {
  show(around - (around - view.from) * factor, around + (view.to - around) * factor);
}
