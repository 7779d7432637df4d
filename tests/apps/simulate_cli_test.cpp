// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/units.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "apps/child.hpp"

namespace granary {
namespace {

using testing::ChildResult;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class SimulateCli : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file(std::string const& name) const { return (m_directory.path() / name).string(); }
  [[nodiscard]] ChildResult run(std::vector<std::string> const& arguments) const {
    return testing::run_child(GRANARY_BIN_DIR "/granary-simulate", arguments, {.directory = m_directory.path()});
  }
  // Runs a small problem with additional arguments.
  [[nodiscard]] ChildResult run_small(std::vector<std::string> const& more) const {
    std::vector<std::string> arguments{"--platform", "sirocco", "--cpus", "0", "--tiles", "6"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  [[nodiscard]] nlohmann::ordered_json json(std::string const& name) const {
    return nlohmann::ordered_json::parse(std::ifstream(file(name)));
  }
  [[nodiscard]] std::vector<std::string> lines(std::string const& name) const {
    std::ifstream stream(file(name));
    std::vector<std::string> all;
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
  }
  void write(std::string const& name, std::string const& text) const { std::ofstream(file(name)) << text; }
  [[nodiscard]] std::vector<std::string> files() const { return m_directory.files(); }

 private:
  testing::TemporaryDirectory const m_directory;
};

TEST_F(SimulateCli, ListsWhatItKnows) {
  auto const result = run({"--list"});
  EXPECT_EQ(result.status, 0);
  for (auto const* name : {"sirocco", "cholesky-left", "darts", "luf"}) EXPECT_THAT(result.out, HasSubstr(name));
}

TEST_F(SimulateCli, RefusesFilesThatWouldEndOrStallIt) {
  auto const refused = [&](std::vector<std::string> const& arguments, std::string const& part) {
    auto const result = run(arguments);
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(part));
  };
  write("deep.json", std::string(300000, '['));
  refused({"--platform", "deep.json"}, "its brackets nest deeper than 64 levels");
  refused({"--platform", "v100x1", "--graph", "deep.json"}, "its brackets nest deeper than 64 levels");
  auto const platform = [&](std::string const& link) {
    write("p.json", R"({"name":"p","source":"x","nodes":[{"name":"h","kind":"host"},{"name":"g","kind":"device"}],
      "links":[{"from":"h","to":"g","both_ways":true,)" +
                        link + R"(}],
      "workers":[{"name":"g","node":"g","kind":"device"}],"speeds":{"device":{"s":1e3}}})");
    return std::vector<std::string>{"--platform", "p.json", "--tiles", "3"};
  };
  refused(platform(R"("bandwidth":1e9,"latency":1e10)"), "must be from 0.0 to 1000.0");
  refused(platform(R"("bandwidth":1e-30)"), "must be from 1.0 to 1e+18");
  auto slow = platform(R"("bandwidth":1e9)");
  EXPECT_EQ(run(slow).status, 0);
  slow.insert(slow.end(), {"--algorithm", "gemm", "--tile", "60000"});
  refused(slow, "the tasks and transfers take up to 1.17e+13 s on platform 'p' one after the other");
}

TEST_F(SimulateCli, WritesEveryCombinationWithStableKeys) {
  auto const result = run_small(
      {"--gpus", "1", "--scheduler", "eager,darts", "--memory", "0.5,64MiB", "--json", "r.json", "--csv", "r.csv"});
  ASSERT_EQ(result.status, 0) << result.err;
  auto const runs = json("r.json");
  ASSERT_EQ(runs.size(), 4U);
  std::vector<std::string> const keys{"platform",
                                      "algorithm",
                                      "tiles",
                                      "tile",
                                      "precision",
                                      "scheduler",
                                      "eviction",
                                      "devices",
                                      "memory_bytes",
                                      "seconds",
                                      "gflops",
                                      "upper_bound_gflops",
                                      "bytes_host_to_device",
                                      "bytes_device_to_device",
                                      "bytes_device_to_host",
                                      "bytes_total",
                                      "evictions",
                                      "reloads",
                                      "io_bound_bytes",
                                      "compulsory_bytes",
                                      "tasks",
                                      "wall_seconds"};
  Bytes const matrix = Bytes{21} * 960 * 960 * 4;
  for (auto const& entry : runs) {
    std::vector<std::string> found;
    for (auto const& [key, value] : entry.items()) found.push_back(key);
    ASSERT_GE(found.size(), keys.size());
    EXPECT_TRUE(std::equal(keys.begin(), keys.end(), found.begin()));
    EXPECT_EQ(entry["tasks"], 56);
    EXPECT_EQ(entry["devices"], 1);
    EXPECT_EQ(entry["compulsory_bytes"], matrix);
    EXPECT_EQ(entry["eviction"], entry["scheduler"] == "darts" ? "luf" : "lru");
    EXPECT_GT(entry["gflops"], 0);
    EXPECT_LE(entry["gflops"], entry["upper_bound_gflops"]);
    EXPECT_GE(entry["bytes_host_to_device"], matrix);
    EXPECT_EQ(entry["bytes_total"],
              entry["bytes_host_to_device"].get<Bytes>() + entry["bytes_device_to_host"].get<Bytes>());
  }
  EXPECT_EQ(runs[0]["memory_bytes"], matrix / 2);
  EXPECT_EQ(runs[2]["memory_bytes"], Bytes{64} << 20);
  EXPECT_EQ(lines("r.csv").size(), 5U);
  EXPECT_THAT(lines("r.csv").front(),
              StartsWith("platform,algorithm,tiles,tile,precision,scheduler,eviction,devices,"));
}

TEST_F(SimulateCli, RunsEveryAlgorithm) {
  for (auto const* algorithm : {"cholesky-left", "lu", "lu-left", "gemm", "gemm-outer", "stencil", "stencil-z",
                                "random", "random-dag", "tree", "tree-qr-tiles", "tree-ldlt"}) {
    auto const result = run({"--platform", "mirage", "--algorithm", algorithm, "--tiles", "5", "--tile", "320",
                             "--precision", "d", "--scheduler", "eager,prio"});
    EXPECT_EQ(result.status, 0) << algorithm << ": " << result.err;
    EXPECT_EQ(std::ranges::count(result.out, '\n'), 4) << result.out;
  }
}

TEST_F(SimulateCli, AnOrderIsCutAsInARun) {
  for (auto const* algorithm : {"cholesky", "lu", "lu-pivot-left", "gemm"}) {
    auto const result = run({"--platform", "mirage", "--algorithm", algorithm, "--n", "400,830", "--tile", "64",
                             "--precision", "d", "--scheduler", "prio", "--cpus", "1", "--json", "r.json", "--force"});
    ASSERT_EQ(result.status, 0) << algorithm << ": " << result.err;
    auto const runs = json("r.json");
    ASSERT_EQ(runs.size(), 2U);
    EXPECT_EQ(runs[0]["n"], 400);
    EXPECT_EQ(runs[0]["tile"], 64) << "fewer than eight tiles";
    EXPECT_EQ(runs[0]["tiles"], 7);
    EXPECT_EQ(runs[1]["tile"], 64) << "64 covers 2 more";
    EXPECT_EQ(runs[1]["tiles"], 13);
    if (algorithm == std::string("lu")) {
      EXPECT_EQ(runs[1]["working_set_bytes"], 830 * 830 * 8);
    }
  }
  auto const even =
      run({"--platform", "mirage", "--n", "801", "--tile", "100", "--scheduler", "prio", "--json", "even.json"});
  ASSERT_EQ(even.status, 0) << even.err;
  EXPECT_EQ(json("even.json")[0]["tile"], 89);
}

TEST_F(SimulateCli, SimulatesComplexScalars) {
  auto const simulate = [&](std::string const& algorithm, std::string const& precision) {
    auto const result = run({"--platform", "mirage", "--algorithm", algorithm, "--tiles", "5", "--tile", "320",
                             "--precision", precision, "--scheduler", "prio", "--json", "r.json", "--force"});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr(precision == "z"   ? ", complex double precision, "
                                      : precision == "c" ? ", complex single precision, "
                                                         : ", double precision, "));
    return json("r.json")[0];
  };
  for (auto const* algorithm : {"cholesky", "lu", "lu-pivot", "gemm", "tree", "stencil"}) {
    auto const real = simulate(algorithm, "d");
    auto const complex = simulate(algorithm, "z");
    EXPECT_EQ(complex["precision"], "z");
    EXPECT_EQ(complex["tasks"], real["tasks"]) << algorithm;
    EXPECT_EQ(complex["working_set_bytes"], 2 * real["working_set_bytes"].get<Bytes>()) << algorithm;
    EXPECT_GT(complex["seconds"], real["seconds"]) << algorithm;
    EXPECT_EQ(simulate(algorithm, "c")["working_set_bytes"], real["working_set_bytes"]) << algorithm;
  }
}

TEST_F(SimulateCli, SweepsAndRepeats) {
  auto const result = run_small(
      {"--sweep", "gpus=1:4:3", "--sweep", "memory=0.6:1:0.2", "--seeds", "3", "--jitter", "0.1", "--json", "r.json"});
  ASSERT_EQ(result.status, 0) << result.err;
  auto const runs = json("r.json");
  ASSERT_EQ(runs.size(), 6U);
  EXPECT_EQ(runs[0]["devices"], 1);
  EXPECT_EQ(runs[5]["devices"], 4);
  for (auto const& entry : runs) {
    EXPECT_LE(entry["seconds_min"], entry["seconds"]);
    EXPECT_LT(entry["seconds_min"], entry["seconds_max"]);
  }
}

TEST_F(SimulateCli, DividesDevicesAmongWorkers) {
  auto const seconds = [&](char const* workers) {
    auto const result = run_small({"--gpus", "1", "--algorithm", "gemm", "--tile", "320", "--scheduler", "eager",
                                   "--gpu-workers", workers, "--json", "r.json", "--force"});
    EXPECT_EQ(result.status, 0) << result.err;
    auto const entry = json("r.json")[0];
    EXPECT_EQ(entry["devices"], 1);
    EXPECT_LE(entry["gflops"], entry["upper_bound_gflops"]);
    return entry["seconds"].get<double>();
  };
  EXPECT_LT(seconds("4"), 0.8 * seconds("1"));  // these kernels alone use half of the GPU
}

TEST_F(SimulateCli, DrawsTrueTimesThatKeepTheAreaBound) {
  auto const seconds = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--platform", "static2016", "--tiles", "6", "--scheduler", "heftp", "--json",
                                         "r.json", "--force"});
    auto const result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return json("r.json")[0]["seconds_of_runs"].get<std::vector<double>>();
  };
  std::vector<std::string> const draws{"--truth-error", "0.5", "--truth-seeds", "4", "--seeds", "2"};
  auto drawn = seconds(draws);
  ASSERT_EQ(drawn.size(), 8U);
  for (std::size_t i = 0; i < drawn.size(); i += 2) EXPECT_EQ(drawn[i], drawn[i + 1]);
  EXPECT_NE(drawn[0], drawn[2]);
  // On a single worker the area is the makespan.
  auto const exact = seconds({"--gpus", "1", "--cpus", "0"});
  auto on_one = draws;
  on_one.insert(on_one.end(), {"--gpus", "1", "--cpus", "0"});
  for (double const time : seconds(on_one)) EXPECT_NEAR(time, exact[0], 1e-6 * exact[0]);
}

TEST_F(SimulateCli, SlowsWorkersDown) {
  auto const seconds = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--platform", "static2016", "--tiles", "6", "--gpus", "1", "--cpus", "0",
                                         "--scheduler", "heftp", "--json", "r.json", "--force"});
    auto const result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return json("r.json")[0]["seconds"].get<double>();
  };
  double const alone = seconds({});
  EXPECT_NEAR(seconds({"--slow-worker", "gpu0:2:0"}), 2 * alone, 1e-6);
  EXPECT_NEAR(seconds({"--slow-worker", "gpu0:3:0.05"}), 0.05 + 3 * (alone - 0.05), 1e-6);
  EXPECT_NEAR(seconds({"--slow-worker", "gpu0:3:0.05", "--slow-worker", "gpu0:1:0.06"}), alone + 0.01 * 2 / 3, 1e-6);
  for (auto const* wrong : {"gpu0", "gpu0:2", "gpu0:0:1", "gpu0:2:-1", "gpu0:x:1", "gpu7:2:1"}) {
    auto const result = run({"--platform", "static2016", "--slow-worker", wrong});
    EXPECT_EQ(result.status, 2) << wrong;
    EXPECT_THAT(result.err, HasSubstr("slow")) << wrong;
  }
}

TEST_F(SimulateCli, RepeatsExactly) {
  std::array<nlohmann::ordered_json, 2> runs;
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(run_small({"--jitter", "0.2", "--memory", "0.6", "--json", "r.json", "--force"}).status, 0);
    runs[i] = json("r.json")[0];
    runs[i].erase("wall_seconds");
  }
  EXPECT_EQ(runs[0], runs[1]);
}

TEST_F(SimulateCli, WritesTheOrderOfExecution) {
  auto const result = run_small({"--gpus", "1", "--order", "o.csv"});
  ASSERT_EQ(result.status, 0) << result.err;
  auto const all = lines("o.csv");
  ASSERT_EQ(all.size(), 57U);
  EXPECT_EQ(all.front(), "sequence,task,codelet,row,col,iteration,worker,start,end,stopped");
  EXPECT_THAT(all[1], StartsWith("0,0,potrf,0,0,0,"));
  // The last diagonal tile is updated five times before it is factored.
  EXPECT_THAT(all.back(), HasSubstr(",potrf,5,5,5,"));
}

TEST_F(SimulateCli, TheOrderOfAGraphFileHasItsTiles) {
  write("mine.json", R"json({"codelets":[{"name":"f","kinds":["cpu","device"]}],
    "data":[{"name":"A(3,2)","bytes":8},{"name":"x","bytes":8,"position":[4,1]},{"name":"y","bytes":8}],
    "tasks":[{"codelet":"f","flops":1e6,"accesses":[{"data":"A(3,2)","mode":"read-write"}]},
             {"codelet":"f","flops":1e6,"accesses":[{"data":"A(3,2)","mode":"read"},{"data":"x","mode":"write"}]},
             {"codelet":"f","flops":1e6,"accesses":[{"data":"x","mode":"read"},{"data":"y","mode":"write"}]}]})json");
  auto const result = run({"--platform", "sirocco", "--graph", "mine.json", "--order", "o.csv"});
  ASSERT_EQ(result.status, 0) << result.err;
  auto const all = lines("o.csv");
  ASSERT_EQ(all.size(), 4U);
  EXPECT_THAT(all[1], StartsWith("0,0,f,3,2,0,"));
  EXPECT_THAT(all[2], StartsWith("1,1,f,4,1,0,"));
  EXPECT_THAT(all[3], StartsWith("2,2,f,,,0,"));
}

// One line for each run: on one worker they do not overlap, and each task has one that was not stopped.
TEST_F(SimulateCli, WritesWhichWorkersRanTasksThatWereStopped) {
  auto const result = run({"--platform", "static2016", "--tiles", "12", "--tile", "960", "--precision", "s",
                           "--scheduler", "heteroprio:spoliation=pcept", "--order", "o.csv", "--json", "r.json"});
  ASSERT_EQ(result.status, 0) << result.err;
  std::map<std::string, double> free;
  std::map<std::string, int> completed;
  std::size_t stopped = 0;
  auto const all = lines("o.csv");
  for (std::size_t n = 1; n < all.size(); ++n) {
    std::vector<std::string> fields;
    std::istringstream line(all[n]);
    for (std::string field; std::getline(line, field, ',');) fields.push_back(field);
    ASSERT_EQ(fields.size(), 10U) << all[n];
    auto const &task = fields[1], &worker = fields[6];
    EXPECT_GE(std::stod(fields[7]), free[worker]) << all[n];
    free[worker] = std::stod(fields[8]);
    fields[9] == "0" ? void(++completed[task]) : void(++stopped);
  }
  EXPECT_EQ(completed.size(), 364U);
  for (auto const& [task, runs] : completed) EXPECT_EQ(runs, 1) << task;
  EXPECT_GT(stopped, 0U);
  // The last diagonal tile is updated eleven times before it is factored, however often updates are stopped.
  EXPECT_THAT(all.back(), HasSubstr(",potrf,11,11,11,"));
}

TEST_F(SimulateCli, WritesTracesAndReportsOfProcesses) {
  auto const result = run_small(
      {"--processes", "4", "--network", "10GB/s:2us", "--trace", "t.json", "--report", "r.html", "--json", "r.json"});
  ASSERT_EQ(result.status, 0) << result.err;
  auto const summary = json("r.json")[0];
  EXPECT_EQ(summary.at("grid"), "2x2");
  EXPECT_GT(summary.at("bytes_sent"), 0);
  auto const trace = json("t.json");
  auto const& totals = trace.at("otherData");
  EXPECT_EQ(totals.at("processes"), 4);
  EXPECT_EQ(totals.at("bytes sent between processes"), summary.at("bytes_sent"));
  EXPECT_EQ(totals.at("values sent between processes"), summary.at("values_sent"));
  EXPECT_EQ(totals.at("bytes from host"), summary.at("bytes_host_to_device"));
  EXPECT_EQ(totals.at("bytes to host"), summary.at("bytes_device_to_host"));
  std::map<int, std::string> groups;
  std::map<std::pair<int, int>, std::string> tracks;
  for (auto const& event : trace.at("traceEvents")) {
    if (event.at("name") == "process_name") groups[event.at("pid")] = event.at("args").at("name");
    if (event.at("name") == "thread_name") tracks[{event.at("pid"), event.at("tid")}] = event.at("args").at("name");
  }
  ASSERT_EQ(groups.size(), 5U);
  std::map<std::string, std::uint64_t> tasks, received;
  std::set<std::string> loads;
  for (auto const& event : trace.at("traceEvents")) {
    auto const& group = groups.at(event.at("pid"));
    EXPECT_GE(event.value("dur", 0.0), 0) << event;
    if (event.value("cat", "") == "task") ++tasks[group];
    if (event.value("cat", "") == "transfer" &&
        tracks.at({event.at("pid"), event.at("tid")}).find("other processes ->") != std::string::npos) {
      received[group] += event.at("args").at("bytes").get<std::uint64_t>();
    }
    if (event.at("args").contains("workers")) loads.insert(event.at("name"));
  }
  EXPECT_EQ(loads.size(), 4U);
  auto const& of_processes = summary.at("of_processes");
  for (std::size_t p = 0; p < 4; ++p) {
    EXPECT_EQ(tasks["process " + std::to_string(p)], of_processes[p].at("tasks")) << p;
    EXPECT_EQ(received["process " + std::to_string(p)], of_processes[p].at("bytes_received")) << p;
  }
  std::stringstream page;
  page << std::ifstream(file("r.html")).rdbuf();
  EXPECT_THAT(page.str(), HasSubstr("\"processes\":4"));
}

TEST_F(SimulateCli, SubmissionOfProcessesSleepsWhileTooMuchIsBooked) {
  auto const peak = [&](std::vector<std::string> const& booking) {
    std::vector<std::string> arguments{"--processes", "4",       "--network", "10GB/s:2us", "--json",
                                       "r.json",      "--force", "--trace",   "t.json"};
    arguments.insert(arguments.end(), booking.begin(), booking.end());
    auto const result = run_small(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return json("r.json")[0].at("booked_bytes_peak").get<std::uint64_t>();
  };
  auto const all = peak({"--booking", "none"});
  EXPECT_EQ(json("r.json")[0].at("submission_sleeps"), 0);
  auto const paper = peak({"--booking", "paper", "--booking-sleep", "10MB"});
  EXPECT_LT(paper, all);
  EXPECT_GT(json("r.json")[0].at("submission_sleeps"), 0);
  EXPECT_GT(json("r.json")[0].at("submission_slept_seconds"), 0);
  std::uint64_t most = 0;
  auto const trace = json("t.json");
  for (auto const& event : trace.at("traceEvents")) {
    if (event.at("name") == "bytes booked") most = std::max(most, event.at("args").at("bytes").get<std::uint64_t>());
    if (event.at("name") == "limit of booked bytes") {
      EXPECT_EQ(event.at("args").at("bytes"), 10'000'000);
    }
  }
  EXPECT_EQ(most, paper);
  auto const shown = run_small({"--processes", "4", "--network", "10GB/s:2us", "--booking-sleep", "10MB"});
  EXPECT_THAT(shown.out, HasSubstr("submission slept"));
}

TEST_F(SimulateCli, TheTraceOfOneProcessIsThatOfAMachine) {
  ASSERT_EQ(run_small({"--processes", "1", "--network", "10GB/s:2us", "--trace", "t.json"}).status, 0);
  auto const trace = json("t.json");
  std::set<std::string> groups;
  for (auto const& event : trace.at("traceEvents")) {
    if (event.at("name") == "process_name") groups.insert(event.at("args").at("name"));
  }
  EXPECT_THAT(groups, ElementsAre("links", "memory", "workers"));
}

TEST_F(SimulateCli, GivesAllTasksTheSamePriority) {
  // Then prio, with one worker and all data at hand, follows the order of submission as far as tasks are ready.
  ASSERT_EQ(
      run_small({"--gpus", "1", "--scheduler", "prio,eager", "--priorities", "none", "--json", "none.json"}).status, 0);
  EXPECT_EQ(json("none.json")[0]["seconds"], json("none.json")[1]["seconds"]);
  EXPECT_EQ(run_small({"--algorithm", "lu", "--priorities", "none"}).status, 0);
  EXPECT_EQ(run_small({"--algorithm", "lu", "--priorities", "starpu"}).status, 2);
}

TEST_F(SimulateCli, OrdersTransfersByPriority) {
  std::vector<std::string> arguments{"--platform", "sirocco", "--cpus",      "0",    "--tiles", "10",
                                     "--memory",   "0.3",     "--scheduler", "prio", "--json",  "requests.json"};
  ASSERT_EQ(run(arguments).status, 0);
  arguments.back() = "priority.json";
  arguments.emplace_back("--transfers-by-priority");
  ASSERT_EQ(run(arguments).status, 0);
  EXPECT_NE(json("requests.json")[0]["seconds"], json("priority.json")[0]["seconds"]);
}

TEST_F(SimulateCli, ChargesDecisions) {
  ASSERT_EQ(run_small({"--charge-decisions", "10ms", "--json", "slow.json"}).status, 0);
  ASSERT_EQ(run_small({"--json", "fast.json"}).status, 0);
  EXPECT_GT(json("slow.json")[0]["seconds"], json("fast.json")[0]["seconds"]);
  EXPECT_GE(json("slow.json")[0]["seconds"], 0.56);
}

TEST_F(SimulateCli, SchedulesGraphsThatItSaved) {
  ASSERT_EQ(run_small({"--save-graph", "g.json", "--json", "1.json"}).status, 0);
  auto const result = run({"--platform", "sirocco", "--cpus", "0", "--graph", "g.json", "--json", "2.json"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(json("1.json")[0]["seconds"], json("2.json")[0]["seconds"]);
  EXPECT_EQ(json("2.json")[0]["algorithm"], "graph");
  EXPECT_EQ(json("1.json")[0]["graph"], nullptr);
  EXPECT_EQ(json("2.json")[0]["graph"], "g.json");
}

TEST_F(SimulateCli, ReplaysASchedule) {
  auto const simulate = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--platform", "static2016", "--force"});
    return run(arguments);
  };
  ASSERT_EQ(simulate({"--tiles", "8", "--scheduler", "heftp", "--save-schedule", "s.json", "--json", "1.json"}).status,
            0);
  for (auto const* repair : {"none", "g", "gs"}) {
    auto const scheduler = std::string("static:file=s.json:repair=") + repair;
    ASSERT_EQ(simulate({"--tiles", "8", "--scheduler", scheduler, "--json", "2.json"}).status, 0);
    EXPECT_EQ(json("1.json")[0]["seconds"], json("2.json")[0]["seconds"]) << repair;
  }
  EXPECT_EQ(simulate({"--tiles", "8", "--gpus", "2", "--scheduler", "static:file=s.json"}).status, 0);
  auto const other = simulate({"--tiles", "9", "--scheduler", "static:file=s.json"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("which is of another graph: there it is 'syrk'"));
}

TEST_F(SimulateCli, RefusesGraphsByName) {
  write("cycle.json", R"({"codelets":[{"name":"f","kinds":["cpu","device"]}],"data":[],"tasks":[
      {"name":"hen","codelet":"f","flops":1,"accesses":[],"after":["egg"]},
      {"name":"egg","codelet":"f","flops":1,"accesses":[],"after":["hen"]}]})");
  write("huge.json", R"({"codelets":[{"name":"f","kinds":["device"]}],"data":[{"name":"x","bytes":100000000000000}],
      "tasks":[{"name":"whale","codelet":"f","flops":1,"accesses":[{"data":"x","mode":"read"}]}]})");
  std::vector<std::pair<std::string, std::vector<std::string>>> const bad{
      {"cycle.json", {"hen", "egg"}}, {"huge.json", {"whale"}}, {"absent.json", {"absent.json"}}};
  for (auto const& [name, parts] : bad) {
    auto const result = run({"--platform", "sirocco", "--graph", name});
    EXPECT_EQ(result.status, 2) << result.err;
    for (auto const& part : parts) EXPECT_THAT(result.err, HasSubstr(part));
  }
}

TEST_F(SimulateCli, WritesOverNothingWithoutForce) {
  for (auto const* option : {"--json", "--csv", "--order", "--save-graph"}) {
    write("kept", "kept");
    auto const refused = run_small({option, "kept"});
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("--force"));
    EXPECT_THAT(lines("kept"), ElementsAre("kept"));
    EXPECT_EQ(run_small({option, "kept", "--force"}).status, 0);
    EXPECT_GT(lines("kept").size(), 1U);
  }
}

TEST_F(SimulateCli, RefusesBadArgumentsInOneSentence) {
  std::vector<std::pair<std::vector<std::string>, std::string>> const bad{
      {{"--scheduler", "fastest"}, "eager"},
      {{"--scheduler", "eager,,prio"}, "eager,,prio"},
      {{"--scheduler", "eager:size=3"}, "size"},
      {{"--eviction", "random"}, "lru"},
      {{"--algorithm", "qr"}, "cholesky"},
      {{"--algorithm", "graph"}, "--graph"},
      {{"--precision", "h"}, "'h'"},
      {{"--tiles", "0"}, "'0'"},
      {{"--tiles", "8:4:1"}, "8:4:1"},
      {{"--tiles", "4:8:0"}, "4:8:0"},
      {{"--tiles", "1:4000000000:1"}, "1:4000000000:1"},
      {{"--tiles", "many"}, "many"},
      {{"--n", "0"}, "'0'"},
      {{"--n", "2000", "--tiles", "2"}, "--n and --tiles both give the size"},
      {{"--n", "5000", "--algorithm", "tree"}, "--n is for Cholesky and LU"},
      {{"--tile", "-4"}, "-4"},
      {{"--memory", "0"}, "'0'"},
      {{"--memory", "-1GiB"}, "-1GiB"},
      {{"--memory", "0.5:x:1"}, "0.5:x:1"},
      {{"--memory", "1KiB"}, "1024"},
      {{"--gpus", "9"}, "9"},
      {{"--gpus", "0"}, "sirocco"},
      {{"--depth", "-1"}, "'-1'"},
      {{"--gpu-workers", "0"}, "0 is not a whole number from 1 to 256"},
      {{"--sweep", "colour=1"}, "colour"},
      {{"--sweep", "tiles"}, "tiles"},
      {{"--sweep", "gpus=1", "--gpus", "1"}, "twice"},
      {{"--sweep", "gpus="}, "the sweep 'gpus=' has no values"},
      {{"--memory", ""}, "the value of --memory is empty"},
      {{"--eviction", ""}, "the value of --eviction is empty"},
      {{"--jitter", ""}, "the value of --jitter is empty"},
      {{"--load", ""}, "the value of --load is empty"},
      {{"--max-live-tasks", "-1"}, "-1 is not a whole number from 1 to 2^64 - 1"},
      {{"--booking", "theirs"},
       "unknown booking 'theirs'; there are none, ours and paper, with :bold, :factor or :safe behind them"},
      {{"--booking-sleep", "0"}, "--booking-sleep is 0; it must be above zero"},
      {{"--booking-sleep", "2MB", "--booking-wakeup", "3MB"}, "--booking-wakeup 3MB is above --booking-sleep 2MB"},
      {{"--booking", "none", "--booking-sleep", "2MB"}, "--booking-sleep is for submission that sleeps"},
      {{"--algorithm", "stencil", "--commuting"}, "--commuting is for Cholesky and LU factorizations and products"},
      {{"--inner-tile", "-1"}, "-1 is not a whole number from 0 to 2^64 - 1"},
      {{"--graph-seed", "-1"}, "-1 is not a whole number from 0 to 2^64 - 1"},
      {{"--seeds", "0"}, "seeds"},
      {{"--jitter", "1"}, "--jitter"},
      {{"--estimator-error", "-0.1"}, "--estimator-error"},
      {{"--truth-error", "1"}, "--truth-error"},
      {{"--truth-seeds", "0"}, "--truth-seeds"},
      {{"--charge-decisions", "free"}, "free"},
      {{"--charge-decisions", "-1us"}, "-1us"},
      {{"--json", "/no/such/place/r.json"}, "/no/such/place"},
      {{"--json", "r", "--csv", "r"}, "r"},
      {{"--order", "o.csv", "--scheduler", "eager,prio"}, "--order"},
      {{"--save-graph", "g.json", "--tile", "64,128"}, "--save-graph"},
      {{"--save-schedule", "s.json", "--seeds", "2"}, "--save-schedule needs a single run, but 2 were requested"},
      {{"--processes", "0"}, "0 is not a whole number from 1 to 65536"},
      {{"--processes", "2"}, "platform 'sirocco' has no network"},
      {{"--grid", "2x"}, "malformed grid '2x'"},
      {{"--grid", "2x2", "--processes", "3"}, "--grid 2x2 has 4 processes, not 3"},
      {{"--network", "5GB/s"}, "--network needs --processes or --grid"},
      {{"--processes", "2", "--network", "5GB"}, "malformed network '5GB'"},
      {{"--processes", "2", "--network", "5GB/s:2"}, "malformed network '5GB/s:2'"},
      {{"--processes", "2", "--network", "0B/s"}, "needs a bandwidth from 1 to 1e18 bytes per second, not 0"},
      {{"--processes", "2", "--network", "5GB/s", "--order", "o.csv"}, "--order is for one process"},
      {{"--processes", "2", "--network", "5GB/s", "--graph", "g.json"}, "--graph is for one process"},
      {{"--speed", "1"}, "--speed"}};
  for (auto const& [arguments, part] : bad) {
    std::vector<std::string> all{"--platform", "sirocco", "--cpus", "0"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    auto const result = run(all);
    EXPECT_EQ(result.status, 2) << arguments[0] << " " << arguments[1] << ": " << result.err;
    EXPECT_THAT(result.err, StartsWith("granary-simulate: "));
    EXPECT_THAT(result.err, HasSubstr(part));
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    EXPECT_THAT(files(), ElementsAre());
  }
}

TEST_F(SimulateCli, RefusesToDivideDevicesThatThePlatformLacks) {
  auto const none = run({"--platform", "xeon-disk", "--gpu-workers", "4"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("--gpu-workers 4: platform 'xeon-disk' has no devices"));
}

TEST_F(SimulateCli, RefusesUnknownPlatforms) {
  auto const unknown = run({"--platform", "deep-thought"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("sirocco"));
  EXPECT_EQ(run({}).status, 2);
  EXPECT_EQ(run({"--platform", "./absent.json"}).status, 2);
  write("bad.json", "{}");
  auto const malformed = run({"--platform", "./bad.json"});
  EXPECT_EQ(malformed.status, 2);
  EXPECT_THAT(malformed.err, HasSubstr("bad.json"));
}

}  // namespace
}  // namespace granary
