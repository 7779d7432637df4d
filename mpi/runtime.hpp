// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/runtime/api/runtime.hpp>
#include <granary/detail/runtime/setup/options.hpp>

#include <mpi.h>

namespace granary::mpi {

/// A Runtime of several processes: all call this, with the same options except for limits and workers, and then submit
/// the same data and tasks in the same order. Each runs the tasks that write its own data; values go to where tasks
/// read them. `wait`, `wait(data…)` and Scalar::get are collective, and throw the same in all.
///
/// The cores, the memory and the devices of a node are divided among its processes where neither options nor the
/// environment ask for them. MPI is initialised with MPI_THREAD_SERIALIZED, or with MPI_THREAD_MULTIPLE if the
/// application calls MPI itself while the Runtime exists; otherwise InvalidArgument is thrown. The communicator is
/// duplicated. Of a View that is registered, the one of the datum's owner counts: Runtime::assign.
///
/// ```cpp
/// struct Fill {
///   static constexpr bool launches_kokkos_kernels = false;
///   double value;
///   template <class Exec, class X>
///   void operator()(Exec const&, X x) const {
///     for (std::size_t i = 0; i < x.extent(0); ++i) x(i) = value;
///   }
/// };
/// struct Add {
///   static constexpr bool launches_kokkos_kernels = false;
///   template <class Exec, class Sum, class X>
///   void operator()(Exec const&, Sum sum, X x) const {
///     for (std::size_t i = 0; i < x.extent(0); ++i) sum() += x(i);
///   }
/// };
/// void run() {  // between MPI_Init_thread and MPI_Finalize, in all processes
///   granary::Runtime runtime = granary::mpi::runtime(MPI_COMM_WORLD);
///   auto const sum = runtime.scalar("sum", 0.0);
///   for (unsigned p = 0; p < runtime.processes(); ++p) {
///     auto const x = runtime.temporary<double>("x", 1000);
///     runtime.assign(x, granary::ProcessId(p));
///     runtime.submit("fill", Fill{1.0}, write(x));           // in process p
///     runtime.submit("add", Add{}, read_write(sum), read(x));  // in the owner of the sum
///   }
///   double const total = sum.get();  // in all of them
///   assert(total == 1000.0 * runtime.processes());
/// }
/// ```
[[nodiscard]] GRANARY_EXPORT Runtime runtime(MPI_Comm communicator, RuntimeOptions const& options = {});

}  // namespace granary::mpi
