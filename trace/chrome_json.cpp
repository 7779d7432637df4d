// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/trace/chrome_json.hpp>

#include <granary/detail/trace/series.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace granary {
namespace {

// The groups of tracks of one process.
enum Group { workers = 1, links = 2, memory = 3 };
// Of several processes: their loads, and then a group for each process.
constexpr std::uint32_t loads = 1;
constexpr std::uint32_t first_process = 2;

constexpr std::size_t most_rates = 2000;

std::string quoted(std::string const& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class ChromeWriter {
 public:
  ChromeWriter(Trace const& trace, TextFile& file)
      : m_trace(trace), m_file(file), m_several(trace.processes() > 1), m_rows(transfer_rows(trace)) {
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
    for (auto const& level : m_trace.booked) write(level);
    rates();
    if (m_several) write_loads();
    m_file.write("\n]}\n");
  }

 private:
  struct Track {
    std::uint32_t pid;
    std::size_t tid;
  };

  // With several processes the tracks of workers, nodes and links are in one group, each with an id of its own.
  [[nodiscard]] Track track(Group group, std::uint32_t process, std::size_t number) const {
    if (!m_several) return {group, number};
    std::size_t const workers_and_nodes = m_trace.machine.workers.size() + m_trace.machine.nodes.size();
    std::size_t const before = group == workers  ? 0
                               : group == memory ? m_trace.machine.workers.size()
                                                 : workers_and_nodes;
    return {first_process + process, before + number};
  }
  [[nodiscard]] Track track(detail::WorkerId id) const {
    return track(workers, m_trace.process_of(id), id.index() + 1);
  }
  [[nodiscard]] Track track(NodeId id) const { return track(memory, m_trace.process_of(id), id.index() + 1); }
  [[nodiscard]] Track track(detail::LinkId id, std::uint32_t row) const {
    return track(links, m_trace.process_of(id), m_first_track[id.index()] + row);
  }

  void other_data() {
    nlohmann::ordered_json other;
    for (auto const& [name, value] : m_trace.configuration) other[name] = value;
    for (auto const& [name, value] : m_trace.totals) other[name] = value;
    other["dropped events"] = m_trace.dropped;
    m_file.write(other.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }

  void names() {
    if (m_several) {
      name({loads, 0}, "process_name", "load of the processes");
      for (std::uint32_t p = 0; p < m_trace.processes(); ++p) {
        name({first_process + p, 0}, "process_name", "process " + std::to_string(p));
      }
      for (std::uint32_t p = 0; p < first_process - loads + m_trace.processes(); ++p) sort_index(loads + p, p);
    } else {
      name({workers, 0}, "process_name", "workers");
      name({links, 0}, "process_name", "links");
      name({memory, 0}, "process_name", "memory");
    }
    auto const& machine = m_trace.machine;
    for (std::uint32_t w = 0; w < machine.workers.size(); ++w) {
      name(track(detail::WorkerId(w)), "thread_name", machine.workers[w].name);
    }
    for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
      name(track(NodeId(n)), "thread_name", "evictions on " + machine.nodes[n].name);
    }
    auto const rows = rows_of_links(m_trace, m_rows);
    m_first_track.resize(rows.size());
    std::size_t next = 1;
    for (std::uint32_t l = 0; l < rows.size(); ++l) {
      detail::LinkId const id(l);
      m_first_track[l] = next;
      next += rows[l];
      auto const link = link_name(m_trace, id);
      for (std::uint32_t row = 0; row < rows[l]; ++row) {
        name(track(id, row), "thread_name", row == 0 ? link : fmt::format("{} ({})", link, row + 1));
      }
    }
  }

  void name(Track track, char const* what, std::string const& text) {
    m_file.print("{}{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"{}\",\"args\":{{\"name\":{}}}}}",
                 std::exchange(m_separator, ",\n"), track.pid, track.tid, what, quoted(text));
  }
  // The position of a group on the page.
  void sort_index(std::uint32_t pid, std::uint32_t position) {
    m_file.print(
        ",\n{{\"ph\":\"M\",\"pid\":{},\"tid\":0,\"name\":\"process_sort_index\",\"args\":{{\"sort_index\":{}}}}}", pid,
        position);
  }

  // The fields that all events share, up to their arguments.
  void begin(char phase, Track track, std::string_view name, detail::Instant when) {
    m_file.print(",\n{{\"ph\":\"{}\",\"pid\":{},\"tid\":{},\"name\":{},\"ts\":{}", phase, track.pid, track.tid, name,
                 microseconds(when.time_since_epoch()));
  }
  [[nodiscard]] static std::string microseconds(Duration time) {
    return fmt::format("{}.{:03}", time.count() / 1000, time.count() % 1000);
  }
  [[nodiscard]] std::string data_name(std::uint32_t data) const {
    return data == detail::TraceTask::no_data ? "null" : quoted(m_trace.data[data].name);
  }

  void write(detail::TraceTask const& task) {
    if (task.blocked > Duration{0}) {
      begin('X', track(task.worker), "\"blocked\"", task.begin - task.blocked);
      m_file.print(",\"cat\":\"blocked\",\"dur\":{},\"args\":{{\"task\":{}}}}}", microseconds(task.blocked),
                   task.task.value());
    }
    begin('X', track(task.worker), m_codelets[task.codelet.index()], task.begin);
    m_file.print(",\"cat\":\"task\",\"dur\":{},\"args\":{{\"task\":{},\"i\":{},\"j\":{},\"k\":{},\"data\":{}",
                 microseconds(task.end - task.begin), task.task.value(), task.index[0], task.index[1], task.index[2],
                 data_name(task.data));
    if (task.data != detail::TraceTask::no_data) {
      auto const& data = m_trace.data[task.data];
      m_file.print(",\"row\":{},\"column\":{}", data.position.row, data.position.column);
    }
    m_file.print(",\"flops\":{},\"issued\":{},\"failed\":{},\"stopped\":{}}}}}", task.flops,
                 microseconds(task.issued.time_since_epoch()), task.failed, task.stopped);
  }

  void write(detail::TraceTransfer const& transfer, std::uint32_t row) {
    auto const name = data_name(transfer.data);
    begin('X', track(transfer.link, row), name, transfer.begin);
    m_file.print(
        ",\"cat\":\"transfer\",\"dur\":{},\"args\":{{\"data\":{},\"bytes\":{},\"why\":\"{}\",\"failed\":{}}}}}",
        microseconds(transfer.end - transfer.begin), name, transfer.bytes,
        transfer.why == detail::TraceTransfer::Why::Fetch ? "fetch" : "write-back", transfer.failed);
  }

  void write(detail::TraceEviction const& eviction) {
    begin('i', track(eviction.node), "\"eviction\"", eviction.when);
    m_file.print(
        ",\"cat\":\"eviction\",\"s\":\"t\",\"args\":{{\"data\":{},\"bytes\":{},\"reason\":\"{}\",\"written "
        "back\":{}}}}}",
        data_name(eviction.data), eviction.bytes, name_of(eviction.reason), eviction.written_back);
  }

  void write(detail::TraceMemory const& level) {
    begin('C', {track(level.node).pid, 0}, quoted("bytes in " + m_trace.machine[level.node].name), level.when);
    m_file.print(",\"args\":{{\"bytes\":{}}}}}", level.used);
  }

  void write(detail::TraceBooked const& level) {
    begin('C', {track(level.node).pid, 0}, "\"bytes booked\"", level.when);
    m_file.print(",\"args\":{{\"bytes\":{}}}}}", level.bytes);
    if (level.limit >= detail::unbounded) return;
    begin('C', {track(level.node).pid, 0}, "\"limit of booked bytes\"", level.when);
    m_file.print(",\"args\":{{\"bytes\":{}}}}}", level.limit);
  }

  void rates() {
    auto const count = std::min(most_rates, m_trace.tasks.size());
    if (count == 0) return;
    auto const values = flops_per_second(m_trace, count);
    auto const width = m_trace.end.time_since_epoch() / static_cast<Duration::rep>(count);
    for (std::size_t part = 0; part < count; ++part) {
      begin('C', {workers, 0}, "\"GFlop/s\"", detail::Instant(width * static_cast<Duration::rep>(part)));
      m_file.print(",\"args\":{{\"GFlop/s\":{:.6g}}}}}", values[part] * 1e-9);
    }
  }

  // A counter for each process.
  void write_loads() {
    auto const count = intervals_of_loads(m_trace);
    if (count == 0) return;
    auto const busy = busy_workers(m_trace, count);
    auto const width = m_trace.end.time_since_epoch() / static_cast<Duration::rep>(count);
    for (std::size_t p = 0; p < busy.size(); ++p) {
      auto const name = fmt::format("\"process {}: busy workers\"", p);
      for (std::size_t part = 0; part < count; ++part) {
        begin('C', {loads, 0}, name, detail::Instant(width * static_cast<Duration::rep>(part)));
        m_file.print(",\"args\":{{\"workers\":{:.4g}}}}}", busy[p][part]);
      }
    }
  }

  Trace const& m_trace;
  TextFile& m_file;
  bool m_several;  // processes
  std::vector<std::uint32_t> m_rows;
  std::vector<std::string> m_codelets;
  std::vector<std::size_t> m_first_track;  // by link
  char const* m_separator = "";
};

}  // namespace

void write_chrome_json(Trace const& trace, TextFile& file) { ChromeWriter(trace, file).write(); }

}  // namespace granary
