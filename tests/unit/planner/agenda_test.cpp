// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/planner/agenda.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace granary {

using namespace detail;

namespace {

using ::testing::ElementsAre;

struct Name {
  std::string operator()(Agenda::Cancel i) const { return "cancel " + std::to_string(i.task.value()); }
  std::string operator()(Agenda::StartTransfers i) const { return "start " + std::to_string(i.link.value()); }
  std::string operator()(Agenda::Fetch i) const { return "fetch " + std::to_string(i.data.value()); }
  std::string operator()(Agenda::PassThrough i) const { return "pass " + std::to_string(i.data.value()); }
  std::string operator()(Agenda::WriteBack i) const { return "write back " + std::to_string(i.data.value()); }
  std::string operator()(Agenda::Forget i) const { return "forget " + std::to_string(i.data.value()); }
  std::string operator()(Agenda::GiveRoom i) const { return "room " + std::to_string(i.node.value()); }
  std::string operator()(Agenda::Commit i) const { return "commit " + std::to_string(i.group.value()); }
  std::string operator()(Agenda::BeginExternal) const { return "begin external tasks"; }
};

// The items in the order in which they are taken; `after(name)` may post more when an item is performed.
std::vector<std::string> drain(Agenda& agenda, std::function<void(std::string const&)> const& after = nullptr) {
  std::vector<std::string> taken;
  auto const perform = [&](auto item) {
    taken.push_back(Name{}(item));
    if (after) after(taken.back());
  };
  while (agenda.take(perform)) continue;
  return taken;
}

Agenda::GiveRoom room(std::uint32_t node) { return {NodeId(node)}; }
Agenda::Commit commit(std::uint32_t group) { return {GroupId(group)}; }
Agenda::Forget forget(std::uint32_t data) { return {DataId(data)}; }

// Nodes in a row, the first of which have a group of workers each.
Topology machine(std::uint32_t nodes, std::vector<WorkerKind> const& groups) {
  Machine machine;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    machine.add_node({.name = "node"});
    if (n > 0) machine.add_link_pair(NodeId(n - 1), NodeId(n), 1e9);
  }
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    machine.add_worker({.name = "worker", .node = NodeId(g), .kind = groups[g]});
  }
  return Topology(std::move(machine));
}
Topology cores(std::uint32_t nodes, std::size_t groups) { return machine(nodes, {groups, WorkerKind::Cpu}); }

TEST(Agenda, TakesCancellationsThenMovementsThenNodesThenGroupsThenExternalTasks) {
  Agenda agenda(cores(3, 2));
  agenda.post(Agenda::BeginExternal{});
  agenda.post(commit(1));
  agenda.post(room(2));
  agenda.post(Agenda::Fetch{DataId(7), NodeId(1)});
  agenda.post(Agenda::StartTransfers{LinkId(4)});
  agenda.post(Agenda::WriteBack{DataId(5), NodeId(1)});
  agenda.post(Agenda::PassThrough{DataId(6), NodeId(1)});
  agenda.post(Agenda::Cancel{TaskId(9)});
  agenda.post(room(0));
  EXPECT_THAT(drain(agenda), ElementsAre("cancel 9", "fetch 7", "start 4", "write back 5", "pass 6", "room 0", "room 2",
                                         "commit 1", "begin external tasks"));
  EXPECT_THAT(drain(agenda), ElementsAre());
}

TEST(Agenda, DevicesHaveTheirTurnsBeforeCores) {
  using enum WorkerKind;
  Agenda agenda(machine(5, {Cpu, Device, Cpu, Device}));
  agenda.post(Agenda::BeginExternal{});
  for (std::uint32_t group : {0U, 1U, 2U, 3U}) agenda.post(commit(group));
  agenda.post(room(4));
  EXPECT_THAT(drain(agenda),
              ElementsAre("room 4", "commit 1", "commit 3", "commit 0", "commit 2", "begin external tasks"));
}

TEST(Agenda, ANodeOrGroupThatIsPostedTwiceHasOneTurn) {
  Agenda agenda(cores(1, 1));
  for (int i = 0; i < 3; ++i) {
    agenda.post(room(0));
    agenda.post(commit(0));
    agenda.post(forget(8));
  }
  EXPECT_THAT(drain(agenda), ElementsAre("forget 8", "forget 8", "forget 8", "room 0", "commit 0"));
}

// So that a group which always finds more to do cannot keep the others from their turn.
TEST(Agenda, WhatIsPostedAgainWaitsForItsNextTurn) {
  Agenda agenda(cores(3, 3));
  for (std::uint32_t group = 0; group < 3; ++group) agenda.post(commit(group));
  int again = 2;
  auto const taken = drain(agenda, [&](std::string const& name) {
    if (name == "commit 0" && again-- > 0) {
      agenda.post(commit(0));
      agenda.post(room(0));
    }
  });
  EXPECT_THAT(taken, ElementsAre("commit 0", "commit 1", "commit 2", "room 0", "commit 0", "room 0", "commit 0"));
}

TEST(Agenda, WhatAnItemPostsIsTakenBeforeTheNextTurn) {
  Agenda agenda(cores(2, 1));
  agenda.post(room(0));
  agenda.post(room(1));
  auto const taken = drain(agenda, [&](std::string const& name) {
    if (name == "room 0") agenda.post(forget(3));
    if (name == "forget 3") agenda.post(Agenda::Cancel{TaskId(1)});
  });
  EXPECT_THAT(taken, ElementsAre("room 0", "forget 3", "cancel 1", "room 1"));
}

TEST(Agenda, HasAsManyNodesAndGroupsAsAMachine) {
  Agenda agenda(cores(70, 64));
  for (std::uint32_t i : {69U, 63U, 64U, 0U}) agenda.post(room(i));
  for (std::uint32_t i : {63U, 0U}) agenda.post(commit(i));
  EXPECT_THAT(drain(agenda), ElementsAre("room 0", "room 63", "room 64", "room 69", "commit 0", "commit 63"));
}

}  // namespace
}  // namespace granary
