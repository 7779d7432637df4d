// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/runtime/api/data.hpp>

#include <type_traits>
#include <utility>

namespace granary {

/// One value that tasks compute; Runtime::scalar makes it. It is data of rank 0 for tasks: a body gets a View of rank 0
/// and accesses its element as `sum()`. Copies refer to the same value. Use it while the Runtime lives.
///
/// ```cpp
/// struct Larger {
///   static constexpr bool launches_kokkos_kernels = false;
///   double value;
///   template <class Exec, class X>
///   void operator()(Exec const&, X x) const {
///     if (value > x()) x() = value;
///   }
/// };
/// granary::Runtime runtime;
/// auto const largest = runtime.scalar("largest", 0.0);
/// for (double const value : {3.0, 7.0, 5.0}) runtime.submit("larger", Larger{value}, commute(largest));
/// assert(largest.get() == 7.0);
/// ```
template <class T>
class GRANARY_EXPORT Scalar : public Data<Kokkos::View<T, Kokkos::HostSpace>> {
 public:
  using View = Kokkos::View<T, Kokkos::HostSpace>;
  static_assert(std::is_trivially_copyable_v<T>, "granary moves values byte by byte");

  /// The value after the tasks submitted so far, for which it waits; see Runtime::wait(data…) for what it throws. No
  /// other thread submits tasks on it meanwhile.
  [[nodiscard]] T get() const;

 private:
  friend struct detail::Handles;
  Scalar(detail::Session& session, Data<View> data) : Data<View>(std::move(data)), m_session(&session) {}

  detail::Session* m_session;
};

}  // namespace granary
