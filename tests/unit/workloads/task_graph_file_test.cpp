// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/graph_recorder.hpp>
#include <granary/detail/workloads/task_graph_file.hpp>
#include <granary/detail/workloads/tiled_cholesky.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

#include "support/file_size_limit.hpp"

namespace granary {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string graph_of(std::string const& tasks, std::string const& data = R"({"name":"x","bytes":8})") {
  return R"({"codelets":[{"name":"f","kinds":["cpu","device"]},{"name":"g","kinds":["cpu"]}],"data":[)" + data +
         R"(],"tasks":[)" + tasks + "]}";
}

std::string refusal(std::string const& text) {
  return test::message_of([&] { return workloads::TaskGraphFile::parse(text, "g.json"); });
}

TEST(TaskGraphFile, ReadsWhatTheDocumentationShows) {
  auto const graph = workloads::TaskGraphFile::parse(
      graph_of(R"({"name":"first","codelet":"f","flops":10,"accesses":[{"data":"x","mode":"read-write"},
                 {"data":"t","mode":"write"}]},
                 {"codelet":"g","flops":5.5,"priority":3,"accesses":[{"data":"t","mode":"read"}]})",
               R"({"name":"x","bytes":8},{"name":"t","bytes":16,"temporary":true})"),
      "g.json");
  EXPECT_EQ(graph.working_set(), 8U);
  EXPECT_EQ(graph.flops(), 15.5);
  EXPECT_TRUE(graph.has_priorities());
  detail::GraphRecorder record;
  graph.submit(record, {NodeId(0)});
  ASSERT_EQ(record.tasks().size(), 2U);
  EXPECT_EQ(record.tasks()[1].priority, 3);
  EXPECT_FALSE(record.codelets()[1].runs_on(detail::WorkerKind::Device));
  EXPECT_TRUE(record.data()[0].origin_is_home);
  EXPECT_FALSE(record.data()[1].home.valid());
}

TEST(TaskGraphFile, WritesWhatItReads) {
  auto const recorded = workloads::TaskGraphFile::record(workloads::TiledCholesky({4, 16, detail::Precision::Single}));
  auto const text = recorded.to_json();
  EXPECT_EQ(workloads::TaskGraphFile::parse(text, "g.json").to_json(), text);
  EXPECT_DOUBLE_EQ(recorded.flops(), workloads::TiledCholesky({4, 16, detail::Precision::Single}).flops());
}

TEST(TaskGraphFile, DataHavePositionsByAFieldOrByTheirNames) {
  auto const graph = workloads::TaskGraphFile::parse(
      graph_of(R"({"codelet":"f","flops":1,"accesses":[{"data":"x","mode":"write"}]})",
               R"json({"name":"x","bytes":8,"position":[4,0]},{"name":"A(3,2)","bytes":8},
                      {"name":"L(a)(5, 12, 7)","bytes":8},{"name":"B(0,1)","bytes":8,"position":[6,7]},
                      {"name":"A(3)","bytes":8},{"name":"t(1,1)","bytes":8,"temporary":true},
                      {"name":"A(-1,2)","bytes":8},{"name":"A(9999999999,0)","bytes":8})json"),
      "g.json");
  detail::GraphRecorder record;
  graph.submit(record, {NodeId(0)});
  std::vector<std::pair<int, int>> positions;
  for (auto const& datum : record.data()) positions.emplace_back(datum.position.row, datum.position.column);
  EXPECT_THAT(positions, ElementsAre(std::pair(4, 0), std::pair(3, 2), std::pair(5, 12), std::pair(6, 7),
                                     std::pair(-1, -1), std::pair(1, 1), std::pair(-1, -1), std::pair(-1, -1)));
  auto const text = graph.to_json();
  EXPECT_EQ(workloads::TaskGraphFile::parse(text, "g.json").to_json(), text);
}

TEST(TaskGraphFile, ARecordedGraphKeepsPositions) {
  auto const graph = workloads::TaskGraphFile::record(workloads::TiledCholesky({4, 16, detail::Precision::Single}));
  detail::GraphRecorder before;
  workloads::TiledCholesky({4, 16, detail::Precision::Single}).submit(before, {NodeId(0)});
  detail::GraphRecorder after;
  workloads::TaskGraphFile::parse(graph.to_json(), "g.json").submit(after, {NodeId(0)});
  ASSERT_EQ(after.data().size(), before.data().size());
  EXPECT_EQ(before.data()[5].position.row, 2);
  for (std::size_t d = 0; d < before.data().size(); ++d) {
    EXPECT_EQ(after.data()[d].position.row, before.data()[d].position.row);
    EXPECT_EQ(after.data()[d].position.column, before.data()[d].position.column);
  }
}

TEST(TaskGraphFile, RefusesPositionsThatAreNone) {
  std::string const task = R"({"codelet":"f","flops":1,"accesses":[]})";
  for (std::string const position : {"[1]", "[1,2,3]", "[1,-2]", "[1,2147483648]", "\"1,2\"", "[1.5,2]", "null"}) {
    EXPECT_EQ(refusal(graph_of(task, R"({"name":"x","bytes":8,"position":)" + position + "}")),
              "g.json: datum 'x': 'position' is " + position + ", not a list of row and column, from 0 to 2147483647");
  }
}

TEST(TaskGraphFile, TasksMayCommute) {
  auto const task = [](std::string const& mode) {
    return graph_of(R"({"codelet":"f","flops":1,"accesses":[{"data":"x","mode":")" + mode + R"("}]})");
  };
  auto const graph = workloads::TaskGraphFile::parse(task("commute"), "g.json");
  EXPECT_EQ(workloads::TaskGraphFile::parse(graph.to_json(), "g.json").to_json(), graph.to_json());
  detail::GraphRecorder record;
  graph.submit(record, {NodeId(0)});
  EXPECT_EQ(record.accesses_of(record.tasks()[0])[0].mode, detail::AccessMode::Commute);
  EXPECT_THAT(refusal(task("swap")), HasSubstr("unknown mode 'swap'; it is read, write, read-write or commute"));
}

TEST(TaskGraphFile, AFailedWriteLeavesTheOldFile) {
  auto const path = std::filesystem::temp_directory_path() / ("granary_graph_" + std::to_string(::getpid()) + ".json");
  auto const graph = workloads::TaskGraphFile::record(workloads::TiledCholesky({4, 16, detail::Precision::Single}));
  graph.write(path);
  {
    test::FileSizeLimit const limit(100);
    EXPECT_THROW(graph.write(path), IoError);
  }
  EXPECT_EQ(workloads::TaskGraphFile::read(path).to_json(), graph.to_json());
  std::filesystem::remove(path);
}

TEST(TaskGraphFile, SubmitsInTheOrderOfTheFileAsFarAsEdgesAllow) {
  auto const graph =
      workloads::TaskGraphFile::parse(graph_of(R"({"name":"a","codelet":"f","flops":1,"accesses":[],"after":["c"]},
      {"name":"b","codelet":"f","flops":1,"accesses":[]},
      {"name":"c","codelet":"f","flops":1,"accesses":[],"after":[1]})"),
                                      "g.json");
  EXPECT_THAT(graph.order(), ElementsAre(1, 2, 0));
  detail::GraphRecorder record;
  graph.submit(record, {NodeId(0)});
  // c reads a datum for the end of b, and a one for the end of c.
  EXPECT_EQ(record.tasks()[0].accesses, 1U);
  EXPECT_EQ(record.tasks()[1].accesses, 2U);
  EXPECT_EQ(record.tasks()[2].accesses, 1U);
}

TEST(TaskGraphFile, NamesTheTasksOfACycle) {
  std::string const by_edges = R"({"name":"a","codelet":"f","flops":1,"accesses":[],"after":["b"]},
      {"name":"b","codelet":"f","flops":1,"accesses":[],"after":["c"]},
      {"name":"c","codelet":"f","flops":1,"accesses":[],"after":["a"]},
      {"name":"outside","codelet":"f","flops":1,"accesses":[],"after":["a"]})";
  EXPECT_THAT(refusal(graph_of(by_edges)), AllOf(HasSubstr("task 'a'"), HasSubstr("task 'b'"), HasSubstr("task 'c'"),
                                                 HasSubstr(" -> "), ::testing::Not(HasSubstr("outside"))));
  std::string const by_accesses =
      R"({"name":"w","codelet":"f","flops":1,"accesses":[{"data":"x","mode":"write"}],"after":["r"]},
         {"name":"r","codelet":"f","flops":1,"accesses":[{"data":"x","mode":"read"}]})";
  EXPECT_THAT(refusal(graph_of(by_accesses)), AllOf(HasSubstr("task 'w'"), HasSubstr("task 'r'")));
  EXPECT_THAT(refusal(graph_of(R"({"codelet":"f","flops":1,"accesses":[],"after":[0]})")), HasSubstr("task 0 (f)"));
}

TEST(TaskGraphFile, RefusesByName) {
  auto const task = [](std::string const& rest) { return graph_of(R"({"name":"a",)" + rest + "}"); };
  std::vector<std::pair<std::string, std::vector<std::string>>> const bad{
      {task(R"("codelet":"h","flops":1,"accesses":[])"), {"task 'a'", "codelet 'h'"}},
      {task(R"("codelet":"f","flops":1,"accesses":[{"data":"y","mode":"read"}])"), {"task 'a'", "datum 'y'"}},
      {task(R"("codelet":"f","flops":1,"accesses":[{"data":"x","mode":"use"}])"), {"task 'a'", "mode 'use'"}},
      {task(R"("codelet":"f","flops":1,"accesses":[],"after":["z"])"), {"task 'a'", "task 'z'"}},
      {task(R"("codelet":"f","flops":1,"accesses":[],"after":[9])"), {"task 'a'", "after", "9"}},
      {task(R"("codelet":"f","flops":-1,"accesses":[])"), {"task 'a'", "flops", "-1"}},
      {task(R"("codelet":"f","accesses":[])"), {"task 'a'", "flops"}},
      {task(R"("codelet":"f","flops":1,"accesses":[],"prio":1)"), {"task 0", "prio"}},
      {task(R"("codelet":"f","flops":1,"accesses":[],"priority":1.5)"), {"task 'a'", "priority", "1.5"}},
      {graph_of(R"({"codelet":"f","flops":1,"accesses":[{"data":"t","mode":"read"}]})",
                R"({"name":"t","bytes":8,"temporary":true})"),
       {"task 0 (f)", "'t'"}},
      {graph_of("", R"({"name":"x","bytes":-8})"), {"datum 'x'", "bytes", "-8"}},
      {graph_of("", R"({"name":"x","bytes":0})"), {"datum 'x'", "bytes", "0"}},
      {graph_of("", R"({"name":"x","bytes":1},{"name":"x","bytes":1})"), {"two data", "'x'"}},
      {graph_of(""), {"no task"}},
      {R"({"codelets":[{"name":"f","kinds":["fpga"]}],"data":[],"tasks":[]})", {"codelet 'f'", "fpga"}},
      {R"({"codelets":[{"name":"f","kinds":[]}],"data":[],"tasks":[]})", {"codelet 'f'", "kinds"}},
      {R"({"codelets":{},"data":[],"tasks":[]})", {"codelets", "list"}},
      {"[]", {"not a JSON object"}},
      {"{", {"not JSON"}}};
  for (auto const& [text, parts] : bad) {
    auto const message = refusal(text);
    EXPECT_THAT(message, HasSubstr("g.json")) << text;
    for (auto const& part : parts) EXPECT_THAT(message, HasSubstr(part)) << text;
  }
}

TEST(TaskGraphFile, RefusesWhatIsNestedTooDeepToBeWalked) {
  EXPECT_EQ(refusal(std::string(300000, '[')), "g.json: its brackets nest deeper than 64 levels");
  EXPECT_EQ(refusal(graph_of(std::string(300000, '[') + std::string(300000, ']'))),
            "g.json: its brackets nest deeper than 64 levels");
}

TEST(TaskGraphFile, RefusesWhatCannotBeAddedUp) {
  auto const task = [](std::string const& rest) {
    return graph_of(R"({"name":"a","codelet":"f","accesses":[],)" + rest + "}");
  };
  EXPECT_EQ(refusal(task(R"("flops":1e31)")), "g.json: task 'a' has flops that are not from 0 to 1e30");
  EXPECT_EQ(refusal(task(R"("flops":1,"priority":9223372036854775807)")),
            "g.json: task 'a' has priority 9223372036854775807, which is not from -2^62 to 2^62");
  EXPECT_EQ(refusal(task(R"("flops":1,"priority":18446744073709551615)")),
            "g.json: task 'a': 'priority' is 18446744073709551615, not a whole number from -2^62 to 2^62");
  auto const half = std::to_string(Bytes{1} << 59U);
  EXPECT_EQ(refusal(graph_of(
                R"({"codelet":"f","flops":1,"accesses":[]})",
                R"({"name":"x","bytes":)" + half + R"(},{"name":"y","bytes":)" + half + R"(},{"name":"z","bytes":1})")),
            "g.json: the data up to 'z' have more than 2^60 bytes together");
}

TEST(TaskGraphFile, QuotesLittleAndNothingThatATerminalWouldObey) {
  EXPECT_LT(refusal("\"" + std::string(100000, 'x') + "\"").size(), 200U);
  EXPECT_LT(refusal("[" + std::string(100000, 'x')).size(), 500U);
  EXPECT_THAT(refusal(graph_of("", R"({"name":"\u001b[31m","bytes":8})")),
              HasSubstr("not a name without control characters"));
}

TEST(TaskGraphFile, RefusesAFileThatIsNotThere) {
  EXPECT_THROW(static_cast<void>(workloads::TaskGraphFile::read("/no/such/graph.json")), IoError);
  EXPECT_THROW(static_cast<void>(workloads::TaskGraphFile::read("/")), IoError);
}

// A submitter without memory for anything.
class NoRoom final : public Submitter {
 public:
  detail::CodeletId add_codelet(detail::Codelet) override { return detail::CodeletId(0); }
  DataId add_data(detail::DataDescription) override { return DataId(0); }
  void release_data(DataId) override {}
  TaskId submit(TaskSubmission const&, detail::Parameters) override { throw MemoryLimitError("there is no room"); }
};

TEST(TaskGraphFile, NamesTheTaskThatFitsNowhere) {
  auto const graph =
      workloads::TaskGraphFile::parse(graph_of(R"({"name":"big","codelet":"f","flops":1,"accesses":[]})"), "g.json");
  NoRoom submitter;
  EXPECT_THAT(test::message_of([&] { graph.submit(submitter, {NodeId(0)}); }),
              AllOf(HasSubstr("g.json"), HasSubstr("task 'big'"), HasSubstr("no room")));
}

}  // namespace
}  // namespace granary
