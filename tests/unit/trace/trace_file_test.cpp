// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/trace/process_traces.hpp>
#include <granary/detail/trace/series.hpp>
#include <granary/detail/trace/trace_file.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <sstream>

namespace granary::trace_file_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

detail::Instant at(std::int64_t ns) { return detail::Instant(Duration(ns)); }

// Two tasks on two workers, two transfers that overlap on one link, an eviction, and names that need escaping.
Trace small_trace() {
  Trace trace;
  auto& machine = trace.machine;
  auto const host = machine.add_node({.name = "host"});
  auto const device = machine.add_node({.name = "device \"0\"", .kind = detail::NodeKind::Device, .capacity = 1000});
  machine.add_link_pair(host, device, 1e9, Duration(0), 2);
  machine.add_worker({.name = "cpu", .node = host});
  machine.add_worker({.name = "lane", .node = device, .kind = detail::WorkerKind::Device});
  trace.codelets = {"gemm", "odd \"name\"\n"};
  trace.data = {{"A(2, 1)", 400, {2, 1}}, {"x", 8, {}}};
  trace.tasks = {
      {TaskId(0), detail::CodeletId(0), detail::WorkerId(1), 0, {2, 1, 0}, at(500), at(1000), at(3001), 4000, false},
      {TaskId(1), detail::CodeletId(1), detail::WorkerId(0), detail::TraceTask::no_data, detail::no_index, at(0),
       at(4000), at(4000), 0, true}};
  trace.transfers = {{0, detail::LinkId(0), 400, at(0), at(900), detail::TraceTransfer::Why::Fetch, false},
                     {1, detail::LinkId(0), 8, at(100), at(950), detail::TraceTransfer::Why::WriteBack, true}};
  trace.evictions = {{0, device, 400, at(3500), detail::EvictionReason::Fragments, true}};
  trace.memory = {{at(0), device, 408}, {at(3500), device, 8}};
  trace.booked = {{at(0), host, 30, 100}, {at(4000), host, 40}};
  trace.configuration = {{"scheduler", "darts"}};
  trace.totals = {{"seconds", 5e-6}};
  trace.end = at(5000);
  trace.dropped = 3;
  return trace;
}

class TraceFile : public ::testing::Test {
 protected:
  TraceFile() : m_directory(std::filesystem::temp_directory_path() / ("granary-trace-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(m_directory);
  }
  ~TraceFile() override { std::filesystem::remove_all(m_directory); }
  [[nodiscard]] std::string file(std::string const& name) const { return (m_directory / name).string(); }
  [[nodiscard]] std::string written(Trace const& trace, std::string const& name) const {
    write_trace(trace, file(name));
    std::stringstream text;
    text << std::ifstream(file(name)).rdbuf();
    return text.str();
  }

 private:
  std::filesystem::path m_directory;
};

// Events of a kind, in the order of the file.
std::vector<nlohmann::json> of_kind(nlohmann::json const& file, std::string const& phase, std::string const& category) {
  std::vector<nlohmann::json> events;
  for (auto const& event : file.at("traceEvents")) {
    if (event.at("ph") == phase && event.value("cat", "") == category) events.push_back(event);
  }
  return events;
}

TEST_F(TraceFile, ChromeHasTasksTransfersEvictionsAndCounters) {
  auto const json = nlohmann::json::parse(written(small_trace(), "t.json"));
  EXPECT_EQ(json.at("otherData").at("scheduler"), "darts");
  EXPECT_EQ(json.at("otherData").at("seconds"), 5e-6);
  EXPECT_EQ(json.at("otherData").at("dropped events"), 3);

  auto const tasks = of_kind(json, "X", "task");
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0].at("name"), "gemm");
  EXPECT_EQ(tasks[0].at("ts"), 1.0);
  EXPECT_EQ(tasks[0].at("dur"), 2.001);
  auto const& args = tasks[0].at("args");
  EXPECT_EQ(args.at("i"), 2);
  EXPECT_EQ(args.at("j"), 1);
  EXPECT_EQ(args.at("k"), 0);
  EXPECT_EQ(args.at("data"), "A(2, 1)");
  EXPECT_EQ(args.at("row"), 2);
  EXPECT_EQ(args.at("flops"), 4000);
  EXPECT_EQ(tasks[1].at("name"), "odd \"name\"\n");
  EXPECT_EQ(tasks[1].at("args").at("data"), nullptr);
  EXPECT_EQ(tasks[1].at("args").at("failed"), true);

  EXPECT_EQ(tasks[0].at("args").at("stopped"), false);

  auto const transfers = of_kind(json, "X", "transfer");
  ASSERT_EQ(transfers.size(), 2U);
  EXPECT_EQ(transfers[0].at("args").at("bytes"), 400);
  EXPECT_EQ(transfers[0].at("args").at("why"), "fetch");
  EXPECT_EQ(transfers[1].at("args").at("why"), "write-back");
  EXPECT_NE(transfers[0].at("tid"), transfers[1].at("tid")) << "they overlap";

  auto const evictions = of_kind(json, "i", "eviction");
  ASSERT_EQ(evictions.size(), 1U);
  EXPECT_EQ(evictions[0].at("args").at("reason"), "fragments");
  EXPECT_EQ(evictions[0].at("args").at("written back"), true);

  double flops = 0;
  std::vector<std::uint64_t> levels, booked;
  for (auto const& counter : of_kind(json, "C", "")) {
    auto const& values = counter.at("args");
    auto const name = counter.at("name").get<std::string>();
    if (name.starts_with("bytes in ")) levels.push_back(values.at("bytes"));
    if (name == "bytes booked" || name == "limit of booked bytes") booked.push_back(values.at("bytes"));
    if (values.contains("GFlop/s")) flops += values.at("GFlop/s").get<double>() * 2500;  // two parts of 2500 ns
  }
  EXPECT_THAT(levels, ElementsAre(408, 8));
  EXPECT_THAT(booked, ElementsAre(30, 100, 40)) << "the second has no limit";
  EXPECT_NEAR(flops, 4000, 1e-2);
}

TEST_F(TraceFile, ChromeNamesEveryTrackThatIsUsed) {
  auto const json = nlohmann::json::parse(written(small_trace(), "t.json"));
  std::vector<std::pair<int, int>> named;
  std::vector<std::string> names;
  for (auto const& event : of_kind(json, "M", "")) {
    named.emplace_back(event.at("pid"), event.at("tid"));
    names.push_back(event.at("args").at("name"));
  }
  EXPECT_THAT(names, ::testing::IsSupersetOf({"cpu", "lane", "host -> device \"0\"", "host -> device \"0\" (2)"}));
  for (auto const& event : json.at("traceEvents")) {
    std::pair<int, int> const track(event.at("pid"), event.at("tid"));
    EXPECT_EQ(std::ranges::count(named, track), 1) << event;
  }
}

TEST_F(TraceFile, ChromeHasAGroupOfTracksAndALoadForEachProcess) {
  auto const trace = trace_of_processes({small_trace(), small_trace()});
  auto const json = nlohmann::json::parse(written(trace, "t.json"));
  std::map<std::pair<int, int>, std::vector<std::string>> names;  // by track
  std::map<int, int> positions;
  for (auto const& event : of_kind(json, "M", "")) {
    if (event.at("name") == "process_sort_index") {
      positions[event.at("pid")] = event.at("args").at("sort_index");
    } else {
      names[{event.at("pid"), event.at("tid")}].push_back(event.at("args").at("name"));
    }
  }
  EXPECT_THAT((names[{1, 0}]), ElementsAre("load of the processes"));
  EXPECT_THAT((names[{2, 0}]), ElementsAre("process 0"));
  EXPECT_THAT((names[{3, 0}]), ElementsAre("process 1"));
  EXPECT_THAT(positions, ElementsAre(std::pair(1, 0), std::pair(2, 1), std::pair(3, 2)));
  std::vector<std::string> of_first, of_second;
  for (auto const& [track, of_track] : names) {
    EXPECT_EQ(of_track.size(), 1U) << track.first << " " << track.second;
    if (track.first > 1) (track.first == 2 ? of_first : of_second).push_back(of_track.front());
  }
  EXPECT_THAT(of_first,
              ElementsAre("process 0", "0: cpu", "0: lane", "evictions on 0: host", "evictions on 0: device \"0\"",
                          "0: host -> device \"0\"", "0: host -> device \"0\" (2)"));
  EXPECT_EQ(of_second.size(), of_first.size());
  std::map<std::string, double> loads;
  for (auto const& event : json.at("traceEvents")) {
    EXPECT_TRUE(names.contains({event.at("pid"), event.at("tid")})) << event;
    auto const& args = event.at("args");
    if (args.contains("workers")) loads[event.at("name")] += args.at("workers").get<double>() / 4;  // of four parts
    if (args.contains("task")) {
      EXPECT_THAT(names.at({event.at("pid"), event.at("tid")}).front(),
                  ::testing::StartsWith(event.at("pid") == 2 ? "0: " : "1: "));
    }
  }
  ASSERT_EQ(loads.size(), 2U);
  EXPECT_NEAR(loads.at("process 1: busy workers"), 2001.0 / 5000, 1e-3);
  EXPECT_EQ(of_kind(json, "X", "task").size(), 4U);
}

TEST_F(TraceFile, ARunOnOneProcessHasNoContainersForProcesses) {
  EXPECT_THAT(written(small_trace(), "t.json"), ::testing::Not(HasSubstr("process_sort_index")));
  EXPECT_EQ(written(trace_of_processes({small_trace()}), "t.json"), written(small_trace(), "u.json"));
}

TEST_F(TraceFile, ARunInWhichNothingHappenedIsValidJson) {
  EXPECT_TRUE(nlohmann::json::parse(written(Trace{}, "t.json")).at("traceEvents").is_array());
}

TEST_F(TraceFile, RefusesOtherEndingsAndDirectories) {
  for (auto const* name : {"t.txt", "t", "json", "t.json.gz", "t.paje"}) {
    try {
      write_trace(small_trace(), file(name));
      ADD_FAILURE() << name;
    } catch (InvalidArgument const& error) {
      EXPECT_THAT(error.what(), HasSubstr(name));
      EXPECT_THAT(error.what(), HasSubstr(".json (Perfetto, Chrome), .html (a report)"));
    }
    EXPECT_FALSE(std::filesystem::exists(file(name)));
  }
  EXPECT_THROW(check_trace_file(file("absent/t.json")), InvalidArgument);
  EXPECT_THROW(write_trace(small_trace(), file("absent/t.json")), InvalidArgument);
  EXPECT_NO_THROW(check_trace_file(file("t.json")));
}

TEST_F(TraceFile, SaysThatTheDiskIsFull) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  std::filesystem::create_symlink("/dev/full", file("t.json"));
  EXPECT_THROW(write_trace(small_trace(), file("t.json")), IoError);
}

TEST(TraceSeries, RowsOfALinkDoNotOverlapAndAreAsFewAsCanBe) {
  Trace trace;
  trace.machine = small_trace().machine;
  auto const add = [&](std::uint32_t link, std::int64_t begin, std::int64_t end) {
    trace.transfers.push_back(
        {0, detail::LinkId(link), 1, at(begin), at(end), detail::TraceTransfer::Why::Fetch, false});
  };
  add(0, 10, 20);
  add(0, 0, 30);
  add(1, 0, 30);
  add(0, 20, 40);
  add(0, 30, 40);
  EXPECT_THAT(transfer_rows(trace), ElementsAre(1, 0, 0, 1, 0));
  EXPECT_THAT(rows_of_links(trace, transfer_rows(trace)), ElementsAre(2, 1));
}

TEST(TraceSeries, RatesAddUpToTheOperations) {
  auto const trace = small_trace();
  for (std::size_t const count : {std::size_t{1}, std::size_t{7}, std::size_t{5000}}) {
    auto const rates = flops_per_second(trace, count);
    EXPECT_NEAR(std::accumulate(rates.begin(), rates.end(), 0.0) * 5e-6 / static_cast<double>(count), 4000, 1e-6);
  }
  EXPECT_THAT(flops_per_second(trace, 5),
              ElementsAre(0, ::testing::Gt(1.9e9), ::testing::Gt(1.9e9), ::testing::Lt(1e7), 0));
}

TEST_F(TraceFile, MarksRunsThatWereStopped) {
  auto trace = small_trace();
  trace.tasks[0].stopped = true;
  auto const json = nlohmann::json::parse(written(trace, "t.json"));
  EXPECT_EQ(of_kind(json, "X", "task")[0].at("args").at("stopped"), true);
}

}  // namespace
}  // namespace granary::trace_file_test
