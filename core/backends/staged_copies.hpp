// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/copy_stream.hpp>
#include <granary/detail/core/backends/device_api.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/engine/backend.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace granary::detail {

/// Copies between devices and host memory that is not pinned, piece by piece through a bounded ring of pinned slots:
/// the processor's and the link's transfers overlap. Its thread starts with the first copy; slots are allocated on
/// demand.
class GRANARY_EXPORT StagedCopies {
 public:
  static constexpr Bytes slot_bytes = 4_MiB;
  static constexpr std::size_t most_slots = 8;
  static constexpr std::size_t most_slots_of_a_link = 4;

  explicit StagedCopies(std::shared_ptr<DeviceApi> api);
  /// Completes all requested copies first.
  ~StagedCopies();
  StagedCopies(StagedCopies const&) = delete;
  StagedCopies& operator=(StagedCopies const&) = delete;

  /// Copies of one stream are performed in order. `done` is called on the thread of the copies, without holding a lock.
  void start(std::shared_ptr<detail::CopyStream> stream, DeviceCopy const& copy, CopyCompletion done);

 private:
  struct Copy {
    std::shared_ptr<detail::CopyStream> stream;
    DeviceCopy whole;
    CopyCompletion done;
    std::uint64_t line = 0;  ///< with `offset`: where the next piece begins
    Bytes offset = 0;
    std::size_t under_way = 0;  ///< pieces
    std::exception_ptr error;

    [[nodiscard]] bool all_issued() const { return error != nullptr || line == whole.lines; }
    /// Between the two ends, without the slot.
    [[nodiscard]] DeviceCopy next_piece();
  };
  struct Slot {
    std::byte* memory = nullptr;
    std::shared_ptr<Copy> copy;  ///< null: free
    DeviceCopy piece;            ///< between the two ends
    std::unique_ptr<DeviceApi::Event> event;
  };

  void run();
  bool retire();
  bool issue();
  void issue_piece(Slot& slot, std::shared_ptr<Copy> const& copy);
  [[nodiscard]] bool may_issue(Copy const& copy) const;
  [[nodiscard]] Slot* free_slot();
  static void end_if_complete(Copy& copy);

  std::shared_ptr<DeviceApi> m_api;

  // Used by the thread.
  std::deque<std::shared_ptr<Copy>> m_waiting;  // with pieces still to issue
  std::vector<Slot> m_slots;
  std::size_t m_busy = 0;  // slots

  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::deque<std::shared_ptr<Copy>> m_incoming;
  bool m_stop = false;
  std::thread m_thread;
};

}  // namespace granary::detail
