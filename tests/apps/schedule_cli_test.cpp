// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/schedules/schedule.hpp>
#include <granary/detail/schedules/search/constraints/constraint_search.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>

#include "apps/cli_test.hpp"

namespace granary {

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ScheduleCli : public testing::CliTest {
 protected:
  ScheduleCli() : CliTest("granary-schedule") {}

  // A small problem with additional arguments.
  static std::vector<std::string> small(std::vector<std::string> const& more) {
    std::vector<std::string> arguments{"--platform", "static2016", "--tiles", "4"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  // The same from heftp's schedule, by 200 evaluations.
  static std::vector<std::string> short_search(std::vector<std::string> const& more) {
    auto arguments = small({"--start", "heftp", "--evaluations", "200"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  [[nodiscard]] std::string text(std::string const& name) const {
    std::ifstream stream(file(name));
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void write(std::string const& name, std::string const& content) const { std::ofstream(file(name)) << content; }
  // The seconds that are printed on the line that starts with `what`.
  static double seconds_of(std::string const& output, std::string const& what) {
    std::smatch found;
    if (!std::regex_search(output, found, std::regex(what + ".* ([0-9.]+) s"))) return -1;
    return std::stod(found[1]);
  }
};

TEST_F(ScheduleCli, WritesAScheduleThatReadScheduleReads) {
  auto const result = run(short_search({"--output", "s.json"}));
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, StartsWith("cholesky on static2016, single precision, 20 tasks\n"));
  auto const schedule = read_schedule(file("s.json"));
  EXPECT_EQ(schedule.tasks.size(), 20U);
  EXPECT_EQ(schedule.workers.size(), 12U);
  double const first = seconds_of(result.out, "first: heftp");
  double const best = seconds_of(result.out, "best of 200 schedules");
  EXPECT_NEAR(best, seconds(schedule.makespan), 1e-4);
  EXPECT_GT(best, 0);
  EXPECT_LE(best, first);
  // The bounds, of which the last is the best.
  EXPECT_LE(seconds_of(result.out, "bound by the area"), seconds_of(result.out, "bound by both"));
  EXPECT_LE(seconds_of(result.out, "bound by the critical path"), seconds_of(result.out, "bound by both"));
  EXPECT_LE(seconds_of(result.out, "bound by both"), best);
}

TEST_F(ScheduleCli, EvaluationsAndASeedAreRepeatable) {
  for (auto const* name : {"a.json", "b.json"})
    ASSERT_EQ(run(short_search({"--seed", "5", "--output", name})).status, 0);
  EXPECT_EQ(text("a.json"), text("b.json"));
}

TEST_F(ScheduleCli, IsNeverWorseThanTheFirstSchedule) {
  for (auto const* start : {"heft", "heftp", "eager", "dmdas"}) {
    for (auto const* platform : {"static2016", "mirage"}) {
      auto const result = run({"--platform", platform, "--tiles", "5", "--start", start, "--evaluations", "3",
                               "--output", "s.json", "--force"});
      ASSERT_EQ(result.status, 0) << result.err;
      double const best = seconds_of(result.out, "best of [0-9]+ schedules");
      EXPECT_GT(best, 0) << result.out;
      EXPECT_LE(best, seconds_of(result.out, std::string("first: ") + start)) << platform;
    }
  }
}

TEST_F(ScheduleCli, ALongerSearchIsBetterThanHeftp) {
  auto const result = run(
      {"--platform", "static2016", "--tiles", "8", "--start", "heftp", "--evaluations", "5000", "--output", "s.json"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_LT(seconds_of(result.out, "best of 5000 schedules"), seconds_of(result.out, "first: heftp"));
}

TEST_F(ScheduleCli, WritesSchedulesOfTasksThatWorkersShare) {
  for (auto const* tiles : {"4", "6"}) {
    auto const result = run({"--platform", "bunsen", "--precision", "d", "--tiles", tiles, "--inner-tile", "240",
                             "--start", "prio", "--evaluations", "50", "--output", "s.json", "--force"});
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_NEAR(seconds_of(result.out, "best of [0-9]+ schedules"), seconds(read_schedule(file("s.json")).makespan),
                1e-4);
    EXPECT_EQ(result.out.find("bound"), std::string::npos) << "shared tasks may end earlier";
  }
}

TEST_F(ScheduleCli, FractionsOfTheWorkingSetLimitTheMemory) {
  std::vector<double> best;
  for (auto const* memory : {"0.1", "2"}) {
    auto const result = run({"--platform", "mirage", "--tiles", "8", "--memory", memory, "--start", "heftp",
                             "--evaluations", "3", "--output", "s.json", "--force"});
    ASSERT_EQ(result.status, 0) << result.err;
    best.push_back(seconds_of(result.out, "best of [0-9]+ schedules"));
  }
  EXPECT_GT(best[0], 1.5 * best[1]);
}

TEST_F(ScheduleCli, PrintsOnlyTheScheduleToStandardOutput) {
  auto const result = run(short_search({"--output", "-"}));
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(parse_schedule(result.out, "stdout").tasks.size(), 20U);
  EXPECT_TRUE(m_directory.files().empty());
  ASSERT_EQ(run(short_search({"--output", "s.json"})).status, 0);
  EXPECT_EQ(result.out, text("s.json"));
}

TEST_F(ScheduleCli, TakesAGraphAndLimitsOfWorkersAndMemory) {
  write("g.json", R"({"codelets": [{"name": "gemm", "kinds": ["cpu", "device"]}], "data": [{"name": "x", "bytes": 8}],
    "tasks": [{"codelet": "gemm", "flops": 1e9, "accesses": [{"data": "x", "mode": "read-write"}]},
              {"codelet": "gemm", "flops": 1e9, "accesses": [{"data": "x", "mode": "read-write"}]}]})");
  auto const result = run({"--platform", "sirocco", "--graph", "g.json", "--gpus", "2", "--cpus", "1", "--memory",
                           "64MiB", "--start", "eager", "--evaluations", "20", "--output", "s.json"});
  ASSERT_EQ(result.status, 0) << result.err;
  auto const schedule = read_schedule(file("s.json"));
  EXPECT_EQ(schedule.tasks.size(), 2U);
  EXPECT_EQ(schedule.workers.size(), 3U);
}

TEST_F(ScheduleCli, ReplacesAFileOnlyIfTold) {
  write("s.json", "mine");
  expect_refused(short_search({"--output", "s.json"}), 2, "the output s.json exists; --force replaces it");
  EXPECT_EQ(text("s.json"), "mine");
  ASSERT_EQ(run(short_search({"--output", "s.json", "--force"})).status, 0);
  EXPECT_EQ(read_schedule(file("s.json")).tasks.size(), 20U);
}

TEST_F(ScheduleCli, RefusesWrongArguments) {
  expect_refused({"--output", "s.json"}, 2, "--platform is required");
  expect_refused(small({"--start", "heftp"}), 2, "--output is required");
  expect_refused({"--platform", "nowhere", "--output", "s.json", "--start", "heftp"}, 2, "nowhere");
  expect_refused(small({"--start", "heftp", "--output", "s.json", "--time", "1", "--evaluations", "5"}), 2,
                 "give either --time or --evaluations");
  for (auto const* time : {"0", "-1", "nan", "2e7"})
    expect_refused(small({"--start", "heftp", "--output", "s.json", "--time", time}), 2, "--time");
  for (auto const* count : {"0", "-1", "1.5", "many"})
    expect_refused(small({"--start", "heftp", "--output", "s.json", "--evaluations", count}), 2, "--evaluations");
  expect_refused(short_search({"--output", "s.json", "--seed", "-1"}), 2, "--seed");
  expect_refused(small({"--output", "s.json", "--start", "hefty"}), 2, "unknown scheduler 'hefty'");
  expect_refused(small({"--output", "s.json", "--start", "heftp,"}), 2, "a name is empty");
  expect_refused(short_search({"--output", "s.json", "--memory", "1,2"}), 2,
                 "--memory '1,2' is a list; one value is needed");
  expect_refused(short_search({"--output", "s.json", "--tiles", "0"}), 2, "--tiles");
  expect_refused(short_search({"--output", "s.json", "--cpus", "0", "--gpus", "0"}), 2, "worker");
  expect_refused(short_search({"--output", "nowhere/s.json"}), 2, "nowhere");
  expect_refused(short_search({"--output", "s.json", "--algorithm", "qr"}), 2, "qr");
  expect_refused(short_search({"--output", "s.json", "--frobnicate"}), 2, "--frobnicate");
}

TEST_F(ScheduleCli, RefusesWrongGraphs) {
  expect_refused(short_search({"--graph", "missing.json", "--output", "s.json"}), 2, "missing.json");
  write("g.json", R"({"codelets": [], "data": [], "tasks": []})");
  expect_refused(short_search({"--graph", "g.json", "--output", "s.json"}), 2, "task");
  expect_refused(short_search({"--graph", "g.json", "--output", "g.json", "--force"}), 2,
                 "the output g.json is the input graph");
}

TEST_F(ScheduleCli, ImprovesAScheduleThatItIsGiven) {
  ASSERT_EQ(run(short_search({"--output", "s.json"})).status, 0);
  auto const before = read_schedule(file("s.json")).makespan;
  // The input may be the output. eager's schedule is worse.
  auto const result = run(
      small({"--start", "eager", "--evaluations", "200", "--seed", "9", "--resume", "s.json", "--output", "s.json"}));
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("first: s.json"));
  EXPECT_LE(read_schedule(file("s.json")).makespan, before);
  auto const other = [](std::string const& name) {
    return std::vector<std::string>{"--platform",    "static2016", "--tiles",  "5",  "--start",  "eager",
                                    "--evaluations", "5",          "--resume", name, "--output", "t.json"};
  };
  auto const refused = run(other("s.json"));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, AllOf(StartsWith("granary-schedule: "), HasSubstr("s.json")));
  EXPECT_THAT(refused.out, Not(HasSubstr("first:")));
  write("broken.json", "{");
  for (auto const* name : {"missing.json", "broken.json"}) {
    auto const broken = run(other(name));
    EXPECT_NE(broken.status, 0);
    EXPECT_THAT(broken.err, AllOf(StartsWith("granary-schedule: "), HasSubstr(name)));
  }
}

TEST_F(ScheduleCli, RefusesWrongMethods) {
  expect_refused(short_search({"--output", "s.json", "--method", "luck"}), 2,
                 "unknown method 'luck': use anneal or gecode");
  if (!have_constraint_search()) {
    expect_refused(small({"--output", "s.json", "--method", "gecode"}), 2,
                   "--method gecode: granary was built without Gecode");
    return;
  }
  expect_refused(short_search({"--output", "s.json", "--method", "gecode"}), 2, "--start is for --method anneal");
  expect_refused(small({"--output", "s.json", "--method", "gecode", "--seed", "1"}), 2,
                 "--seed is for --method anneal");
  expect_refused(small({"--output", "-", "--method", "gecode", "--evaluations", "5"}), 1,
                 "Gecode found no schedule in 5 nodes: give it more");
}

TEST_F(ScheduleCli, GecodeSolvesASmallProblem) {
  if (!have_constraint_search()) GTEST_SKIP() << "this build has no Gecode";
  for (auto const* name : {"s.json", "t.json"}) {
    auto const result = run(small({"--method", "gecode", "--evaluations", "5000", "--output", name}));
    ASSERT_EQ(result.status, 0) << result.err;
    auto const schedule = read_schedule(file(name));
    EXPECT_EQ(schedule.tasks.size(), 20U);
    // Optimal: the bound is reached.
    EXPECT_NEAR(seconds_of(result.out, "best of [0-9]+ nodes, the whole tree"), seconds(schedule.makespan), 1e-4);
    EXPECT_NEAR(seconds_of(result.out, "bound by both"), seconds(schedule.makespan), 1e-4);
  }
  EXPECT_EQ(text("s.json"), text("t.json"));
  auto const with_transfers =
      run({"--platform", "mirage", "--tiles", "5", "--method", "gecode", "--evaluations", "3000", "--output", "-"});
  ASSERT_EQ(with_transfers.status, 0) << with_transfers.err;
  EXPECT_EQ(parse_schedule(with_transfers.out, "stdout").tasks.size(), 35U);
}

TEST_F(ScheduleCli, ASignalEndsTheSearchAndKeepsItsResult) {
  auto const result = run(small({"--start", "heftp", "--time", "600", "--output", "s.json"}),
                          {.signal = SIGINT, .signal_when = "", .signal_after = std::chrono::milliseconds(1500)});
  EXPECT_EQ(result.status, 130) << result.err;
  EXPECT_THAT(result.err, StartsWith("the best schedule so far is in s.json\ngranary-schedule: interrupted"));
  EXPECT_EQ(read_schedule(file("s.json")).tasks.size(), 20U);
  EXPECT_THAT(result.out, HasSubstr("best of"));
}

}  // namespace
}  // namespace granary
