// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/trace/paje.hpp>

#include <granary/detail/trace/series.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace granary {

using namespace detail;

namespace {

constexpr std::size_t most_speeds = 2000;

// The definitions of the events in the file: numbers and fields.
constexpr std::string_view definitions = R"paje(%EventDef PajeDefineContainerType 1
% Alias string
% ContainerType string
% Name string
%EndEventDef
%EventDef PajeDefineEventType 2
% Alias string
% ContainerType string
% Name string
%EndEventDef
%EventDef PajeDefineStateType 3
% Alias string
% ContainerType string
% Name string
%EndEventDef
%EventDef PajeDefineVariableType 4
% Alias string
% ContainerType string
% Name string
%EndEventDef
%EventDef PajeDefineLinkType 5
% Alias string
% ContainerType string
% SourceContainerType string
% DestContainerType string
% Name string
%EndEventDef
%EventDef PajeDefineEntityValue 6
% Alias string
% EntityType string
% Name string
% Color color
%EndEventDef
%EventDef PajeCreateContainer 7
% Time date
% Alias string
% Type string
% Container string
% Name string
%EndEventDef
%EventDef PajeDestroyContainer 8
% Time date
% Name string
% Type string
%EndEventDef
%EventDef PajeNewEvent 9
% Time date
% Type string
% Container string
% Value string
% Handle string
% Info string
% Size string
% Tid string
%EndEventDef
%EventDef PajeSetState 10
% Time date
% Container string
% Type string
% Value string
%EndEventDef
%EventDef PajeSetVariable 13
% Time date
% Container string
% Type string
% Value double
%EndEventDef
%EventDef PajeStartLink 18
% Time date
% Type string
% Container string
% Value string
% SourceContainer string
% Key string
% Tag string
%EndEventDef
%EventDef PajeEndLink 19
% Time date
% Type string
% Container string
% Value string
% DestContainer string
% Key string
%EndEventDef
%EventDef PajeSetState 20
% Time date
% Container string
% Type string
% Value string
% Size string
% Params string
% Footprint string
% Tag string
% JobId string
% SubmitOrder string
% GFlop string
% X string
% Y string
% Iteration string
% Subiteration string
%EndEventDef
%EventDef PajeSetState 21
% Time date
% Container string
% Type string
% Value string
% Params string
% Size string
%EndEventDef
%EventDef PajeNewEvent 22
% Time date
% Type string
% Container string
% Value string
%EndEventDef
)paje";

// Types of containers, of a run on one process and on several.
constexpr std::string_view one_process = R"paje(1 P 0 "Program"
1 Mn P "Memory Node"
1 T Mn "Thread"
1 W T "Worker"
1 Mm Mn "Memory Manager"
1 Li P "Link"
)paje";
constexpr std::string_view several_processes = R"paje(1 P 0 "Program"
1 Pr P "Process"
1 Mn Pr "Memory Node"
1 T Mn "Thread"
1 W T "Worker"
1 Mm Mn "Memory Manager"
1 Li Pr "Link"
4 bw Pr "Busy workers"
)paje";

// Types of what containers hold.
constexpr std::string_view contents = R"paje(2 Ev Mm "Eviction"
2 No P "Note"
3 WS W "Worker State"
3 LS Li "Link State"
4 use Mm "Used (MB)"
4 bkd Mm "Booked (MB)"
4 bkl Mm "Limit of booked (MB)"
4 gft P "Total GFlop/s"
5 F P Mm Mm "Intra-node data Fetch"
6 I WS "Idle" ".9 .9 .9"
6 S WS "Stopped" ".6 .6 .6"
6 LI LS "Idle" ".9 .9 .9"
6 LF LS "Fetch" ".0 .45 .7"
6 LW LS "WriteBack" ".8 .4 .0"
)paje";

// Colours that colour-blind people can distinguish (Okabe and Ito).
constexpr std::array<std::string_view, 7> colours = {".9 .6 .0",  ".35 .7 .9", ".0 .6 .5", ".95 .9 .25",
                                                     ".0 .45 .7", ".8 .4 .0",  ".8 .6 .7"};

std::string paje_string(std::string text) {
  // A name is a double-quoted string on one line, and the format has no escapes. A comma would split the columns in
  // pj_dump's output.
  std::ranges::replace(text, '"', '\'');
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, ',', ';');
  return '"' + text + '"';
}

class PajeWriter {
 public:
  PajeWriter(Trace const& trace, TextFile& file)
      : m_trace(trace), m_file(file), m_several(trace.processes() > 1), m_rows(transfer_rows(trace)) {}

  void write() {
    m_file.write(definitions);
    m_file.write(m_several ? several_processes : one_process);
    m_file.write(contents);
    for (std::size_t c = 0; c < m_trace.codelets.size(); ++c) {
      m_file.print("6 C{} WS {} \"{}\"\n", c, paje_string(m_trace.codelets[c]), colours[c % colours.size()]);
    }
    containers();
    for (auto const& [name, value] : m_trace.configuration) note(name + ": " + value);
    for (auto const& [name, value] : m_trace.totals) note(fmt::format("{}: {}", name, value));
    if (m_trace.dropped > 0) note(fmt::format("dropped events: {}", m_trace.dropped));
    events();
    m_file.print("8 {} p P\n", time(m_trace.end));
  }

 private:
  enum class What : std::uint8_t {
    TaskEnd,
    TransferEnd,
    TaskBegin,
    TransferBegin,
    Eviction,
    Memory,
    Booked,
    Rate,
    Load
  };
  struct Event {
    Instant when;
    What what;
    std::uint32_t number;
  };

  [[nodiscard]] static std::string time(Instant when) {
    auto const ns = when.time_since_epoch().count();
    return fmt::format("{}.{:06}", ns / 1000000, ns % 1000000);
  }
  // ViTE does not support comments: the run's properties are events at its start.
  void note(std::string const& text) { m_file.print("22 0.000000 No p {}\n", paje_string(text)); }
  void container(std::string const& alias, char const* type, std::string const& parent, std::string const& name) {
    m_file.print("7 0.000000 {} {} {} {}\n", alias, type, parent, paje_string(name));
  }
  [[nodiscard]] static std::string row_alias(LinkId link, std::uint32_t row) {
    return fmt::format("l{}_{}", link.value(), row);
  }

  // The container of a node and of its links.
  [[nodiscard]] std::string process_alias(NodeId node) const {
    return m_several ? fmt::format("pr{}", m_trace.process_of(node)) : "p";
  }

  void containers() {
    auto const& machine = m_trace.machine;
    container("p", "P", "0", "granary");
    for (std::uint32_t p = 0; m_several && p < m_trace.processes(); ++p) {
      container(fmt::format("pr{}", p), "Pr", "p", fmt::format("process {}", p));
    }
    for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
      container(fmt::format("mn{}", n), "Mn", process_alias(NodeId(n)), machine.nodes[n].name);
      container(fmt::format("mm{}", n), "Mm", fmt::format("mn{}", n), machine.nodes[n].name + " memory");
      m_file.print("13 0.000000 mm{} use 0.0\n", n);
    }
    for (std::size_t w = 0; w < machine.workers.size(); ++w) {
      auto const& worker = machine.workers[w];
      container(fmt::format("t{}", w), "T", fmt::format("mn{}", worker.node.value()), worker.name + " thread");
      container(fmt::format("w{}", w), "W", fmt::format("t{}", w), worker.name);
      m_file.print("10 0.000000 w{} WS I\n", w);
    }
    auto const rows = rows_of_links(m_trace, m_rows);
    for (std::uint32_t l = 0; l < rows.size(); ++l) {
      auto const name = link_name(m_trace, LinkId(l));
      for (std::uint32_t row = 0; row < rows[l]; ++row) {
        container(row_alias(LinkId(l), row), "Li", process_alias(m_trace.machine[LinkId(l)].from),
                  row == 0 ? name : fmt::format("{} ({})", name, row + 1));
        m_file.print("10 0.000000 {} LS LI\n", row_alias(LinkId(l), row));
      }
    }
  }

  // Pajé requires events sorted by time. Ends come before begins of the same instant; a task without duration is one
  // event.
  void events() {
    std::vector<Event> events;
    auto const add = [&](What what, auto const& list, auto when, auto suits) {
      for (std::uint32_t n = 0; n < list.size(); ++n) {
        if (suits(list[n])) events.push_back({when(list[n]), what, n});
      }
    };
    auto const always = [](auto const&) { return true; };
    auto const lasts = [](auto const& entry) { return entry.end > entry.begin; };
    auto const begin = [](auto const& entry) { return entry.begin; };
    auto const end = [](auto const& entry) { return entry.end; };
    auto const when = [](auto const& entry) { return entry.when; };
    add(What::TaskBegin, m_trace.tasks, begin, always);
    add(What::TaskEnd, m_trace.tasks, end, lasts);
    add(What::TransferBegin, m_trace.transfers, begin, always);
    add(What::TransferEnd, m_trace.transfers, end, lasts);
    add(What::Eviction, m_trace.evictions, when, always);
    add(What::Memory, m_trace.memory, when, always);
    add(What::Booked, m_trace.booked, when, always);
    m_rates = flops_per_second(m_trace, std::clamp<std::size_t>(m_trace.tasks.size(), 1, most_speeds));
    auto const width = m_trace.end.time_since_epoch() / static_cast<Duration::rep>(m_rates.size());
    for (std::uint32_t part = 0; part < m_rates.size(); ++part) {
      events.push_back({Instant(width * part), What::Rate, part});
    }
    if (m_several) add_loads(events);
    std::ranges::stable_sort(
        events, [](Event const& a, Event const& b) { return a.when != b.when ? a.when < b.when : a.what < b.what; });
    for (auto const& event : events) write(event);
  }

  // The busy workers of each process; an event's number counts processes first, then intervals.
  void add_loads(std::vector<Event>& events) {
    auto const parts = static_cast<std::uint32_t>(intervals_of_loads(m_trace));
    if (parts == 0) return;
    m_loads = busy_workers(m_trace, parts);
    auto const processes = static_cast<std::uint32_t>(m_loads.size());
    auto const width = m_trace.end.time_since_epoch() / static_cast<Duration::rep>(parts);
    for (std::uint32_t number = 0; number < parts * processes; ++number) {
      events.push_back({Instant(width * (number / processes)), What::Load, number});
    }
  }

  void write(Event const& event) {
    auto const at = time(event.when);
    switch (event.what) {
      case What::TaskBegin:
        return begin(m_trace.tasks[event.number], at);
      case What::TaskEnd:
        return end(m_trace.tasks[event.number], at);
      case What::TransferBegin:
        return begin(m_trace.transfers[event.number], event.number, at);
      case What::TransferEnd:
        return end(m_trace.transfers[event.number], event.number, at);
      case What::Eviction:
        return write(m_trace.evictions[event.number], at);
      case What::Memory: {
        auto const& level = m_trace.memory[event.number];
        return m_file.print("13 {} mm{} use {:.6f}\n", at, level.node.value(), static_cast<double>(level.used) * 1e-6);
      }
      case What::Booked: {
        auto const& level = m_trace.booked[event.number];
        if (level.limit < unbounded) {
          m_file.print("13 {} mm{} bkl {:.6f}\n", at, level.node.value(), static_cast<double>(level.limit) * 1e-6);
        }
        return m_file.print("13 {} mm{} bkd {:.6f}\n", at, level.node.value(), static_cast<double>(level.bytes) * 1e-6);
      }
      case What::Rate:
        return m_file.print("13 {} p gft {:.6g}\n", at, m_rates[event.number] * 1e-9);
      case What::Load:
        return m_file.print("13 {} pr{} bw {:.4g}\n", at, event.number % m_loads.size(),
                            m_loads[event.number % m_loads.size()][event.number / m_loads.size()]);
    }
  }

  void begin(TraceTask const& task, std::string const& at) {
    TraceData const none;
    auto const& data = task.data == TraceTask::no_data ? none : m_trace.data[task.data];
    auto const state = task.stopped ? "S" : fmt::format("C{}", task.codelet.value());
    m_file.print("20 {} w{} WS {} {} {} 0 0 {} {} {:.9g} {} {} {} -1\n", at, task.worker.value(), state, data.bytes,
                 paje_string(data.name), task.task.value(), task.task.value(), task.flops * 1e-9, data.position.column,
                 data.position.row, task.index[2]);
    if (task.end == task.begin) end(task, at);
  }
  void end(TraceTask const& task, std::string const& at) { m_file.print("10 {} w{} WS I\n", at, task.worker.value()); }

  void begin(TraceTransfer const& transfer, std::uint32_t number, std::string const& at) {
    auto const name = paje_string(transfer.data == TraceTask::no_data ? "" : m_trace.data[transfer.data].name);
    auto const& link = m_trace.machine[transfer.link];
    m_file.print("21 {} {} LS {} {} {}\n", at, row_alias(transfer.link, m_rows[number]),
                 transfer.why == TraceTransfer::Why::Fetch ? "LF" : "LW", name, transfer.bytes);
    m_file.print("18 {} F p {} mm{} k{} {}\n", at, transfer.bytes, link.from.value(), number, name);
    if (transfer.end == transfer.begin) end(transfer, number, at);
  }
  void end(TraceTransfer const& transfer, std::uint32_t number, std::string const& at) {
    m_file.print("19 {} F p {} mm{} k{}\n", at, transfer.bytes, m_trace.machine[transfer.link].to.value(), number);
    m_file.print("10 {} {} LS LI\n", at, row_alias(transfer.link, m_rows[number]));
  }

  void write(TraceEviction const& eviction, std::string const& at) {
    auto const name = paje_string(eviction.data == TraceTask::no_data ? "" : m_trace.data[eviction.data].name);
    m_file.print("9 {} Ev mm{} {} {} {} {} 0\n", at, eviction.node.value(), name_of(eviction.reason), name,
                 eviction.written_back ? 1 : 0, eviction.bytes);
  }

  Trace const& m_trace;
  TextFile& m_file;
  bool m_several;  // processes
  std::vector<std::uint32_t> m_rows;
  std::vector<double> m_rates;
  std::vector<std::vector<double>> m_loads;  // of each process, if there are several
};

}  // namespace

void write_paje(Trace const& trace, TextFile& file) { PajeWriter(trace, file).write(); }

}  // namespace granary
