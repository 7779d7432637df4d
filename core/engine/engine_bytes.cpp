// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data in the application's memory: one datum for the same bytes, and an order for data that overlap.
#include <granary/core/base/error.hpp>
#include <granary/core/engine/engine.hpp>
#include <granary/core/engine/engine_section.hpp>

#include <algorithm>
#include <utility>

namespace granary {

SharedData Engine::add_host_data(DataDescription description, HostBinding binding, ByteSet bytes) {
  auto shared = apply([&](Section& section) {
    if (auto const data = bytes.empty() ? DataId() : m_bytes.find(bytes);
        data.valid() && m_addresses.binding(data).same_form(binding)) {
      m_planner.retain_data(data);
      record(RetainData{data});
      return SharedData{data, m_addresses.share(data, std::move(binding))};
    }
    auto keep = binding.keep;
    auto const added = register_data(section, std::move(description), std::move(binding), nullptr);
    m_bytes.add(added, std::move(bytes));
    return SharedData{added, std::move(keep)};
  });
  try_drain();
  return shared;
}

// Throws if the wait would never end.
bool Engine::bytes_in_use(TaskSubmission const& submission) const {
  AccessList const accesses(submission.accesses);
  bool in_use = false;
  for (auto const& access : accesses) {
    if (access.repeated) continue;
    for (DataId const other : m_bytes.overlapping(access.data)) {
      auto const* const beside = std::ranges::find(accesses, other, &Access::data);
      bool const listed = beside != accesses.end();
      bool const accessed = m_planner.accessed(other) || listed;
      bool const written = m_planner.written(other) || (listed && writes(beside->mode));
      if (!written && !(accessed && writes(access.mode))) continue;
      auto const refuse = [&](std::string const& why) {
        throw InvalidArgument("task '" + m_planner.codelet(submission.codelet).name + "' " +
                              (writes(access.mode) ? "writes" : "reads") + " data '" +
                              m_planner.description(access.data).name + "', which shares bytes with data '" +
                              m_planner.description(other).name + "' " + why);
      };
      if (m_planner.held(other)) {
        refuse("but is not the same datum: destroy all handles of '" + m_planner.description(other).name +
               "' first, or use one handle for both");
      }
      if (m_planner.idle()) refuse("that a failure left in use: call wait(), which reports it");
      if (works_here()) refuse("that tasks still use: a task cannot wait for them");
      in_use = true;
    }
  }
  return in_use;
}

}  // namespace granary
