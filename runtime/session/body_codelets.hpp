// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/core/model/submitter.hpp>
#include <granary/detail/runtime/session/task_code.hpp>
#include <granary/detail/runtime/session/task_info.hpp>

#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

namespace granary::detail {

/// The codelets of an engine for the bodies of tasks, by name. Thread-safe.
class BodyCodelets {
 public:
  explicit BodyCodelets(Engine& engine) : m_engine(engine) {}

  /// The codelet of this code and name, or of the name that stands for too many.
  [[nodiscard]] CodeletId find(std::string_view name, TaskCode const& code);
  /// The submission of such a task.
  [[nodiscard]] TaskSubmission submission(TaskInfo const& info, TaskCode const& code,
                                          std::span<Access const> accesses) {
    return {.codelet = find(info.name.text, code),
            .accesses = accesses,
            .priority = info.priority,
            .flops = info.flops,
            .source_line = info.name.source_line};
  }

 private:
  struct OfBody {
    std::map<std::string, CodeletId, std::less<>> by_name;
    std::string others;  // the name that all share beyond most_task_names
  };

  Engine& m_engine;
  std::mutex m_mutex;  // never held while the engine is called
  // By the body's first kernel, whether it is external, and whether it is checked.
  std::map<std::tuple<Kernel, bool, bool>, OfBody> m_codelets;
};

}  // namespace granary::detail
