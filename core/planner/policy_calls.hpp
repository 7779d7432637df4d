// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/planner/context.hpp>
#include <granary/detail/core/planner/movement/data_table.hpp>
#include <granary/detail/core/policy/policy.hpp>

#include <string>
#include <type_traits>

namespace granary::detail {

/// Calls the functions of a policy, which is foreign code. The first policy of a planner that throws or breaks its
/// contract is at fault, and the run ends (PlannerContext::policy_fault). From then on no policy is called, since its
/// state may be wrong: all answers are as if there were nothing to choose. The planner itself stays as it was, so that
/// running tasks end, values get home, and the failure is reported like others.
///
/// A call costs two comparisons more than without this.
class PolicyCalls {
 public:
  /// `kind`: "scheduler".
  PolicyCalls(PlannerContext& context, char const* kind, Policy const& policy)
      : m_context(context), m_kind(kind), m_policy(policy) {}
  /// For the names of data in messages.
  void look_into(DataTable const& data) { m_data = &data; }
  [[nodiscard]] DataTable const& data() const { return *m_data; }

  [[nodiscard]] bool ended() const { return m_context.policy_fault != nullptr; }
  /// Calls `function`. `subject()` tells what the call concerns: "task 'gemm' 17", or nothing.
  template <class Function, class Subject>
  std::invoke_result_t<Function> call(char const* name, Function&& function, Subject&& subject) const {
    using Result = std::invoke_result_t<Function>;
    if (ended()) return Result();
    try {
      if constexpr (std::is_void_v<Result>) {
        return function();
      } else {
        Result const result = function();
        return ended() ? Result() : result;
      }
    } catch (...) {
      threw(name, subject());
      return Result();
    }
  }
  /// Calls `function`, which may refuse with one of granary's errors, while nothing has changed: what it throws is
  /// thrown.
  template <class Function>
  std::invoke_result_t<Function> call_to_refuse(char const* name, Function&& function) const {
    try {
      return function();
    } catch (...) {
      rethrow(name);
    }
  }
  /// The policy has broken its contract. `what` ends the sentence that begins with its name: "gave task 'gemm' 17,
  /// which is not ready".
  void blame(std::string const& what) const;

  [[nodiscard]] std::string name_of(DataId data) const;
  [[nodiscard]] std::string name_of(NodeId node) const;
  /// "'A(3,2)' in memory node 'gpu0'".
  [[nodiscard]] std::string name_of(DataId data, NodeId node) const;

 private:
  // To be called where the exception is handled.
  void threw(char const* name, std::string const& subject) const;
  [[noreturn]] void rethrow(char const* name) const;
  void note(std::exception_ptr error) const;
  [[nodiscard]] std::string who() const;

  PlannerContext& m_context;
  char const* m_kind;
  Policy const& m_policy;
  DataTable const* m_data = nullptr;
};

}  // namespace granary::detail
