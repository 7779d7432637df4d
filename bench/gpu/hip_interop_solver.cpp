// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/gpu/vendor_solver.hpp"

#include <granary/detail/core/base/error.hpp>

#if defined(GRANARY_HAVE_ROCSOLVER)
#include <hip/hip_runtime_api.h>
#include <rocsolver/rocsolver.h>

#include <chrono>
#include <memory>
#include <type_traits>
#endif

#include <cstddef>
#include <string>

namespace granary::bench {

namespace {

#if defined(GRANARY_HAVE_ROCSOLVER)
void check(hipError_t status, char const* what) {
  if (status != hipSuccess) throw DeviceError(std::string(what) + ": " + hipGetErrorString(status));
}
void check(rocblas_status status, char const* what) {
  if (status != rocblas_status_success) {
    throw DeviceError(std::string(what) + ": " + rocblas_status_to_string(status));
  }
}

struct Free {
  void operator()(void* memory) const { static_cast<void>(hipFree(memory)); }
};
std::unique_ptr<std::byte, Free> allocate(std::size_t bytes) {
  void* memory = nullptr;
  check(hipMalloc(&memory, bytes), "hipMalloc for rocSOLVER");
  return std::unique_ptr<std::byte, Free>(static_cast<std::byte*>(memory));
}

struct Solver {
  Solver() { check(rocblas_create_handle(&handle), "rocblas_create_handle"); }
  ~Solver() { rocblas_destroy_handle(handle); }
  Solver(Solver const&) = delete;
  Solver& operator=(Solver const&) = delete;

  rocblas_handle handle = nullptr;
};

template <class Function>
double seconds_of(Function&& function) {
  auto const start = std::chrono::steady_clock::now();
  function();
  check(hipDeviceSynchronize(), "rocSOLVER");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

#endif

}  // namespace

#if defined(GRANARY_HAVE_ROCSOLVER)
template <class T>
VendorTimes vendor_times(Operation operation, std::int64_t n, T* a) {
  auto const order = static_cast<std::size_t>(n);
  auto const rows = static_cast<rocblas_int>(n);
  check(hipSetDevice(0), "hipSetDevice");
  Solver const solver;
  auto const memory = allocate(order * order * sizeof(T));
  auto const exchanges = allocate(order * sizeof(rocblas_int));
  auto const info = allocate(sizeof(rocblas_int));
  auto* const matrix = reinterpret_cast<T*>(memory.get());
  auto* const exchanged = reinterpret_cast<rocblas_int*>(exchanges.get());
  auto* const failed = reinterpret_cast<rocblas_int*>(info.get());
  auto const run = [&](Operation what) {
    auto const lower = rocblas_fill_lower;
    if constexpr (std::is_same_v<T, float>) {
      check(what == Operation::Getrf   ? rocsolver_sgetrf(solver.handle, rows, rows, matrix, rows, exchanged, failed)
            : what == Operation::Potrf ? rocsolver_spotrf(solver.handle, lower, rows, matrix, rows, failed)
                                       : rocsolver_spotri(solver.handle, lower, rows, matrix, rows, failed),
            "solving with rocSOLVER");
    } else {
      check(what == Operation::Getrf   ? rocsolver_dgetrf(solver.handle, rows, rows, matrix, rows, exchanged, failed)
            : what == Operation::Potrf ? rocsolver_dpotrf(solver.handle, lower, rows, matrix, rows, failed)
                                       : rocsolver_dpotri(solver.handle, lower, rows, matrix, rows, failed),
            "solving with rocSOLVER");
    }
    rocblas_int met = 0;
    check(hipMemcpy(&met, failed, sizeof met, hipMemcpyDeviceToHost), "hipMemcpy");
    if (met != 0) throw DeviceError("rocSOLVER's info is " + std::to_string(met));
  };
  VendorTimes times;
  times.to_device = seconds_of([&] {
    check(hipMemcpyAsync(matrix, a, order * order * sizeof(T), hipMemcpyHostToDevice, nullptr), "hipMemcpy");
  });
  if (operation == Operation::Potri) run(Operation::Potrf);
  times.solver = seconds_of([&] { run(operation); });
  times.to_host = seconds_of([&] {
    check(hipMemcpyAsync(a, matrix, order * order * sizeof(T), hipMemcpyDeviceToHost, nullptr), "hipMemcpy");
  });
  return times;
}
#else
template <class T>
VendorTimes vendor_times(Operation, std::int64_t, T*) {
  throw DeviceError("this build has no rocSOLVER to compare with");
}
#endif
template VendorTimes vendor_times<float>(Operation, std::int64_t, float*);
template VendorTimes vendor_times<double>(Operation, std::int64_t, double*);

}  // namespace granary::bench
