// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/codelet.hpp>

namespace granary {

/// The token of the restartable task whose body calls this on its own thread; other threads of the body get a copy. Of
/// other tasks, on devices and outside of tasks it is one that never asks to stop. A body is *restartable* if it
/// declares `static constexpr bool restartable = true`: then schedulers that abort tasks (heteroprio:spoliation=...)
/// may have it stopped on a core, and it runs again later, on the same data. It may not do what cannot be done twice.
///
/// ```cpp
/// struct Relax {
///   static constexpr bool launches_kokkos_kernels = false;
///   static constexpr bool restartable = true;
///   template <class Exec, class X>
///   void operator()(Exec const&, X x) const {
///     auto const stop = granary::stop_token();
///     for (int sweep = 0; sweep < 1000 && !stop.requested(); ++sweep) x() = (x() + 2 / x()) / 2;
///   }
/// };
/// granary::Runtime runtime;
/// auto const x = runtime.scalar("x", 1.0);
/// runtime.submit("relax", Relax{}, read_write(x));
/// assert(std::abs(x.get() * x.get() - 2) < 1e-12);
/// ```
[[nodiscard]] GRANARY_EXPORT detail::StopToken stop_token();

namespace detail {

// The token of the body that the thread runs, while this object exists.
class GRANARY_EXPORT StopScope {
 public:
  explicit StopScope(StopToken const& token);
  ~StopScope();
  StopScope(StopScope const&) = delete;

 private:
  StopToken m_outer;
};

}  // namespace detail
}  // namespace granary
