// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/gpu/vendor_factor.hpp"

#include <granary/core/base/error.hpp>

#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace granary::bench {

namespace {

void check(cudaError_t status, char const* what) {
  if (status != cudaSuccess) throw DeviceError(std::string(what) + ": " + cudaGetErrorString(status));
}
void check(cusolverStatus_t status, char const* what) {
  if (status != CUSOLVER_STATUS_SUCCESS) {
    throw DeviceError(std::string(what) + ": cuSOLVER status " + std::to_string(static_cast<int>(status)));
  }
}

struct Free {
  void operator()(void* memory) const { static_cast<void>(cudaFree(memory)); }
};
std::unique_ptr<std::byte, Free> allocate(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc for cuSOLVER");
  return std::unique_ptr<std::byte, Free>(static_cast<std::byte*>(memory));
}

struct Solver {
  Solver() {
    check(cusolverDnCreate(&handle), "cusolverDnCreate");
    check(cusolverDnCreateParams(&parameters), "cusolverDnCreateParams");
  }
  ~Solver() {
    cusolverDnDestroyParams(parameters);
    cusolverDnDestroy(handle);
  }
  Solver(Solver const&) = delete;
  Solver& operator=(Solver const&) = delete;

  cusolverDnHandle_t handle = nullptr;
  cusolverDnParams_t parameters = nullptr;
};

template <class Function>
double seconds_of(Function&& function) {
  auto const start = std::chrono::steady_clock::now();
  function();
  check(cudaDeviceSynchronize(), "cuSOLVER");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// `pivots`: getrf, else potrf.
template <class T>
VendorTimes factor(std::int64_t n, T* a, bool pivots) {
  auto const type = std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_64F;
  auto const lower = CUBLAS_FILL_MODE_LOWER;
  auto const order = static_cast<std::size_t>(n);
  check(cudaSetDevice(0), "cudaSetDevice");
  Solver const solver;
  auto const matrix = allocate(order * order * sizeof(T));
  auto const exchanges = allocate(order * sizeof(std::int64_t));
  auto const info = allocate(sizeof(int));
  auto* const exchanged = reinterpret_cast<std::int64_t*>(exchanges.get());
  auto* const failed = reinterpret_cast<int*>(info.get());
  std::size_t on_device = 0;
  std::size_t on_host = 0;
  check(pivots ? cusolverDnXgetrf_bufferSize(solver.handle, solver.parameters, n, n, type, matrix.get(), n, type,
                                             &on_device, &on_host)
               : cusolverDnXpotrf_bufferSize(solver.handle, solver.parameters, lower, n, type, matrix.get(), n, type,
                                             &on_device, &on_host),
        "querying cuSOLVER's workspace");
  auto const workspace = allocate(on_device + 1);
  std::vector<std::byte> host_workspace(on_host);
  VendorTimes times;
  times.to_device = seconds_of([&] {
    check(cudaMemcpyAsync(matrix.get(), a, order * order * sizeof(T), cudaMemcpyHostToDevice, nullptr), "cudaMemcpy");
  });
  times.factor = seconds_of([&] {
    check(pivots ? cusolverDnXgetrf(solver.handle, solver.parameters, n, n, type, matrix.get(), n, exchanged, type,
                                    workspace.get(), on_device, host_workspace.data(), on_host, failed)
                 : cusolverDnXpotrf(solver.handle, solver.parameters, lower, n, type, matrix.get(), n, type,
                                    workspace.get(), on_device, host_workspace.data(), on_host, failed),
          "factoring with cuSOLVER");
  });
  times.to_host = seconds_of([&] {
    check(cudaMemcpyAsync(a, matrix.get(), order * order * sizeof(T), cudaMemcpyDeviceToHost, nullptr), "cudaMemcpy");
  });
  int met = 0;
  check(cudaMemcpy(&met, failed, sizeof met, cudaMemcpyDeviceToHost), "cudaMemcpy");
  if (met != 0) throw DeviceError("cuSOLVER's info is " + std::to_string(met));
  return times;
}

}  // namespace

template <class T>
VendorTimes vendor_potrf(std::int64_t n, T* a) {
  return factor(n, a, false);
}
template <class T>
VendorTimes vendor_getrf(std::int64_t n, T* a) {
  return factor(n, a, true);
}
template VendorTimes vendor_potrf<float>(std::int64_t, float*);
template VendorTimes vendor_potrf<double>(std::int64_t, double*);
template VendorTimes vendor_getrf<float>(std::int64_t, float*);
template VendorTimes vendor_getrf<double>(std::int64_t, double*);

}  // namespace granary::bench
