// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/trace/chrome_json.hpp>

#include <granary/trace/series.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace granary {
namespace {

// The groups of tracks.
enum Process { workers = 1, links = 2, memory = 3 };

constexpr std::size_t most_rates = 2000;

std::string quoted(std::string const& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class ChromeWriter {
 public:
  ChromeWriter(Trace const& trace, TextFile& file) : m_trace(trace), m_file(file), m_rows(transfer_rows(trace)) {
    for (auto const& codelet : trace.codelets) m_codelets.push_back(quoted(codelet));
  }

  void write() {
    m_file.write("{\"displayTimeUnit\":\"ms\",\"otherData\":");
    other_data();
    m_file.write(",\"traceEvents\":[\n");
    names();
    for (auto const& task : m_trace.tasks) write(task);
    for (std::size_t t = 0; t < m_trace.transfers.size(); ++t) write(m_trace.transfers[t], m_rows[t]);
    for (auto const& eviction : m_trace.evictions) write(eviction);
    for (auto const& level : m_trace.memory) write(level);
    rates();
    m_file.write("\n]}\n");
  }

 private:
  void other_data() {
    nlohmann::ordered_json other;
    for (auto const& [name, value] : m_trace.configuration) other[name] = value;
    for (auto const& [name, value] : m_trace.totals) other[name] = value;
    other["dropped events"] = m_trace.dropped;
    m_file.write(other.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }

  void names() {
    name(workers, 0, "process_name", "workers");
    name(links, 0, "process_name", "links");
    name(memory, 0, "process_name", "memory");
    auto const& machine = m_trace.machine;
    for (std::size_t w = 0; w < machine.workers.size(); ++w) {
      name(workers, w + 1, "thread_name", machine.workers[w].name);
    }
    for (std::size_t n = 0; n < machine.nodes.size(); ++n) {
      name(memory, n + 1, "thread_name", "evictions on " + machine.nodes[n].name);
    }
    auto const rows = rows_of_links(m_trace, m_rows);
    m_first_track.resize(rows.size());
    std::size_t track = 1;
    for (std::size_t l = 0; l < rows.size(); ++l) {
      m_first_track[l] = track;
      auto const link = link_name(machine, LinkId(static_cast<std::uint32_t>(l)));
      for (std::uint32_t row = 0; row < rows[l]; ++row) {
        name(links, track++, "thread_name", row == 0 ? link : fmt::format("{} ({})", link, row + 1));
      }
    }
  }

  void name(Process process, std::size_t track, char const* what, std::string const& text) {
    m_file.print("{}{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"{}\",\"args\":{{\"name\":{}}}}}",
                 std::exchange(m_separator, ",\n"), static_cast<int>(process), track, what, quoted(text));
  }

  // The fields that all events share, up to their arguments.
  void begin(char phase, Process process, std::size_t track, std::string_view name, Instant when) {
    m_file.print(",\n{{\"ph\":\"{}\",\"pid\":{},\"tid\":{},\"name\":{},\"ts\":{}", phase, static_cast<int>(process),
                 track, name, microseconds(when.time_since_epoch()));
  }
  [[nodiscard]] static std::string microseconds(Duration time) {
    return fmt::format("{}.{:03}", time.count() / 1000, time.count() % 1000);
  }
  [[nodiscard]] std::string data_name(std::uint32_t data) const {
    return data == TraceTask::no_data ? "null" : quoted(m_trace.data[data].name);
  }

  void write(TraceTask const& task) {
    if (task.blocked > Duration{0}) {
      begin('X', workers, task.worker.index() + 1, "\"blocked\"", task.begin - task.blocked);
      m_file.print(",\"cat\":\"blocked\",\"dur\":{},\"args\":{{\"task\":{}}}}}", microseconds(task.blocked),
                   task.task.value());
    }
    begin('X', workers, task.worker.index() + 1, m_codelets[task.codelet.index()], task.begin);
    m_file.print(",\"cat\":\"task\",\"dur\":{},\"args\":{{\"task\":{},\"i\":{},\"j\":{},\"k\":{},\"data\":{}",
                 microseconds(task.end - task.begin), task.task.value(), task.index[0], task.index[1], task.index[2],
                 data_name(task.data));
    if (task.data != TraceTask::no_data) {
      auto const& data = m_trace.data[task.data];
      m_file.print(",\"row\":{},\"column\":{}", data.position.row, data.position.column);
    }
    m_file.print(",\"flops\":{},\"issued\":{},\"failed\":{}}}}}", task.flops,
                 microseconds(task.issued.time_since_epoch()), task.failed);
  }

  void write(TraceTransfer const& transfer, std::uint32_t row) {
    auto const name = data_name(transfer.data);
    begin('X', links, m_first_track[transfer.link.index()] + row, name, transfer.begin);
    m_file.print(
        ",\"cat\":\"transfer\",\"dur\":{},\"args\":{{\"data\":{},\"bytes\":{},\"why\":\"{}\",\"failed\":{}}}}}",
        microseconds(transfer.end - transfer.begin), name, transfer.bytes,
        transfer.why == TraceTransfer::Why::Fetch ? "fetch" : "write-back", transfer.failed);
  }

  void write(TraceEviction const& eviction) {
    begin('i', memory, eviction.node.index() + 1, "\"eviction\"", eviction.when);
    m_file.print(
        ",\"cat\":\"eviction\",\"s\":\"t\",\"args\":{{\"data\":{},\"bytes\":{},\"reason\":\"{}\",\"written "
        "back\":{}}}}}",
        data_name(eviction.data), eviction.bytes, name_of(eviction.reason), eviction.written_back);
  }

  void write(TraceMemory const& level) {
    begin('C', memory, 0, quoted("bytes in " + m_trace.machine[level.node].name), level.when);
    m_file.print(",\"args\":{{\"bytes\":{}}}}}", level.used);
  }

  void rates() {
    auto const count = std::min(most_rates, m_trace.tasks.size());
    if (count == 0) return;
    auto const values = flops_per_second(m_trace, count);
    auto const width = m_trace.end.time_since_epoch() / static_cast<Duration::rep>(count);
    for (std::size_t part = 0; part < count; ++part) {
      begin('C', workers, 0, "\"GFlop/s\"", Instant(width * static_cast<Duration::rep>(part)));
      m_file.print(",\"args\":{{\"GFlop/s\":{:.6g}}}}}", values[part] * 1e-9);
    }
  }

  Trace const& m_trace;
  TextFile& m_file;
  std::vector<std::uint32_t> m_rows;
  std::vector<std::string> m_codelets;
  std::vector<std::size_t> m_first_track;  // by link
  char const* m_separator = "";
};

}  // namespace

void write_chrome_json(Trace const& trace, TextFile& file) { ChromeWriter(trace, file).write(); }

}  // namespace granary
