// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/runtime/session/held_data.hpp>

#include <exception>
#include <functional>
#include <utility>

namespace granary {

namespace detail {

/// A call of linear algebra that was submitted: what all kinds of Pending have.
class GRANARY_EXPORT PendingCall {
 public:
  /// Of a call that writes `results` and reads `operands`; `check`, if any, throws after the wait what the results say.
  PendingCall(detail::HeldData results, detail::HeldData operands, TaskOrigin call,
              std::function<void()> check = nullptr)
      : m_results(std::move(results)),
        m_operands(std::move(operands)),
        m_call(std::move(call)),
        m_check(std::move(check)) {}

  /// True if the call's tasks have ended, and all tasks submitted since on the same matrices: `wait` then only brings
  /// results to their homes.
  [[nodiscard]] bool done() {
    return m_waited || m_results.session() == nullptr || !(m_results.in_use() || m_operands.in_use());
  }
  /// Returns when no submitted task uses the Views and results of the call, and these are at home: Views and the
  /// outputs of FileMatrix have their final values. Other tasks run on. Throws the first failure that concerns the
  /// results: InvalidArgument for NaN or infinity, NotPositiveDefinite, Singular, or a failure of another task on which
  /// they depend, unless another wait has reported it before; with the line of the call, see TaskError. Further calls
  /// throw the same again, or return at once. Throws InvalidArgument inside a task of the same Runtime, after a move,
  /// and if the Runtime has ended before.
  void wait();

 private:
  detail::HeldData m_results;
  detail::HeldData m_operands;  // that are only read
  TaskOrigin m_call;
  std::function<void()> m_check;
  std::exception_ptr m_error;
  bool m_waited = false;
};

}  // namespace detail

/// A call of `granary::async` whose tasks were submitted. It may be moved, and dropped at any time: its tasks run on,
/// and the next Runtime::wait reports their failures. Only `wait` looks at results: of getrf and gesv, whether a pivot
/// is exactly zero. One thread uses it at a time.
///
/// ```cpp
/// using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
/// std::vector<granary::Pending<>> solves;
/// std::vector<Matrix> solutions;
/// granary::Runtime runtime;
/// for (double const diagonal : {1.0, 2.0, 4.0}) {
///   Matrix a("A", 300, 300), b("B", 300, 1);
///   Kokkos::deep_copy(b, 8.0);
///   granary::async::set(runtime, 0.0, diagonal, a);
///   solves.push_back(granary::async::posv(runtime, granary::Uplo::Lower, a, b));  // submits and returns
///   solutions.push_back(b);
/// }
/// for (auto& solve : solves) solve.wait();  // throws what concerns this system
/// assert(solutions[2](299, 0) == 2.0);
/// ```
///
/// Until the end of `wait`, the tiles of its Views are data in use: the application accesses them in tasks only.
template <class T = void>
class GRANARY_EXPORT Pending : public detail::PendingCall {
 public:
  Pending(PendingCall call, std::function<T()> result) : PendingCall(std::move(call)), m_result(std::move(result)) {}

  /// Waits, and returns the result.
  [[nodiscard]] T get() {
    wait();
    return m_result();
  }

 private:
  std::function<T()> m_result;
};

/// Without a result.
template <>
class GRANARY_EXPORT Pending<void> : public detail::PendingCall {
 public:
  using PendingCall::PendingCall;
};

}  // namespace granary
