// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/staged_copies.hpp>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/start_thread.hpp>
#include <granary/detail/core/engine/poll_pause.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace granary::detail {

namespace {

void copy_on_host(DeviceCopy const& copy) {
  for (std::uint64_t i = 0; i < copy.lines; ++i) {
    std::memcpy(copy.destination + i * copy.destination_pitch, copy.source + i * copy.source_pitch, copy.line);
  }
}

// The two halves of a piece's copy: in the slot its lines are packed.
DeviceCopy into_slot(DeviceCopy piece, std::byte* slot) {
  piece.destination = slot;
  piece.destination_pitch = piece.line;
  return piece;
}
DeviceCopy out_of_slot(DeviceCopy piece, std::byte const* slot) {
  piece.source = slot;
  piece.source_pitch = piece.line;
  return piece;
}

}  // namespace

// Whole lines if one fits in a slot, else parts of one.
DeviceCopy StagedCopies::Copy::next_piece() {
  auto piece = whole;
  piece.source += line * whole.source_pitch + offset;
  piece.destination += line * whole.destination_pitch + offset;
  if (whole.line <= slot_bytes) {
    piece.lines = std::min(whole.lines - line, slot_bytes / whole.line);
    line += piece.lines;
  } else {
    piece.lines = 1;
    piece.line = std::min(whole.line - offset, slot_bytes);
    offset += piece.line;
    if (offset == whole.line) {
      ++line;
      offset = 0;
    }
  }
  return piece;
}

StagedCopies::StagedCopies(std::shared_ptr<DeviceApi> api) : m_api(std::move(api)) {}

StagedCopies::~StagedCopies() {
  {
    std::lock_guard const lock(m_mutex);
    m_stop = true;
  }
  m_changed.notify_one();
  if (m_thread.joinable()) m_thread.join();
  for (auto const& slot : m_slots) m_api->free_pinned(slot.memory);
}

void StagedCopies::start(std::shared_ptr<detail::CopyStream> stream, DeviceCopy const& copy, CopyCompletion done) {
  auto staged = std::make_shared<Copy>();
  staged->stream = std::move(stream);
  staged->whole = copy;
  staged->done = std::move(done);
  {
    std::lock_guard const lock(m_mutex);
    if (!m_thread.joinable()) m_thread = start_thread("copies of a device", [this] { run(); });
    m_incoming.push_back(std::move(staged));
  }
  m_changed.notify_one();
}

void StagedCopies::run() {
  PollPause pause(std::chrono::microseconds(250));
  for (;;) {
    {
      std::unique_lock lock(m_mutex);
      if (m_waiting.empty() && m_busy == 0) {
        m_changed.wait(lock, [this] { return m_stop || !m_incoming.empty(); });
        if (m_incoming.empty()) return;
      }
      std::ranges::move(m_incoming, std::back_inserter(m_waiting));
      m_incoming.clear();
    }
    bool progress = retire();
    progress |= issue();
    if (progress) {
      pause.progress();
    } else {
      pause.pause();
    }
  }
}

// Frees the slots of completed pieces; returns whether there was one.
bool StagedCopies::retire() {
  bool retired = false;
  for (auto& slot : m_slots) {
    if (!slot.copy) continue;
    auto& copy = *slot.copy;
    try {
      if (!m_api->done(*slot.event)) continue;
      if (slot.piece.direction == DeviceCopy::Direction::ToHost) copy_on_host(out_of_slot(slot.piece, slot.memory));
    } catch (...) {
      if (!copy.error) copy.error = std::current_exception();
    }
    copy.stream->give_back(std::move(slot.event));
    --copy.under_way;
    --m_busy;
    auto const ended = std::exchange(slot.copy, nullptr);
    end_if_complete(*ended);
    retired = true;
  }
  return retired;
}

// Issues the next piece of the first copy whose link may use another slot; returns whether there was one.
bool StagedCopies::issue() {
  auto const found = std::ranges::find_if(m_waiting, [&](auto const& copy) { return may_issue(*copy); });
  if (found == m_waiting.end()) return false;
  auto const copy = *found;
  try {
    auto* const slot = copy->all_issued() ? nullptr : free_slot();
    if (slot == nullptr && !copy->all_issued()) return false;
    if (slot != nullptr) issue_piece(*slot, copy);
  } catch (...) {
    if (!copy->error) copy->error = std::current_exception();
  }
  if (copy->all_issued()) {
    m_waiting.erase(found);
    end_if_complete(*copy);
  }
  return true;
}

void StagedCopies::issue_piece(Slot& slot, std::shared_ptr<Copy> const& copy) {
  auto const piece = copy->next_piece();
  if (piece.direction == DeviceCopy::Direction::ToDevice) {
    copy_on_host(into_slot(piece, slot.memory));
    slot.event = copy->stream->enqueue(out_of_slot(piece, slot.memory));
  } else {
    slot.event = copy->stream->enqueue(into_slot(piece, slot.memory));
  }
  slot.piece = piece;
  slot.copy = copy;
  ++copy->under_way;
  ++m_busy;
}

bool StagedCopies::may_issue(Copy const& copy) const {
  if (copy.all_issued()) return true;
  auto const held =
      std::ranges::count_if(m_slots, [&](auto const& slot) { return slot.copy && slot.copy->stream == copy.stream; });
  return static_cast<std::size_t>(held) < most_slots_of_a_link;
}

// Returns null when all are busy. If some slots cannot be allocated, the others suffice.
StagedCopies::Slot* StagedCopies::free_slot() {
  auto const found = std::ranges::find_if(m_slots, [](auto const& slot) { return !slot.copy; });
  if (found != m_slots.end()) return &*found;
  if (m_slots.size() == most_slots) return nullptr;
  try {
    m_slots.reserve(most_slots);
    auto* const memory = m_api->allocate_pinned(slot_bytes);
    m_slots.emplace_back().memory = memory;
  } catch (DeviceError const&) {
    if (m_slots.empty()) throw;
    return nullptr;
  }
  return &m_slots.back();
}

void StagedCopies::end_if_complete(Copy& copy) {
  if (!copy.all_issued() || copy.under_way > 0 || !copy.done) return;
  std::exchange(copy.done, nullptr)(copy.error);
}

}  // namespace granary::detail
