// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/trace/html_report.hpp>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/trace/text_file.hpp>
#include <granary/detail/trace/waits.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "report_page.hpp"

namespace granary {
namespace {

using Json = nlohmann::ordered_json;

// Writes bytes as base64 to a stream.
class Base64 {
 public:
  explicit Base64(TextFile& out) : m_out(out) {}
  void put(std::uint8_t byte) {
    m_bits = m_bits << 8 | byte;
    if (++m_count < 3) return;
    flush(4);
  }
  void finish() {
    if (m_count > 0) {
      auto const digits = m_count + 1;
      m_bits <<= 8 * (3 - m_count);
      flush(digits);
      m_text.append(4 - digits, '=');
    }
    m_out.write(m_text);
    m_text.clear();
  }

 private:
  void flush(std::uint32_t digits) {
    constexpr char const* alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (std::uint32_t digit = 0; digit < digits; ++digit) m_text += alphabet[m_bits >> (18 - 6 * digit) & 63U];
    m_bits = m_count = 0;
    if (m_text.size() < block) return;
    m_out.write(m_text);
    m_text.clear();
  }

  static constexpr std::size_t block = 1U << 16;
  TextFile& m_out;
  std::string m_text;
  std::uint32_t m_bits = 0;
  std::uint32_t m_count = 0;  // bytes in m_bits
};

// A table's rows, sorted by lane and then by instant.
struct Order {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint64_t> first;  // by lane, and the end
};

template <class Row, class Lane, class When>
Order order_of(std::vector<Row> const& rows, std::size_t lanes, Lane lane, When when) {
  Order order{std::vector<std::uint32_t>(rows.size()), std::vector<std::uint64_t>(lanes + 1, 0)};
  std::iota(order.rows.begin(), order.rows.end(), 0U);
  std::ranges::stable_sort(order.rows, [&](std::uint32_t a, std::uint32_t b) {
    auto const lane_a = std::invoke(lane, rows[a]);
    auto const lane_b = std::invoke(lane, rows[b]);
    return lane_a != lane_b ? lane_a < lane_b : std::invoke(when, rows[a]) < std::invoke(when, rows[b]);
  });
  for (auto const& row : rows) ++order.first.at(std::invoke(lane, row).index() + 1);
  std::partial_sum(order.first.begin(), order.first.end(), order.first.begin());
  return order;
}

// In a script element, "</script>" and "<!--" would end or hide it.
std::string safe_in_script(Json const& json) {
  auto const text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string result;
  result.reserve(text.size());
  for (char const c : text) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

Json machine_of(Trace const& trace) {
  constexpr char const* kinds[] = {"host", "device", "disk", "peers"};
  Json json;
  for (auto const* key : {"nodes", "links", "workers"}) json[key] = Json::array();
  for (auto const& node : trace.machine.nodes) {
    auto const limit = node.capacity == detail::unbounded ? Json(nullptr) : Json(node.capacity);
    json["nodes"].push_back(
        {{"name", node.name}, {"kind", kinds[static_cast<std::size_t>(node.kind)]}, {"capacity", limit}});
  }
  if (trace.processes() > 1) {
    json["processes"] = trace.processes();
    for (std::size_t n = 0; n < trace.machine.nodes.size(); ++n) json["nodes"][n]["process"] = trace.process_of_node[n];
  }
  for (auto const& link : trace.machine.links) {
    json["links"].push_back({{"from", link.from.value()}, {"to", link.to.value()}, {"bandwidth", link.bandwidth}});
  }
  for (auto const& worker : trace.machine.workers) {
    json["workers"].push_back({{"name", worker.name}, {"node", worker.node.value()}});
  }
  return json;
}

Json bounds_of(Trace const& trace) {
  Json json = Json::object();
  for (auto const& [name, value] : trace.totals) {
    if (name == least_seconds && value > 0) json["seconds"] = value;
    if (name == least_seconds_measured && value > 0) {
      json["seconds"] = value;
      json["measured"] = true;
    }
    if (name == least_bytes_loaded && value > 0) json["loads"] = value;
    if (name == least_bytes_read && value > 0) json["reads"] = value;
    for (std::size_t node = 0; node < trace.machine.nodes.size(); ++node) {
      if (name == least_bytes_loaded_into + trace.machine.nodes[node].name) json["nodes"].push_back({node, value});
    }
  }
  return json;
}

std::string subtitle_of(Trace const& trace) {
  std::string text;
  auto const add = [&](std::string const& name, std::string const& value) {
    if (!text.empty()) text += " · ";
    text += name;
    text += ' ';
    text += value;
  };
  for (auto const& [name, value] : trace.totals) {
    if (name == "n" || name == "tile") add(name, fmt::format("{:.0f}", value));
  }
  for (auto const& [name, value] : trace.configuration) {
    if (name == "program" || text.size() + name.size() + value.size() > 160) continue;
    add(name, value);
  }
  return text;
}

// The page's data: a header, and a script element for each column.
class PageData {
 public:
  PageData(Trace const& trace, TextFile& out)
      : m_trace(trace),
        m_out(out),
        m_waits(waits_of(trace)),
        m_tasks(order_of(trace.tasks, workers(), &detail::TraceTask::worker, &detail::TraceTask::begin)),
        m_wait_order(order_of(m_waits, workers(), &TraceWait::worker, &TraceWait::begin)),
        m_transfers(order_of(trace.transfers, trace.machine.links.size(), &detail::TraceTransfer::link,
                             &detail::TraceTransfer::begin)),
        m_evictions(order_of(trace.evictions, nodes(), &detail::TraceEviction::node, &detail::TraceEviction::when)),
        m_memory(order_of(trace.memory, nodes(), &detail::TraceMemory::node, &detail::TraceMemory::when)),
        m_booked(order_of(trace.booked, nodes(), &detail::TraceBooked::node, &detail::TraceBooked::when)) {
    for (auto const& task : trace.tasks) m_flops.emplace(task.flops, 0);
    std::uint32_t index = 0;
    for (auto& [flops, number] : m_flops) number = index++;
    // Codelets of one name, such as those for several element types, are shown as one.
    for (auto const& name : trace.codelets) {
      auto const known = std::ranges::find(m_codelets, name);
      m_codelet_of.push_back(static_cast<std::uint32_t>(known - m_codelets.begin()));
      if (known == m_codelets.end()) m_codelets.push_back(name);
    }
  }

  void write() {
    write_header();
    auto const length = [](auto const& row) { return row.end - row.begin; };
    auto const data = [](auto const& row) {
      return row.data == detail::TraceTask::no_data ? std::int64_t{-1} : row.data;
    };
    auto const task = [&](char const* name, auto value) { column("tasks", name, m_tasks, m_trace.tasks, value); };
    task("begin", &detail::TraceTask::begin);
    task("length", length);
    task("issued", [](detail::TraceTask const& row) { return row.begin - row.issued; });
    task("task", &detail::TraceTask::task);
    task("codelet", [&](detail::TraceTask const& row) { return m_codelet_of[row.codelet.index()]; });
    task("i", [](detail::TraceTask const& row) { return row.index[0]; });
    task("j", [](detail::TraceTask const& row) { return row.index[1]; });
    task("k", [](detail::TraceTask const& row) { return row.index[2]; });
    task("data", data);
    task("flops", [&](detail::TraceTask const& row) { return m_flops.at(row.flops); });
    task("failed", &detail::TraceTask::failed);
    task("stopped", &detail::TraceTask::stopped);
    column("waits", "begin", m_wait_order, m_waits, &TraceWait::begin);
    column("waits", "length", m_wait_order, m_waits, length);
    column("waits", "why", m_wait_order, m_waits, [](TraceWait const& row) { return static_cast<int>(row.why); });
    auto const transfer = [&](char const* name, auto value) {
      column("transfers", name, m_transfers, m_trace.transfers, value);
    };
    transfer("begin", &detail::TraceTransfer::begin);
    transfer("length", length);
    transfer("data", data);
    transfer("bytes", &detail::TraceTransfer::bytes);
    transfer("why", [](detail::TraceTransfer const& row) { return static_cast<int>(row.why); });
    transfer("failed", &detail::TraceTransfer::failed);
    auto const eviction = [&](char const* name, auto value) {
      column("evictions", name, m_evictions, m_trace.evictions, value);
    };
    eviction("begin", &detail::TraceEviction::when);
    eviction("data", data);
    eviction("bytes", &detail::TraceEviction::bytes);
    eviction("reason", [](detail::TraceEviction const& row) { return static_cast<int>(row.reason); });
    eviction("written", &detail::TraceEviction::written_back);
    column("memory", "begin", m_memory, m_trace.memory, &detail::TraceMemory::when);
    column("memory", "used", m_memory, m_trace.memory, &detail::TraceMemory::used);
    column("booked", "begin", m_booked, m_trace.booked, &detail::TraceBooked::when);
    column("booked", "bytes", m_booked, m_trace.booked, &detail::TraceBooked::bytes);
    column("booked", "limit", m_booked, m_trace.booked,
           [](detail::TraceBooked const& row) { return row.limit >= detail::unbounded ? Bytes{0} : row.limit; });
  }

 private:
  [[nodiscard]] std::size_t workers() const { return m_trace.machine.workers.size(); }
  [[nodiscard]] std::size_t nodes() const { return m_trace.machine.nodes.size(); }

  void write_header() {
    Json header = machine_of(m_trace);
    auto const program =
        std::ranges::find(m_trace.configuration, "program", &std::pair<std::string, std::string>::first);
    header["title"] = "granary report" + (program == m_trace.configuration.end() ? "" : ": " + program->second);
    header["subtitle"] = subtitle_of(m_trace);
    header["end"] = m_trace.end.time_since_epoch().count();
    header["dropped"] = m_trace.dropped;
    header["codelets"] = m_codelets;
    header["data"] = Json::array();
    for (auto const& [name, bytes, position] : m_trace.data) {
      header["data"].push_back({name, bytes, position.row, position.column});
    }
    header["flops"] = Json::array();
    for (auto const& [flops, number] : m_flops) header["flops"].push_back(flops);
    header["configuration"] = Json::array();
    for (auto const& [name, value] : m_trace.configuration) header["configuration"].push_back({name, value});
    header["totals"] = Json::array();
    for (auto const& [name, value] : m_trace.totals) header["totals"].push_back({name, value});
    header["bounds"] = bounds_of(m_trace);
    auto const table = [&](char const* name, Order const& order) {
      header["tables"][name] = {{"count", order.rows.size()}, {"first", order.first}};
    };
    table("tasks", m_tasks);
    table("waits", m_wait_order);
    table("transfers", m_transfers);
    table("evictions", m_evictions);
    table("memory", m_memory);
    table("booked", m_booked);
    m_out.print("<script type=\"application/json\" id=\"report-header\">{}</script>\n", safe_in_script(header));
  }

  static std::int64_t number(detail::Instant instant) { return instant.time_since_epoch().count(); }
  static std::int64_t number(Duration duration) { return duration.count(); }
  template <class Tag, class Rep>
  static std::int64_t number(detail::Id<Tag, Rep> id) {
    return static_cast<std::int64_t>(id.value());
  }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  static std::int64_t number(Number value) { return static_cast<std::int64_t>(value); }

  // Differences of consecutive values, as zigzag varints: small differences take few bytes.
  template <class Row, class Value>
  void column(char const* table, char const* name, Order const& order, std::vector<Row> const& rows, Value value) {
    m_out.print("<script type=\"text/plain\" id=\"{}-{}\">", table, name);
    Base64 base64(m_out);
    std::int64_t previous = 0;
    for (auto const row : order.rows) {
      auto const now = number(std::invoke(value, rows[row]));
      auto const difference = now - previous;
      previous = now;
      auto zigzag = static_cast<std::uint64_t>(difference) << 1 ^ static_cast<std::uint64_t>(difference >> 63);
      for (; zigzag > 127; zigzag >>= 7) base64.put(static_cast<std::uint8_t>(zigzag | 128U));
      base64.put(static_cast<std::uint8_t>(zigzag));
    }
    base64.finish();
    m_out.write("</script>\n");
  }

  Trace const& m_trace;
  TextFile& m_out;
  std::vector<TraceWait> m_waits;
  Order m_tasks;
  Order m_wait_order;
  Order m_transfers;
  Order m_evictions;
  Order m_memory;
  Order m_booked;
  std::map<double, std::uint32_t> m_flops;  // to its index in the header
  std::vector<std::string> m_codelets;      // each name once
  std::vector<std::uint32_t> m_codelet_of;  // by the trace's codelet: its index there
};

}  // namespace

void write_html_report(Trace const& trace, TextFile& out) {
  // The page's template has one placeholder each for style, data and script.
  std::string_view page = report_page::page;
  auto const up_to = [&](std::string_view mark) {
    auto const at = page.find(mark);
    out.write(page.substr(0, at));
    page.remove_prefix(at + mark.size());
  };
  up_to("<!--granary:style-->");
  out.write(report_page::style);
  up_to("<!--granary:data-->");
  PageData(trace, out).write();
  up_to("<!--granary:script-->");
  for (auto const part : report_page::scripts) out.write(part);
  out.write(page);
}

void check_report_path(std::string const& path) {
  if (path.ends_with(".html")) return;
  throw InvalidArgument("the report '" + path + "' is an HTML page: its name must end with .html");
}

void write_html_report(Trace const& trace, std::string const& path) {
  check_report_path(path);
  TextFile file(path);
  write_html_report(trace, file);
  file.close();
}

}  // namespace granary
