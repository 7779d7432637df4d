// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/backends/blas_library.hpp>
#include <granary/core/backends/blas_threads.hpp>
#include <granary/linalg/kernels/kernel_speed.hpp>
#include <granary/linalg/runtime/blas_speed.hpp>
#include <granary/runtime/config.hpp>
#include <granary/runtime/warnings.hpp>

#include <cmath>
#include <mutex>
#include <string>

namespace granary::detail {
namespace {

void check_blas() {
  auto const blas = find_blas_library();
  auto const processor = processor_vector_units();
  auto const setting = faster_blas_setting(blas, processor);
  if (!setting || is_in_environment(setting->variable)) return;
  constexpr int tile = 256;
  SingleThreadedBlas const one_thread;
  double const gemm = measure_gemm<double>(tile), peak = fma_peak<double>();
  constexpr double giga = 1e9;
  warn_once(blas.name + " " + blas.version + " runs its " + blas.kernels + " kernels (" + name_of(blas.vectors()) +
            "), but this processor has " + name_of(processor) + ": GEMM makes " +
            std::to_string(std::lround(gemm / giga)) + " of the " + std::to_string(std::lround(peak / giga)) +
            " GFlop/s of a core; set " + setting->variable + "=" + setting->value + " before the program starts");
}

}  // namespace

void warn_of_slow_blas() {
  static std::once_flag once;
  std::call_once(once, check_blas);
}

}  // namespace granary::detail
