// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: a View of the body is in a memory space that the host's Views cannot be assigned to: make its type a
// template's, or declare 'static constexpr bool device_only = true'
#include "../program.hpp"

struct Far {  // as the memory of a device that the host can access
  using memory_space = Far;
  using execution_space = granary::detail::HostExecutionSpace;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using size_type = std::size_t;
};

template <>
struct Kokkos::Impl::MemorySpaceAccess<Kokkos::HostSpace, Far> {
  enum { assignable = false, accessible = true, deepcopy = true };
};

struct Updates {
  template <class Exec>
  void operator()(Exec const&, Kokkos::View<double*, Far, Kokkos::MemoryTraits<Kokkos::Unmanaged>>) const {}
};

void wrong() { runtime.submit("updates", Updates{}, read_write(x)); }
