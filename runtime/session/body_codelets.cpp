// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/session/body_codelets.hpp>

#include <algorithm>

namespace granary::detail {

CodeletId BodyCodelets::find(std::string_view name, TaskCode const& code) {
  auto const first = std::ranges::find_if(code.kernels, [](Kernel kernel) { return kernel != nullptr; });
  auto const of = first != code.kernels.end() ? *first : nullptr;
  bool const checked = code.checked != nullptr;
  std::tuple const body(checked ? code.checked : of, code.external, checked);
  std::string others;
  {
    std::lock_guard const lock(m_mutex);
    auto& known = m_codelets[body];
    auto found = known.by_name.find(name);
    if (found == known.by_name.end() && known.by_name.size() >= most_task_names) {
      name = others = known.others;
      found = known.by_name.find(name);
    }
    if (found != known.by_name.end()) return found->second;
    if (known.others.empty()) known.others = "others like '" + std::string(name) + "'";
  }
  // Several threads may add the same codelet: the engine stores it once.
  auto const id = m_engine.add_codelet({.name = std::string(name),
                                        .kernels = code.kernels,
                                        .launches_kokkos_kernels = code.launches_kokkos_kernels,
                                        .variant = code.variant,
                                        .external = code.external,
                                        .restartable = code.restartable,
                                        .result_bytes = code.result_bytes});
  std::lock_guard const lock(m_mutex);
  m_codelets[body].by_name.emplace(name, id);
  return id;
}

}  // namespace granary::detail
