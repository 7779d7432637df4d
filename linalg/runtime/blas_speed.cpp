// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/blas_library.hpp>
#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/linalg/kernels/kernel_speed.hpp>
#include <granary/detail/linalg/runtime/blas_speed.hpp>
#include <granary/detail/runtime/setup/environment.hpp>
#include <granary/detail/runtime/setup/warnings.hpp>

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

std::string giga(double flops_per_second) { return std::to_string(std::lround(flops_per_second * 1e-9)); }

// Of a library about which nothing is known but its name: of another vendor, or the reference BLAS.
void check_unknown(BlasLibrary const& blas) {
  // A part of the peak that tuned kernels exceed by far, and plain loops do not reach.
  constexpr double least_part = 0.3;
  // One thread does not exceed the peak by so much, however the two were measured.
  constexpr double several_threads = 1.2;
  double const gemm = measured_gemm(), peak = fma_peak<double>();
  if (gemm > several_threads * peak) {
    warn_once("the BLAS " + blas.name + " seems to run threads of its own, which granary cannot stop: " +
              describe_speed(gemm, peak) + "; set its number of threads to one before the program starts");
  }
  if (gemm < least_part * peak) {
    warn_once("the BLAS " + blas.name + " is slow: " + describe_speed(gemm, peak) + "; install OpenBLAS, BLIS or MKL");
  }
}

void check_blas() {
  auto const blas = find_blas_library();
  if (blas.version.empty()) return check_unknown(blas);
  auto const processor = processor_vector_units();
  auto const setting = faster_blas_setting(blas, processor);
  if (!setting || is_in_environment(setting->variable)) return;
  warn_once(blas.name + " " + blas.version + " runs its " + blas.kernels + " kernels (" + name_of(blas.vectors()) +
            "), but this processor has " + name_of(processor) + ": " +
            describe_speed(measured_gemm(), fma_peak<double>()) + "; set " + setting->variable + "=" + setting->value +
            " before the program starts");
}

}  // namespace

std::string describe_speed(double gemm, double peak) {
  if (gemm > peak) return "GEMM makes " + giga(gemm) + " GFlop/s, where multiply-adds of one thread make " + giga(peak);
  return "GEMM makes " + giga(gemm) + " of the " + giga(peak) + " GFlop/s of a core";
}

void warn_of_slow_blas() {
  static std::once_flag once;
  std::call_once(once, check_blas);
}

}  // namespace granary::detail
