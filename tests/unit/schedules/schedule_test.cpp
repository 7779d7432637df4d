// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/schedules/schedule.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <filesystem>
#include <string>

namespace granary::schedule_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

void kernel(detail::KernelCall const&) {}

Schedule example() {
  Schedule schedule;
  schedule.workers = {{"core \"0\"", detail::WorkerKind::Cpu, "host"}, {"gpu0", detail::WorkerKind::Device, "gpu0"}};
  schedule.codelets = {"potrf", "gemm"};
  schedule.tasks = {{0, 0, 0xffffffffffffffffU, 0, Duration(0), Duration(5)},
                    {1, 1, 1, most_schedule_rank, Duration(5), Duration(7)},
                    {1, 1, 0, 3, Duration(0), Duration(0)}};
  schedule.makespan = Duration(12);
  return schedule;
}

// The message of a schedule whose text is changed by `change(json&)`.
template <class Change>
std::string refusal(Change&& change) {
  auto text = json::parse(format_schedule(example()));
  change(text);
  try {
    (void)parse_schedule(text.dump(), "night.json");
  } catch (DataError const& error) {
    return error.what();
  }
  return "it was read";
}

TEST(Schedule, IsReadAsItWasWritten) {
  auto const folder = fs::temp_directory_path() / ("granary-schedule-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  for (auto const& schedule : {example(), Schedule{}}) {
    write_schedule(folder / "s.json", schedule);
    EXPECT_EQ(read_schedule(folder / "s.json"), schedule);
  }
  auto wrong = example();
  wrong.tasks[1].worker = 2;
  EXPECT_THROW(write_schedule(folder / "s.json", wrong), InvalidArgument);
  EXPECT_EQ(read_schedule(folder / "s.json"), Schedule{}) << "a failure leaves the old file";
  EXPECT_THROW((void)read_schedule(folder / "none.json"), IoError);
  EXPECT_THROW(write_schedule(folder / "none" / "s.json", example()), InvalidArgument);
  fs::remove_all(folder);
}

TEST(Schedule, TheHashOfTheGraphIsThatOfTheSignaturesInOrder) {
  auto other = example();
  other.tasks[0].worker = 1;
  other.tasks[0].rank = 9;
  EXPECT_EQ(other.graph_hash(), example().graph_hash());
  std::swap(other.tasks[0], other.tasks[1]);
  EXPECT_NE(other.graph_hash(), example().graph_hash());
}

TEST(Schedule, WhatIsWrongIsNamed) {
  EXPECT_EQ(refusal([](json&) {}), "it was read");
  EXPECT_EQ(refusal([](json& s) { s = 7; }), "schedule file night.json: it is 7, not a JSON object");
  EXPECT_THAT(refusal([](json& s) { s["format"] = 2; }), HasSubstr("it has format 2, and this granary knows 1"));
  EXPECT_THAT(refusal([](json& s) { s["extra"] = 2; }), HasSubstr("the schedule has an unknown field 'extra'"));
  for (auto const* field : {"format", "graph", "makespan_ns", "workers", "codelets", "tasks"}) {
    EXPECT_THAT(refusal([&](json& s) { s.erase(field); }), HasSubstr("field '" + std::string(field) + "' is missing"));
    EXPECT_THAT(refusal([&](json& s) { s[field] = -1; }), HasSubstr("field '" + std::string(field) + "' is -1, not "));
  }
  for (auto const* field : {"worker", "codelet", "signature", "rank", "start_ns", "duration_ns"}) {
    auto const name = "field '" + std::string(field) + "' ";
    EXPECT_THAT(refusal([&](json& s) { s["tasks"].erase(field); }), HasSubstr(name + "is missing"));
    EXPECT_THAT(refusal([&](json& s) { s["tasks"][field][1] = -3; }), HasSubstr(name + "is -3, not "));
    EXPECT_THAT(refusal([&](json& s) { s["tasks"][field].erase(1); }),
                AllOf(HasSubstr("2"), HasSubstr("entries"), HasSubstr("3")));
  }
  EXPECT_THAT(refusal([](json& s) { s["workers"][0]["kind"] = "tpu"; }),
              HasSubstr("field 'kind' is \"tpu\", not \"cpu\" or \"device\""));
  EXPECT_THAT(refusal([](json& s) { s["workers"][1]["nod"] = ""; }), HasSubstr("worker 1 has an unknown field 'nod'"));
  EXPECT_THAT(refusal([](json& s) { s["tasks"]["worker"][2] = 2; }),
              HasSubstr("task 2 has worker 2, and the workers are 2"));
  EXPECT_THAT(refusal([](json& s) { s["tasks"]["codelet"][0] = 5; }),
              HasSubstr("task 0 has codelet 5, and the codelets are 2"));
  EXPECT_THAT(refusal([](json& s) { s["tasks"]["rank"][0] = most_schedule_rank + 1; }), HasSubstr("field 'rank' is"));
  EXPECT_THAT(refusal([](json& s) { s["tasks"]["start_ns"][1] = 6; }), HasSubstr("within the makespan of 12 ns"));
  EXPECT_THAT(refusal([](json& s) { s["tasks"]["start_ns"][1] = std::uint64_t{1} << 63; }), HasSubstr("'start_ns' is"));
  EXPECT_THAT(refusal([](json& s) { s["tasks"]["signature"][1] = "1g"; }), HasSubstr("16 hexadecimal digits"));
  EXPECT_THAT(refusal([](json& s) { s["tasks"]["signature"][1] = "2"; }),
              AllOf(HasSubstr("field 'graph' is "), HasSubstr("the file was changed")));
}

TEST(Schedule, TextThatIsNoScheduleIsRefused) {
  auto const whole = format_schedule(example());
  for (std::size_t size = 0; size + 2 < whole.size(); size += 7) {
    EXPECT_THROW((void)parse_schedule(whole.substr(0, size), "part"), DataError);
  }
  try {
    (void)parse_schedule(std::string(1000, '['), "deep.json");
    FAIL() << "it was read";
  } catch (DataError const& error) {
    EXPECT_STREQ(error.what(), "schedule file deep.json: its brackets nest deeper than 64 levels");
  }
}

TEST(Schedule, OfAGraphNamesItsTasksWithAWorker) {
  detail::GraphRecorder graph;
  auto const work = graph.add_codelet({.name = "work", .kernels = {kernel, kernel}});
  auto const outside = graph.add_codelet({.name = "outside", .external = true});
  auto const x = graph.add_data({.name = "x", .bytes = 8});
  detail::Access const accesses[] = {{x, detail::AccessMode::ReadWrite}};
  for (auto const codelet : {work, outside, work}) {
    (void)graph.submit({.codelet = codelet, .accesses = accesses, .flops = 3});
  }
  detail::Machine machine;
  auto const host = machine.add_node({.name = "host"});
  machine.add_worker({.name = "cpu0", .node = host});
  auto const schedule = unplaced_schedule(machine, graph);
  EXPECT_EQ(schedule.workers, (std::vector<detail::ScheduleWorker>{{"cpu0", detail::WorkerKind::Cpu, "host"}}));
  EXPECT_EQ(schedule.codelets, (std::vector<std::string>{"work", "outside"}));
  ASSERT_EQ(schedule.tasks.size(), 2U);
  EXPECT_EQ(schedule.tasks[0], schedule.tasks[1]);
  EXPECT_NE(schedule.tasks[0].signature, 0U);
}

}  // namespace
}  // namespace granary::schedule_test
