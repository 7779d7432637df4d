// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/trace/html_report.hpp>
#include <granary/detail/trace/process_traces.hpp>
#include <granary/detail/trace/trace_file.hpp>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace granary {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

detail::Instant at(std::int64_t ns) { return detail::Instant(Duration(ns)); }

std::string write(Trace const& trace) {
  auto const path = std::filesystem::path(testing::TempDir()) / "granary_html_report_test.html";
  write_html_report(trace, path.string());
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  return text.str();
}

// The text of the element with this id.
std::string element(std::string const& page, std::string const& id) {
  auto const at_id = page.find("id=\"" + id + "\">");
  if (at_id == std::string::npos) return "no element " + id;
  auto const begin = page.find('>', at_id) + 1;
  return page.substr(begin, page.find("</script>", begin) - begin);
}

// The same as the page's own decoder.
std::vector<std::int64_t> column(std::string const& page, std::string const& id) {
  static std::string const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (char const c : element(page, id)) {
    if (c == '=') break;
    bits = bits << 6U | static_cast<std::uint32_t>(alphabet.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<std::uint8_t>(bits >> count & 255U));
  }
  std::vector<std::int64_t> values;
  std::int64_t value = 0;
  std::uint64_t zigzag = 0;
  unsigned shift = 0;
  for (auto const byte : bytes) {
    zigzag |= static_cast<std::uint64_t>(byte & 127U) << shift;
    shift += 7;
    if ((byte & 128U) != 0) continue;
    value += static_cast<std::int64_t>(zigzag >> 1U) ^ -static_cast<std::int64_t>(zigzag & 1U);
    values.push_back(value);
    zigzag = 0;
    shift = 0;
  }
  return values;
}

Trace small_trace() {
  Trace trace;
  auto const host = trace.machine.add_node({.name = "host"});
  auto const device = trace.machine.add_node({.name = "gpu", .kind = detail::NodeKind::Device, .capacity = 64_MiB});
  trace.machine.add_link_pair(host, device, 1e9);
  trace.machine.add_worker({.name = "gpu", .node = device, .kind = detail::WorkerKind::Device});
  trace.machine.add_worker({.name = "cpu", .node = host});
  trace.codelets = {"potrf", "gemm"};
  trace.data.push_back({.name = "A(0, 1)", .bytes = 4096, .position = {.row = 0, .column = 1}});
  auto const add = [&](std::uint64_t id, std::uint32_t worker, std::int64_t begin, std::int64_t end) {
    detail::TraceTask task;
    task.task = TaskId(id);
    task.codelet = detail::CodeletId(static_cast<std::uint32_t>(id % 2));
    task.worker = detail::WorkerId(worker);
    task.data = id == 2 ? detail::TraceTask::no_data : 0;
    task.index = {static_cast<std::int32_t>(id), -1, 70'000};
    task.issued = at(begin - 5);
    task.begin = at(begin);
    task.end = at(end);
    task.flops = id == 2 ? 5e9 : 1e9;
    task.stopped = id == 1;
    trace.tasks.push_back(task);
  };
  add(0, 1, 100, 200);
  add(2, 0, 3'600'000'000'000, 3'600'000'000'010);  // after one hour
  add(1, 0, 50, 90);
  trace.transfers.push_back({.data = 0,
                             .link = detail::LinkId(1),
                             .bytes = 5'000'000'000,
                             .begin = at(10),
                             .end = at(30),
                             .why = detail::TraceTransfer::Why::WriteBack,
                             .failed = true});
  trace.memory = {{at(10), NodeId(1), 4096}, {at(40), NodeId(1), 0}};
  trace.booked = {{at(10), NodeId(0), 96, 100}, {at(40), NodeId(0), 0}};
  trace.end = at(3'600'000'000'010);
  return trace;
}

TEST(HtmlReport, ColumnsHoldTheTraceByWorkerAndInstant) {
  auto const page = write(small_trace());
  auto const header = nlohmann::json::parse(element(page, "report-header"));
  EXPECT_EQ(header["tables"]["tasks"]["count"], 3);
  EXPECT_EQ(header["tables"]["tasks"]["first"], (std::vector<int>{0, 2, 3}));
  EXPECT_THAT(column(page, "tasks-task"), ElementsAre(1, 2, 0));
  EXPECT_THAT(column(page, "tasks-begin"), ElementsAre(50, 3'600'000'000'000, 100));
  EXPECT_THAT(column(page, "tasks-length"), ElementsAre(40, 10, 100));
  EXPECT_THAT(column(page, "tasks-issued"), ElementsAre(5, 5, 5));
  EXPECT_THAT(column(page, "tasks-codelet"), ElementsAre(1, 0, 0));
  EXPECT_THAT(column(page, "tasks-i"), ElementsAre(1, 2, 0));
  EXPECT_THAT(column(page, "tasks-j"), ElementsAre(-1, -1, -1));
  EXPECT_THAT(column(page, "tasks-k"), ElementsAre(70'000, 70'000, 70'000));
  EXPECT_THAT(column(page, "tasks-data"), ElementsAre(0, -1, 0));
  EXPECT_EQ(header["flops"], (std::vector<double>{1e9, 5e9}));
  EXPECT_THAT(column(page, "tasks-flops"), ElementsAre(0, 1, 0));
  EXPECT_THAT(column(page, "tasks-stopped"), ElementsAre(1, 0, 0));
  EXPECT_THAT(column(page, "transfers-bytes"), ElementsAre(5'000'000'000));
  EXPECT_THAT(column(page, "transfers-why"), ElementsAre(1));
  EXPECT_THAT(column(page, "transfers-failed"), ElementsAre(1));
  EXPECT_THAT(column(page, "memory-used"), ElementsAre(4096, 0));
  EXPECT_THAT(column(page, "booked-bytes"), ElementsAre(96, 0));
  EXPECT_THAT(column(page, "booked-limit"), ElementsAre(100, 0)) << "0: none";
  EXPECT_EQ(header["tables"]["booked"]["first"], (std::vector<int>{0, 2, 2}));
  EXPECT_EQ(header["tables"]["memory"]["first"], (std::vector<int>{0, 0, 2}));
}

TEST(HtmlReport, HeaderHoldsTheMachineAndWhatWasSaidOfTheRun) {
  auto trace = small_trace();
  trace.configuration = {{"program", "demo"}, {"scheduler", "darts"}};
  trace.totals = {{std::string(least_seconds), 2.5}, {std::string(least_bytes_loaded), 1e6}, {"flops", 7e9}};
  trace.dropped = 12;
  auto const header = nlohmann::json::parse(element(write(trace), "report-header"));
  EXPECT_EQ(header["title"], "granary report: demo");
  EXPECT_EQ(header["subtitle"], "scheduler darts");
  EXPECT_EQ(header["nodes"][1]["capacity"], 64_MiB);
  EXPECT_TRUE(header["nodes"][0]["capacity"].is_null());
  EXPECT_EQ(header["bounds"], (nlohmann::json{{"seconds", 2.5}, {"loads", 1e6}}));
  EXPECT_EQ(header["totals"][2][1], 7e9);
  EXPECT_EQ(header["dropped"], 12);
}

TEST(HtmlReport, CodeletsOfOneNameAreOne) {
  auto trace = small_trace();
  trace.codelets = {"gemm", "trsm", "gemm"};
  trace.tasks[1].codelet = detail::CodeletId(2);
  auto const page = write(trace);
  EXPECT_EQ(nlohmann::json::parse(element(page, "report-header"))["codelets"], nlohmann::json({"gemm", "trsm"}));
  EXPECT_THAT(column(page, "tasks-codelet"), ElementsAre(1, 0, 0));
}

TEST(HtmlReport, BlockedTimeIsAWaitOfItsOwn) {
  auto trace = small_trace();
  trace.tasks[0].blocked = Duration(60);  // the host's worker, which begins at 100
  auto const page = write(trace);
  EXPECT_THAT(column(page, "waits-begin"), ElementsAre(40));
  EXPECT_THAT(column(page, "waits-length"), ElementsAre(60));
  EXPECT_THAT(column(page, "waits-why"), ElementsAre(1));
}

TEST(HtmlReport, HeaderTellsMeasuredBoundsAndThoseOfEachMemory) {
  auto trace = small_trace();
  trace.totals = {{least_seconds_measured, 2.5}, {std::string(least_bytes_loaded_into) + "gpu", 5e5}};
  auto const header = nlohmann::json::parse(element(write(trace), "report-header"));
  EXPECT_EQ(header["bounds"], nlohmann::json::parse(R"({"seconds": 2.5, "measured": true, "nodes": [[1, 5e5]]})"));
}

TEST(HtmlReport, HeaderTellsTheProcessOfEachNode) {
  auto one = small_trace();
  auto const peers = one.machine.add_node({.name = "other processes", .kind = detail::NodeKind::Peers});
  one.machine.add_link({.from = peers, .to = NodeId(0)});
  auto const header = nlohmann::json::parse(element(write(trace_of_processes({one, one})), "report-header"));
  EXPECT_EQ(header["processes"], 2);
  EXPECT_EQ(header["nodes"][2]["kind"], "peers");
  EXPECT_EQ(header["nodes"][2]["process"], 0);
  EXPECT_EQ(header["nodes"][5]["process"], 1);
  EXPECT_EQ(header["workers"][3]["name"], "1: cpu");
  auto const alone = nlohmann::json::parse(element(write(one), "report-header"));
  EXPECT_FALSE(alone.contains("processes") || alone["nodes"][0].contains("process"));
}

TEST(HtmlReport, NamesCannotEndTheScript) {
  auto trace = small_trace();
  trace.data[0].name = "</script><b>\xff\"";
  auto const page = write(trace);
  EXPECT_THAT(page, Not(HasSubstr("</script><b>")));
  auto const header = nlohmann::json::parse(element(page, "report-header"));
  EXPECT_EQ(header["data"][0][0], "</script><b>\xEF\xBF\xBD\"");
}

TEST(HtmlReport, ARunWithoutEventsGivesAPage) {
  auto const page = write(Trace{});
  EXPECT_THAT(page, HasSubstr("</html>"));
  EXPECT_THAT(column(page, "tasks-begin"), testing::IsEmpty());
}

TEST(HtmlReport, IsWhatATraceFileOfThisEndingHolds) {
  auto const path = std::filesystem::path(testing::TempDir()) / "granary_html_report_trace_test.html";
  write_trace(small_trace(), path.string());
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  EXPECT_EQ(text.str(), write(small_trace()));
}

TEST(HtmlReport, RefusesOtherEndingsAndPlaces) {
  try {
    check_report_path("run.htm");
    FAIL() << "nothing was thrown";
  } catch (InvalidArgument const& error) {
    EXPECT_STREQ(error.what(), "the report 'run.htm' is an HTML page: its name must end with .html");
  }
  EXPECT_THROW(write_html_report(Trace{}, "/no/such/folder/run.html"), InvalidArgument);
}

}  // namespace
}  // namespace granary
