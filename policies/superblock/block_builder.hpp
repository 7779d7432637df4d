// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/indexed_heap.hpp>
#include <granary/detail/core/policy/system_view.hpp>
#include <granary/detail/core/policy/task_slots.hpp>
#include <granary/detail/policies/common/slower_groups.hpp>
#include <granary/detail/policies/superblock/ready_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace granary::detail {

/// Forms the blocks of SuperblockScheduler. A *written datum* has a chain: the tasks whose first written datum it is
/// and which were not given to a group yet. It is *closed* while some input of its chain is still to be written and has
/// no owner: its chain could not run to its end.
///
/// A block grows from a seed. Each step adds the open datum that suits the block's group and has the largest share of
/// inputs that the block already reads or writes; among equals the one whose other inputs are read by the most data
/// next to the block, which keeps blocks compact; then by priority. A block is full when its data and, per step of its
/// longest chain, its inputs fill the given part of the memory.
class GRANARY_EXPORT BlockBuilder {
 public:
  BlockBuilder(double fill, double share) : m_fill(fill), m_share(share) {}
  /// `slower` must outlive the builder.
  void attach(SystemView const& view, SlowerGroups const& slower) {
    m_view = &view;
    m_slower = &slower;
  }

  /// The first datum that the task writes; invalid when it writes none.
  [[nodiscard]] static DataId written(Task const& task);
  void add(Task const& task);
  /// The task leaves its chain: it was given to a group, or will not run.
  void leave(Task const& task);
  /// A task that left ended; a datum without tasks has no owner.
  void ended(Task const& task);

  [[nodiscard]] GroupId owner(DataId data) const { return m_data[data.index()].owner; }
  [[nodiscard]] std::uint64_t block(DataId data) const { return m_data[data.index()].block; }
  [[nodiscard]] std::vector<TaskId> const& chain(DataId data) const { return m_data[data.index()].chain; }
  void own(DataId data, GroupId group, std::uint64_t block);
  /// The datum, whose chain is not empty, has no owner any more.
  void disown(DataId data);

  /// The task around which to form a block for the group: the most urgent ready task for it, of an open datum that
  /// suits it if there is one; invalid if the pool has none for the group.
  [[nodiscard]] TaskId seed(ReadyPool const& pool, GroupId group) const {
    TaskId const open = pool.first_of(group, seeds, [&](TaskId task) {
      DataId const data = written(m_view->task(task));
      return m_data[data.index()].closing == 0 && suits(data, group);
    });
    return open.valid() ? open : pool.first(group);
  }
  /// True if the group is fast enough on the datum's chain to own it; tasks that it may not run do not count. See
  /// SlowerGroups::fast_on_all.
  [[nodiscard]] bool suits(DataId data, GroupId group) const {
    return m_slower->fast_on_all(m_data[data.index()].chain, group);
  }
  /// The data of a block around the seed's datum. Calls `claim(datum)` for each datum that joins; it must make the
  /// group its owner.
  template <class Claim>
  void grow(TaskId seed, GroupId group, Claim&& claim) {
    start(seed, group);
    for (DataId data = written(m_view->task(seed)); data.valid() && admit(data); data = best()) {
      claim(data);
      join(data);
    }
  }

 private:
  struct Datum {
    std::vector<TaskId> chain;
    std::vector<TaskId> readers;  // of its value; some were given to a group or removed
    std::uint32_t reading = 0;    // of these, the others
    GroupId owner;
    std::uint64_t block = 0;
    std::uint32_t unfinished = 0;  // tasks that write it, including those given to a group
    std::uint32_t inputs = 0;      // of its chain, once per task
    std::uint32_t closing = 0;     // of these, those without owner that are still to be written
    std::uint64_t in_block = 0;    // the block growth in which it became part or input of the block
    std::uint64_t beside = 0;      // the block growth in which it first shared inputs with the block
    std::uint64_t judged = 0;      // the block growth for which `suits` holds
    std::uint32_t shared = 0;      // of its inputs, those in the block
    bool touched = false;          // is in m_touched
    bool suits = false;            // its chain suits the block's group
  };
  struct Candidate {
    std::uint64_t shared;
    std::uint64_t inputs;
    std::int64_t priority;
    std::uint32_t data;
  };
  struct Better {
    bool operator()(Candidate const& a, Candidate const& b) const;
  };
  struct Growth {
    GroupId group;
    double room = 0;       // bytes
    double most_data = 0;  // limit of its data
    double bytes = 0;
    double input_bytes = 0;
    double steps = 1;
    std::size_t data = 0;
  };

  // The number of ready tasks that are considered as the seed of a block.
  static constexpr std::size_t seeds = 64;

  [[nodiscard]] bool suits_block(DataId data);
  [[nodiscard]] double part_of(GroupId group, TaskId seed) const;
  void start(TaskId seed, GroupId group);
  [[nodiscard]] bool admit(DataId data);
  void join(DataId data);
  void enter(DataId input);
  [[nodiscard]] DataId best();
  [[nodiscard]] std::uint64_t neighbours(DataId data);
  void open_readers(DataId data, TaskId after);
  void touch(std::uint32_t data);
  void rank_touched();
  template <class Function>
  void for_each_reader(DataId data, Function&& function);
  void forget_gone_readers(DataId data);
  template <class Function>
  void for_each_input(TaskId task, DataId written, Function&& function) const;

  SystemView const* m_view = nullptr;
  SlowerGroups const* m_slower = nullptr;
  double m_fill;
  double m_share;
  std::vector<Datum> m_data;
  TaskSlots m_chain_of;    // the written datum of each task in a chain
  std::size_t m_open = 0;  // written data with unfinished tasks
  IndexedHeap<Candidate, Better> m_candidates;
  std::vector<std::uint32_t> m_ranked;   // added to m_candidates in this growth
  std::vector<std::uint32_t> m_touched;  // their position among the candidates is out of date
  std::uint64_t m_growth = 0;
  Growth m_block;
};

}  // namespace granary::detail
