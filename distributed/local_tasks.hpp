// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/model/submitter.hpp>
#include <granary/detail/distributed/exchange.hpp>

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace granary::detail {

/// One process's part of a common order of tasks: its own data and tasks, a stub for each value of another process
/// that its tasks read, and one for each of its values and each process that reads it.
class GRANARY_EXPORT LocalTasks {
 public:
  /// `peers`: the node of the other processes. Adds the codelets of the stubs: all processes do so first, so that
  /// codelets have the same ids everywhere.
  LocalTasks(Submitter& submitter, NodeId peers, Exchange& exchange);

  /// `local`: its id in this process.
  void add_data(DataKey key, DataId local) { m_own.emplace(key, local); }
  void add_data(DataKey key, DataDescription description) {
    add_data(key, m_submitter.add_data(std::move(description)));
  }
  void release_data(DataKey key);
  /// The id of a datum of this process; otherwise an invalid one.
  [[nodiscard]] DataId local(DataKey key) const {
    auto const own = m_own.find(key);
    return own != m_own.end() ? own->second : DataId{};
  }
  /// A datum of another process, of which this one may read values.
  struct Remote {
    ProcessId owner;
    ValueId value;
    DataDescription const* description;
    DataId local = {};  ///< its datum in this process, without a value yet; invalid: it is to be registered
  };
  /// A datum here for a value of another process.
  [[nodiscard]] DataDescription incoming(DataDescription const& datum) const {
    return {
        .name = datum.name, .bytes = datum.bytes, .home = m_peers, .position = datum.position, .bound = datum.bound};
  }
  /// A task of this process, whose accesses name keys. `remote(DataKey key)` describes data of other processes. Throws
  /// as Submitter::submit; then stubs of incoming values may have been submitted.
  template <class RemoteOf>
  TaskId submit(TaskSubmission submission, Parameters parameters, RemoteOf&& remote) {
    m_accesses.assign(submission.accesses.begin(), submission.accesses.end());
    for (auto& access : m_accesses) {
      DataKey const key = key_of(access.data);
      if (auto const own = m_own.find(key); own != m_own.end()) {
        access.data = own->second;
      } else {
        auto const held = m_held.find(key);
        access.data = held != m_held.end() ? held->second : arrive(remote(key), submission);
      }
    }
    submission.accesses = m_accesses;
    return m_submitter.submit(submission, std::move(parameters));
  }
  /// A task of another process, submitted here as `reader`, reads the value of this process.
  void ship(ValueId value, ProcessId reader, TaskSubmission const& reading);
  /// No task of this process that is submitted from now on reads the present value of this datum of another one.
  void let_go(DataKey key);
  /// The same for all.
  void let_go_of_all();

 private:
  DataId arrive(Remote const& remote, TaskSubmission const& reading);

  Submitter& m_submitter;
  NodeId m_peers;
  Exchange& m_exchange;
  CodeletId m_incoming_value;
  CodeletId m_outgoing_value;
  std::unordered_map<DataKey, DataId> m_own;   // by key: data of this process
  std::unordered_map<DataKey, DataId> m_held;  // by key: the present values of others
  std::vector<Access> m_accesses;              // scratch
};

}  // namespace granary::detail
