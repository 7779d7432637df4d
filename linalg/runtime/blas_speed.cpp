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

constexpr int measured_tile = 256;

double measured_gemm() {
  BlasLimit const one_thread(1);
  return measure_gemm<double>(measured_tile);
}

long giga(double flops_per_second) { return std::lround(flops_per_second * 1e-9); }

std::string speed_of(double gemm, double peak) {
  return "GEMM makes " + std::to_string(giga(gemm)) + " of the " + std::to_string(giga(peak)) + " GFlop/s of a core";
}

// Of a library about which nothing is known but its name: of another vendor, or the reference BLAS.
void check_unknown(BlasLibrary const& blas) {
  // A part of the peak that tuned kernels exceed by far, and plain loops do not reach.
  constexpr double least_part = 0.3;
  double const gemm = measured_gemm(), peak = fma_peak<double>();
  if (gemm > peak) {
    warn_once("the BLAS " + blas.name + " seems to run threads of its own, which granary cannot stop: " +
              speed_of(gemm, peak) + "; set its number of threads to one before the program starts");
  }
  if (gemm < least_part * peak) {
    warn_once("the BLAS " + blas.name + " is slow: " + speed_of(gemm, peak) + "; install OpenBLAS, BLIS or MKL");
  }
}

void check_blas() {
  auto const blas = find_blas_library();
  if (blas.version.empty()) return check_unknown(blas);
  auto const processor = processor_vector_units();
  auto const setting = faster_blas_setting(blas, processor);
  if (!setting || is_in_environment(setting->variable)) return;
  warn_once(blas.name + " " + blas.version + " runs its " + blas.kernels + " kernels (" + name_of(blas.vectors()) +
            "), but this processor has " + name_of(processor) + ": " + speed_of(measured_gemm(), fma_peak<double>()) +
            "; set " + setting->variable + "=" + setting->value + " before the program starts");
}

}  // namespace

void warn_of_slow_blas() {
  static std::once_flag once;
  std::call_once(once, check_blas);
}

}  // namespace granary::detail
