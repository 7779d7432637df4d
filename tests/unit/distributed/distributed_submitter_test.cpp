// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/distributed/distributed_submitter.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace granary {

using namespace detail;

namespace distributed_submitter_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NoTransport final : public Transport {
 public:
  void send(ProcessId, Message) override {}
  void expect(ProcessId, std::uint32_t, CopyCommand const&) override {}
  void cancel(ProcessId, std::uint32_t) override {}
  void ship(ProcessId, std::uint32_t, ShipCommand const&, std::int64_t) override {}
};

// Writes down what it is told, and gives ids in turn.
class Written final : public Submitter {
 public:
  explicit Written(Exchange& exchange) : m_exchange(exchange) {}
  CodeletId add_codelet(Codelet codelet) override {
    m_codelets.push_back(codelet);
    return CodeletId(static_cast<std::uint32_t>(m_codelets.size() - 1));
  }
  DataId add_data(DataDescription description) override {
    lines.push_back("data " + description.name + (description.home == peers ? " of another process" : ""));
    return DataId(m_data++);
  }
  void release_data(DataId data) override { lines.push_back("release " + std::to_string(data.value())); }
  TaskId submit(TaskSubmission const& submission, Parameters) override {
    TaskId const id(m_tasks++);
    auto const& codelet = m_codelets[submission.codelet.index()];
    std::string line = codelet.name + " at " + std::to_string(submission.position) + ":";
    for (auto const& access : submission.accesses)
      line += (writes(access.mode) ? " w" : " r") + std::to_string(access.data.value());
    lines.push_back(line);
    if (codelet.external) m_exchange.submitted(id);
    return id;
  }
  // Since the last call.
  std::vector<std::string> told() { return std::exchange(lines, {}); }

  static constexpr NodeId peers{1};
  std::vector<std::string> lines;

 private:
  Exchange& m_exchange;
  std::vector<Codelet> m_codelets;
  std::uint32_t m_data = 0;
  std::uint64_t m_tasks = 0;
};

// Data 0, 2, 4, ... belong to process 0, the others to process 1.
struct Process {
  explicit Process(std::uint32_t self)
      : exchange(ProcessId(self), transport, [](Event const&) {}),
        written(exchange),
        submitter(
            ProcessId(self),
            [](DataDescription const&, std::uint64_t number) {
              return ProcessId(static_cast<std::uint32_t>(number % 2));
            },
            written, Written::peers, exchange) {
    work = submitter.add_codelet({.name = "work"});
    for (char const* name : {"a", "b"}) submitter.add_data({.name = name, .bytes = 8});
    written.told();
  }
  TaskId submit(std::vector<Access> const& accesses) {
    return submitter.submit({.codelet = work, .accesses = accesses}, {});
  }

  NoTransport transport;
  Exchange exchange;
  Written written;
  DistributedSubmitter submitter;
  CodeletId work;
};

constexpr DataId a{0};
constexpr DataId b{1};

TEST(DistributedSubmitter, EachProcessSubmitsItsTasksAndTheStubsThatConcernIt) {
  Process zero(0);
  Process one(1);
  for (auto* const process : {&zero, &one}) {
    process->submit({{a, AccessMode::Write}});
    process->submit({{a, AccessMode::Read}, {b, AccessMode::Write}});
    process->submit({{a, AccessMode::Read}, {b, AccessMode::ReadWrite}});
    process->submit({{a, AccessMode::Write}});
  }
  EXPECT_THAT(zero.written.told(), ElementsAre("work at 0: w0", "outgoing value at 1: r0", "work at 3: w0"));
  EXPECT_THAT(one.written.told(), ElementsAre("data a of another process", "incoming value at 1: w1",
                                              "work at 1: r1 w0", "work at 2: r1 w0", "release 1"));
}

TEST(DistributedSubmitter, AValueIsSentAgainAfterAllWereLetGo) {
  Process one(1);
  one.submit({{a, AccessMode::Read}, {b, AccessMode::Write}});
  one.submitter.let_go_of_all();
  one.written.told();
  one.submit({{a, AccessMode::Read}, {b, AccessMode::Write}});
  EXPECT_THAT(one.written.told(),
              ElementsAre("data a of another process", "incoming value at 1: w2", "work at 1: r2 w0"));
  one.submitter.last_use(a);
  EXPECT_THAT(one.written.told(), ElementsAre("release 2"));
}

TEST(DistributedSubmitter, ForeignTasksOnForeignDataLeaveNoTrace) {
  Process one(1);
  EXPECT_FALSE(one.submit({{a, AccessMode::ReadWrite}}).valid());
  EXPECT_THAT(one.written.told(), IsEmpty());
  EXPECT_EQ(one.submitter.position(), 1U);
}

TEST(DistributedSubmitter, RefusesWhatNoProcessCanRun) {
  Process zero(0);
  EXPECT_EQ(test::message_of([&] {
              zero.submit({{a, AccessMode::Write}, {b, AccessMode::Write}});
            }),
            "a task writes data of processes 0 and 1; all that a task writes must have one owner");
  EXPECT_THROW(zero.submitter.release_data(DataId(7)), InvalidArgument);
}

}  // namespace
}  // namespace distributed_submitter_test
}  // namespace granary
