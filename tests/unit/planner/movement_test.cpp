// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Movement without a planner: lists of accesses that hold places, and copies that the test answers.
#include "hand.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/movement/movement.hpp>

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace granary::detail {
namespace {

using test::device_node;
using test::disk_node;
using test::host_node;
using test::read;
using test::read_write;
using test::write;

// The replica with the smallest offset.
class EvictFirst final : public EvictionPolicy {
 public:
  void attach(SystemView const&, PlanBoard const&) override {}
  DataId victim(NodeId node) override {
    for (auto const& [offset, block] : (*memories)[node].ledger.blocks()) {
      if (memories->evictable(block.data, node)) return block.data;
    }
    return {};
  }
  Memories const* memories = nullptr;
};

class Log final : public ReplicaListener {
 public:
  void allocated(DataId data, NodeId node) override { add("allocated", data, node); }
  void arrived(DataId data, NodeId node) override { add("arrived", data, node); }
  void dropped(DataId data, NodeId node, bool evicted) override { add(evicted ? "evicted" : "dropped", data, node); }
  void forgotten(DataId data) override { lines.push_back("forgotten " + std::to_string(data.value())); }
  std::vector<std::string> lines;

 private:
  void add(std::string const& what, DataId data, NodeId node) {
    lines.push_back(what + " " + std::to_string(data.value()) + " on " + std::to_string(node.value()));
  }
};

struct Store {
  explicit Store(Machine machine) : context{.topology = Topology(std::move(machine)), .options = {}} {
    eviction.memories = &movement.memories();
  }

  DataId stored(std::string name, Bytes bytes) {
    return movement.add(
        {.name = std::move(name), .bytes = bytes, .origin = disk_node, .home = disk_node, .origin_is_home = true});
  }
  AccessList submit(std::vector<Access> const& accesses) {
    AccessList list(accesses);
    movement.announce(list);
    return list;
  }
  bool hold(AccessList const& accesses, NodeId node = host_node) {
    bool const held = movement.hold(accesses, node, true);
    settle();
    return held;
  }
  void work(AccessList const& accesses, NodeId node = host_node) {
    movement.begin_work(accesses, node);
    settle();
    for (auto const& access : accesses) {
      if (writes(access.mode)) movement.changes().end(access, node);
    }
    movement.end_work();
    movement.let_go(accesses, node);
    movement.end_uses(accesses);
    movement.uses_ended(accesses, {});
    settle();
  }
  // Performs what was posted, and collects the copies.
  void settle() {
    auto const perform = [&](auto item) {
      if constexpr (std::is_same_v<decltype(item), Agenda::GiveRoom>) {
        movement.give_room(item.node);
      } else if constexpr (requires { movement.perform(item); }) {
        movement.perform(item);
      } else {
        ADD_FAILURE() << "movement knows no task and no group";
      }
    };
    while (context.agenda.take(perform)) continue;
    for (auto const& command : context.commands) {
      if (auto const* const copy = std::get_if<CopyCommand>(&command)) copies.push_back(*copy);
    }
    context.commands.clear();
  }
  // Answers the oldest copy.
  CopyCommand finish_copy() {
    CopyCommand const copy = copies.front();
    copies.erase(copies.begin());
    EXPECT_EQ(movement.copy_done(copy.transfer), copy.data);
    settle();
    return copy;
  }
  [[nodiscard]] bool valid(DataId data, NodeId node) const {
    auto const* const replica = movement.data()[data].on(node);
    return replica != nullptr && replica->valid;
  }

  PlannerContext context;
  EvictFirst eviction;
  Log log;
  EvictionCalls calls{context, eviction};
  Movement movement{context, calls, log};
  std::vector<CopyCommand> copies;
};

TEST(Movement, BringsWhatIsReadAndKeepsItAfterwards) {
  Store store(test::disk_and_host(1000));
  DataId const a = store.stored("a", 100);
  DataId const out = store.movement.add({.name = "out", .bytes = 50});
  auto const list = store.submit({read(a), write(out)});
  ASSERT_TRUE(store.hold(list));
  EXPECT_FALSE(store.movement.complete(list, host_node, false));
  ASSERT_EQ(store.copies.size(), 1U);
  auto const copy = store.finish_copy();
  EXPECT_EQ(copy.data, a);
  EXPECT_EQ(copy.bytes, 100U);
  EXPECT_FALSE(copy.write_back);
  EXPECT_TRUE(store.movement.complete(list, host_node, false));
  store.work(list);
  EXPECT_TRUE(store.valid(a, host_node));
  EXPECT_TRUE(store.valid(out, host_node));
  EXPECT_EQ(store.log.lines,
            (std::vector<std::string>{"allocated 0 on 1", "allocated 1 on 1", "arrived 0 on 1", "arrived 1 on 1"}));
  EXPECT_TRUE(store.movement.idle());
}

TEST(Movement, GivesPlacesToAllDataOrToNone) {
  Store store(test::disk_and_host(1000));
  DataId const a = store.stored("a", 600);
  DataId const b = store.stored("b", 300);
  DataId const c = store.stored("c", 300);
  auto const first = store.submit({read(a)});
  auto const second = store.submit({read(b), read(c)});
  ASSERT_TRUE(store.hold(first));
  EXPECT_FALSE(store.hold(second));
  EXPECT_EQ(store.movement.memories()[host_node].ledger.used(), 600U);
  EXPECT_EQ(store.copies.size(), 1U);
  store.finish_copy();
  EXPECT_FALSE(store.hold(second));  // a is held
  store.work(first);
  EXPECT_TRUE(store.hold(second));
  EXPECT_EQ(store.log.lines.at(2), "evicted 0 on 1");
}

TEST(Movement, WritesAnEvictedValueHomeBeforeItsPlaceIsFree) {
  Store store(test::disk_and_host(1000));
  DataId const a = store.stored("a", 600);
  DataId const b = store.stored("b", 600);
  auto const writer = store.submit({write(a)});
  ASSERT_TRUE(store.hold(writer));
  store.work(writer);
  auto const reader = store.submit({read(b)});
  EXPECT_FALSE(store.hold(reader));
  ASSERT_EQ(store.copies.size(), 1U);
  EXPECT_TRUE(store.copies.front().write_back);
  EXPECT_EQ(store.copies.front().to.slot, Slot::Home);
  EXPECT_EQ(store.movement.memories()[host_node].evicting, 600U);
  store.finish_copy();
  EXPECT_TRUE(store.valid(a, disk_node));
  EXPECT_FALSE(store.valid(a, host_node));
  EXPECT_TRUE(store.hold(reader));
}

TEST(Movement, PassesThroughTheNodeBetween) {
  Store store(test::three_levels(1000, 1000));
  DataId const a = store.stored("a", 100);
  auto const list = store.submit({read_write(a)});
  ASSERT_TRUE(store.hold(list, device_node));
  EXPECT_EQ(store.finish_copy().to.node, host_node);
  EXPECT_EQ(store.finish_copy().to.node, device_node);
  EXPECT_TRUE(store.movement.complete(list, device_node, false));
  store.work(list, device_node);
  EXPECT_FALSE(store.valid(a, host_node));
  EXPECT_FALSE(store.valid(a, disk_node));
  store.movement.flush({});
  store.settle();
  EXPECT_EQ(store.movement.homes().going(), 1U);
  EXPECT_EQ(store.finish_copy().to.node, host_node);
  EXPECT_EQ(store.finish_copy().to.node, disk_node);
  EXPECT_TRUE(store.movement.idle());
  EXPECT_TRUE(store.valid(a, disk_node));
}

TEST(Movement, StopsFetchingAValueThatIsOverwritten) {
  Store store(test::disk_and_host(1000, 1));
  DataId const a = store.stored("a", 100);
  DataId const b = store.stored("b", 100);
  auto const reader = store.submit({read(a), read(b)});
  ASSERT_TRUE(store.hold(reader));
  ASSERT_EQ(store.copies.size(), 1U);  // the link carries one; b waits
  store.movement.let_go(reader, host_node);
  store.movement.end_uses(reader);
  auto const writer = store.submit({write(b)});
  ASSERT_TRUE(store.hold(writer));
  store.movement.begin_work(writer, host_node);
  store.finish_copy();
  EXPECT_TRUE(store.copies.empty());
  EXPECT_EQ(store.movement.links().size(), 0U);
  store.movement.changes().end(writer[0], host_node);
  EXPECT_TRUE(store.valid(b, host_node));
  EXPECT_FALSE(store.valid(b, disk_node));
}

TEST(Movement, ForgetsAReleasedDatumOnceItsHomeHasTheValue) {
  Store store(test::disk_and_host(1000));
  DataId const a = store.stored("a", 100);
  auto const list = store.submit({write(a)});
  ASSERT_TRUE(store.hold(list));
  store.movement.retain(a);
  store.movement.release(a);
  store.work(list);
  EXPECT_TRUE(store.copies.empty());
  store.movement.release(a);
  store.settle();
  ASSERT_EQ(store.copies.size(), 1U);
  EXPECT_TRUE(store.movement.data().known(a));
  store.finish_copy();
  EXPECT_FALSE(store.movement.data().known(a));
  EXPECT_EQ(store.log.lines.back(), "forgotten 0");
  EXPECT_EQ(store.movement.memories()[host_node].ledger.used(), 0U);
  EXPECT_THROW(store.movement.release(a), InvalidArgument);
  EXPECT_EQ(store.stored("b", 100), a);  // the id is given again
}

TEST(Movement, KeepsAValueThatCannotBeWrittenHome) {
  Store store(test::disk_and_host(1000));
  DataId const a = store.stored("a", 100);
  auto const list = store.submit({write(a)});
  ASSERT_TRUE(store.hold(list));
  store.work(list);
  store.movement.flush({});
  store.settle();
  ASSERT_EQ(store.copies.size(), 1U);
  auto const transfer = store.movement.copy_failed(store.copies.front().transfer);
  EXPECT_TRUE(transfer.write_back);
  EXPECT_FALSE(store.movement.give_up_home(a, {}));  // the value is not lost
  store.movement.settle(transfer);
  store.settle();
  EXPECT_TRUE(store.movement.idle());
  EXPECT_TRUE(store.valid(a, host_node));
  store.copies.clear();
  store.movement.flush({});
  store.settle();
  EXPECT_TRUE(store.copies.empty());  // not tried again before the failure was reported
  store.movement.failures_reported();
  store.movement.flush({});
  store.settle();
  ASSERT_EQ(store.copies.size(), 1U);
  store.finish_copy();
  EXPECT_TRUE(store.valid(a, disk_node));
}

TEST(Movement, DropsEveryReplicaOfAPoisonedValue) {
  Store store(test::disk_and_host(1000));
  DataId const a = store.stored("a", 100);
  auto const list = store.submit({read_write(a)});
  ASSERT_TRUE(store.hold(list));
  store.finish_copy();
  store.movement.begin_work(list, host_node);
  EXPECT_TRUE(store.movement.changes().lose(a, host_node, 0));
  store.movement.end_work();
  store.movement.let_go(list, host_node);
  store.movement.end_uses(list);
  store.movement.changes().poison(a);
  store.settle();
  EXPECT_FALSE(store.movement.data()[a].has_value());
  EXPECT_FALSE(store.movement.data()[a].value.readable());
  EXPECT_EQ(store.movement.memories()[host_node].ledger.used(), 0U);
}

TEST(Movement, RefusesDescriptionsThatContradictThemselves) {
  Store store(test::disk_and_host(1000));
  auto const add = [&](DataDescription description) { static_cast<void>(store.movement.add(std::move(description))); };
  EXPECT_THROW(add({.name = "empty"}), InvalidArgument);
  EXPECT_THROW(add({.name = "nowhere", .bytes = 1, .origin = NodeId(9)}), InvalidArgument);
  EXPECT_THROW(add({.name = "two", .bytes = 1, .origin = disk_node, .origin_is_home = true}), InvalidArgument);
  EXPECT_THROW(add({.name = "in place", .bytes = 1, .home = disk_node, .in_place = true}), InvalidArgument);
  EXPECT_THROW(add({.name = "origin", .bytes = 1, .origin = host_node, .home = disk_node}), InvalidArgument);
  EXPECT_EQ(store.movement.data().size(), 0U);
}

}  // namespace
}  // namespace granary::detail
