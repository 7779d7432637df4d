// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include "apps/cli_test.hpp"

namespace granary {

namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Sets an environment variable for the programs that run while it lives.
class Variable {
 public:
  Variable(std::string name, std::string const& value) : m_name(std::move(name)) {
    ::setenv(m_name.c_str(), value.c_str(), 1);
  }
  Variable(Variable const&) = delete;
  Variable& operator=(Variable const&) = delete;
  ~Variable() { ::unsetenv(m_name.c_str()); }

 private:
  std::string m_name;
};

class TraceCli : public testing::CliTest {
 protected:
  TraceCli() : CliTest("granary-cholesky") {}

  // Number of events of each category.
  [[nodiscard]] std::map<std::string, std::size_t> count(std::string const& name) const {
    std::map<std::string, std::size_t> counts;
    auto const trace = read_json(name);
    for (auto const& event : trace.at("traceEvents")) ++counts[event.value("cat", "")];
    return counts;
  }
  [[nodiscard]] std::vector<std::string> lines(std::string const& name) const {
    std::ifstream stream(file(name));
    std::vector<std::string> all;
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
  }
};

TEST_F(TraceCli, WritesTasksWithTheirPlacesAndTheSummary) {
  auto const result = run({"random:200", "--tile", "40", "--memory", "100KiB", "--workers", "2", "--trace", "t.json",
                           "--json", "out.json", "--quiet"});
  ASSERT_EQ(result.status, 0) << result.err;
  auto const trace = read_json("t.json");
  auto const summary = read_json("out.json");
  auto const counts = count("t.json");
  EXPECT_EQ(counts.at("task"), summary.at("tasks"));
  EXPECT_GT(counts.at("transfer"), 15U);
  EXPECT_GT(counts.at("eviction"), 0U);
  auto const& notes = trace.at("otherData");
  EXPECT_THAT(notes.at("program").get<std::string>(), StartsWith("granary-cholesky "));
  EXPECT_EQ(notes.at("scheduler"), summary.at("scheduler"));
  EXPECT_EQ(notes.at("seconds"), summary.at("seconds"));
  EXPECT_FALSE(notes.contains("least bytes read")) << "the matrix is generated";
  std::set<std::array<int, 3>> updates;
  for (auto const& event : trace.at("traceEvents")) {
    if (event.value("cat", "") != "task") continue;
    auto const& args = event.at("args");
    EXPECT_EQ(args.at("i"), args.at("row"));
    EXPECT_EQ(args.at("j"), args.at("column"));
    if (event.at("name") == "gemm") updates.insert(std::array<int, 3>{args.at("i"), args.at("j"), args.at("k")});
  }
  EXPECT_EQ(updates.size(), 10U) << "5 x 4 x 3 / 6 products, each at a place of its own";
}

TEST_F(TraceCli, ShowsEveryDevice) {
  auto const result = run({"random:200", "--tile", "40", "--workers", "0", "--devices", "host:2", "--device-memory",
                           "100KiB", "--trace", "t.json", "--quiet"});
  ASSERT_EQ(result.status, 0) << result.err;
  std::set<int> tracks;
  auto const trace = read_json("t.json");
  double busy = 0;
  for (auto const& event : trace.at("traceEvents")) {
    if (event.value("cat", "") != "task") continue;
    tracks.insert(event.at("tid").get<int>());
    busy += event.at("dur").get<double>() * 1e-6;
  }
  EXPECT_EQ(tracks.size(), 2U);

  auto const& notes = trace.at("otherData");
  EXPECT_NEAR(notes.at("area seconds"), busy / 2, 1e-3 * busy) << "both devices take any task";
  EXPECT_GE(notes.at("least seconds at measured speed"), notes.at("critical path seconds"));
  EXPECT_GE(notes.at("least seconds at measured speed"), notes.at("area seconds"));
  double into = 0;
  for (auto const* name : {"device 0", "device 1"}) {
    into += notes.at("least bytes loaded into " + std::string(name)).get<double>();
  }
  double const io_bound = 200.0 * 200 * 200 / (3 * std::sqrt(2 * 100 * 1024 / 8)) * 8;
  EXPECT_NEAR(into, io_bound, 1e-3 * io_bound);
  EXPECT_EQ(notes.at("least bytes loaded"), std::max(into, 200.0 * 201 / 2 * 8));
}

TEST_F(TraceCli, BoundsTheLoadsOfDevicesByWhatTheyDid) {
  auto const result = run({"random:200", "--tile", "40", "--workers", "1", "--devices", "host:1", "--device-memory",
                           "100KiB", "--trace", "t.json", "--quiet"});
  ASSERT_EQ(result.status, 0) << result.err;
  double flops = 0, on_device = 0;
  auto const trace = read_json("t.json");
  std::map<std::pair<int, int>, std::string> names;
  for (auto const& event : trace.at("traceEvents")) {
    if (event.at("name") != "thread_name") continue;
    names[{event.at("pid"), event.at("tid")}] = event.at("args").at("name");
  }
  for (auto const& event : trace.at("traceEvents")) {
    if (event.value("cat", "") != "task") continue;
    auto const of_task = event.at("args").value("flops", 0.0);
    flops += of_task;
    if (names.at({event.at("pid"), event.at("tid")}).starts_with("device")) on_device += of_task;
  }
  ASSERT_GT(flops, 0);
  double const io_bound = 200.0 * 200 * 200 / (3 * std::sqrt(2 * 100 * 1024 / 8)) * 8;
  EXPECT_NEAR(trace.at("otherData").value("least bytes loaded into device 0", 0.0), io_bound * on_device / flops,
              1e-3 * io_bound);
}

TEST_F(TraceCli, KeepsWhatHappenedBeforeAFailure) {
  if (!have_h5py()) GTEST_SKIP() << "no h5py";
  python("a = np.eye(200)\na[150, 150] = -1\nnp.save('A.npy', a)");
  auto const result = run({"A.npy", "--tile", "40", "--trace", "t.json", "--quiet"});
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_GE(count("t.json")["task"], 4U);
}

TEST_F(TraceCli, SaysWhatItDidNotRecord) {
  auto const result = run({"random:200", "--tile", "40", "--trace", "t.json", "--trace-events", "20"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err + result.out, HasSubstr("events were not recorded: the limit is 20 (--trace-events)"));
  EXPECT_GT(read_json("t.json").at("otherData").at("dropped events"), 0);
}

TEST_F(TraceCli, RefusesWhatItCouldNotWrite) {
  expect_refused({"random:200", "--trace", "t.txt"}, 2, "the trace file 't.txt' has no known ending: .json");
  expect_refused({"random:200", "--trace", "absent/t.json"}, 2, "absent/t.json");
  expect_refused({"random:200", "--trace", "t.json", "--json", "t.json"}, 2,
                 "a trace, a report or a schedule cannot be written to t.json");
  for (auto const* name : {"t.html", "./t.html"}) {
    expect_refused(
        {"random:200", "--trace", "t.html", "--report", name}, 2,
        std::string("a trace, a report or a schedule cannot be written to ") + name + ", which is another output");
  }
  expect_refused({"random:200", "--json", "t.html", "--report", "t.html"}, 2,
                 "a trace, a report or a schedule cannot be written to t.html, which is another output");
  expect_refused({"random:200", "--trace-events", "0"}, 2, "--trace-events");
}

TEST_F(TraceCli, TheLibraryWritesWhereTheEnvironmentSays) {
  {
    Variable const variable("GRANARY_TRACE", file("e.json"));
    ASSERT_EQ(run({"random:100", "--tile", "50", "--quiet"}).status, 0);
  }
  EXPECT_EQ(count("e.json").at("task"), 4U);
  Variable const variable("GRANARY_TRACE", "e.txt");
  expect_refused({"random:100"}, 2, "'e.txt' has no known ending");
}

TEST_F(TraceCli, KokkosToolsSeeTasksTransfersAndTheConfiguration) {
  {
    // Kokkos reads the first since 3.7, the second before.
    Variable const tools("KOKKOS_TOOLS_LIBS", GRANARY_TEST_TOOL);
    Variable const library("KOKKOS_PROFILE_LIBRARY", GRANARY_TEST_TOOL);
    Variable const log("TOOL_LOG", file("calls"));
    auto const result =
        run({"random:200", "--tile", "40", "--memory", "100KiB", "--workers", "1", "--quiet", "--json", "out.json"});
    ASSERT_EQ(result.status, 0) << result.err;
  }
  auto const calls = lines("calls");
  auto const starting = [&](std::string const& part) {
    return std::ranges::count_if(calls, [&](auto const& call) { return call.starts_with(part); });
  };
  EXPECT_EQ(starting("push granary::"), read_json("out.json").at("tasks"));
  EXPECT_EQ(starting("push "), starting("pop")) << "others push regions, too";
  EXPECT_EQ(starting("push granary::potrf"), 5);
  EXPECT_THAT(calls, Contains("granary scheduler=auto"));
  EXPECT_THAT(calls, Contains("granary memory limit=102400"));
  EXPECT_THAT(calls, Contains(HasSubstr("granary::disk -> host")));
  for (auto const* call : {"start ", "stop ", "destroy "}) EXPECT_EQ(starting("create "), starting(call)) << call;
  EXPECT_GT(starting("create "), 0);
}

class TraceOfSolve : public testing::CliTest {
 protected:
  TraceOfSolve() : CliTest("granary-solve") {}
};

TEST_F(TraceOfSolve, BoundsTheTimeWhereTheTasksAreKnownBeforehand) {
  auto const notes = [&](std::string const& option) {
    auto const result = run({"general:200", "general:200x40", "--tile", "40", "--workers", "0", "--devices", "host:1",
                             option, "--trace", "t.json", "--quiet"});
    EXPECT_EQ(result.status, 0) << result.err;
    return read_json("t.json").at("otherData");
  };
  auto const direct = notes("--left-looking");
  EXPECT_GE(direct.at("least seconds at measured speed"), direct.at("critical path seconds"));
  EXPECT_EQ(direct.at("least bytes loaded"), (200 * 200 + 200 * 40) * 8.0);
  EXPECT_FALSE(notes("--mixed").contains("least seconds at measured speed"));
}

class TraceOfSimulation : public testing::CliTest {
 protected:
  TraceOfSimulation() : CliTest("granary-simulate") {}
};

TEST_F(TraceOfSimulation, IsThatOfItsSummary) {
  auto const result = run({"--platform", "sirocco", "--cpus", "0", "--tiles", "8", "--memory", "0.3", "--algorithm",
                           "gemm", "--trace", "t.json", "--json", "out.json"});
  ASSERT_EQ(result.status, 0) << result.err;
  auto const summary = read_json("out.json").at(0);
  std::map<std::string, std::uint64_t> counts;
  double bytes = 0, end = 0;
  auto const trace = read_json("t.json");
  for (auto const& event : trace.at("traceEvents")) {
    ++counts[event.value("cat", "")];
    if (event.value("cat", "") == "transfer") bytes += event.at("args").at("bytes").get<double>();
    if (event.contains("dur")) end = std::max(end, event.at("ts").get<double>() + event.at("dur").get<double>());
  }
  EXPECT_EQ(counts["task"], summary.at("tasks"));
  EXPECT_EQ(counts["eviction"], summary.at("evictions"));
  EXPECT_EQ(bytes, summary.at("bytes_total"));
  EXPECT_NEAR(end * 1e-6, summary.at("seconds").get<double>(), 1e-8);
  EXPECT_NEAR(trace.at("otherData").at("seconds"), summary.at("seconds").get<double>(), 1e-8);
}

TEST_F(TraceOfSimulation, IsThatOfOneRun) {
  expect_refused({"--platform", "sirocco", "--trace", "t.json", "--tiles", "4,8"}, 2, "but 2 were requested");
  expect_refused({"--platform", "sirocco", "--trace", "t.csv", "--tiles", "4"}, 2, "'t.csv' has no known ending");
  expect_refused({"--platform", "sirocco", "--trace", "t.html", "--report", "./t.html", "--tiles", "4"}, 2,
                 "two outputs cannot both be written to ./t.html");
}

}  // namespace
}  // namespace granary
