// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/vector_units.hpp>

namespace granary::detail {

char const* name_of(VectorUnits units) {
  switch (units) {
    case VectorUnits::Sse:
      return "SSE";
    case VectorUnits::Avx:
      return "AVX";
    case VectorUnits::Avx2:
      return "AVX2";
    case VectorUnits::Avx512:
      return "AVX-512";
    case VectorUnits::Unknown:
      break;
  }
  return "unknown";
}

VectorUnits processor_vector_units() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return VectorUnits::Avx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return VectorUnits::Avx2;
  return __builtin_cpu_supports("avx") ? VectorUnits::Avx : VectorUnits::Sse;
#else
  return VectorUnits::Unknown;
#endif
}

}  // namespace granary::detail
