// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/gpu/vendor_solver.hpp"

#include <granary/detail/core/base/error.hpp>

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

// cuSOLVER has no potri for any type.
cusolverStatus_t potri_workspace(Solver const& solver, int n, float* a, int* elements) {
  return cusolverDnSpotri_bufferSize(solver.handle, CUBLAS_FILL_MODE_LOWER, n, a, n, elements);
}
cusolverStatus_t potri_workspace(Solver const& solver, int n, double* a, int* elements) {
  return cusolverDnDpotri_bufferSize(solver.handle, CUBLAS_FILL_MODE_LOWER, n, a, n, elements);
}
cusolverStatus_t potri(Solver const& solver, int n, float* a, float* workspace, int elements, int* info) {
  return cusolverDnSpotri(solver.handle, CUBLAS_FILL_MODE_LOWER, n, a, n, workspace, elements, info);
}
cusolverStatus_t potri(Solver const& solver, int n, double* a, double* workspace, int elements, int* info) {
  return cusolverDnDpotri(solver.handle, CUBLAS_FILL_MODE_LOWER, n, a, n, workspace, elements, info);
}

// A matrix on device 0 that cuSOLVER's routines overwrite.
template <class T>
class Matrix {
 public:
  explicit Matrix(std::int64_t n)
      : m_n(n),
        m_memory(allocate(bytes())),
        m_exchanges(allocate(static_cast<std::size_t>(n) * sizeof(std::int64_t))),
        m_info(allocate(sizeof(int))) {}

  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(m_n) * static_cast<std::size_t>(m_n) * sizeof(T);
  }
  void copy_from(T const* a) const {
    check(cudaMemcpyAsync(m_memory.get(), a, bytes(), cudaMemcpyHostToDevice, nullptr), "cudaMemcpy");
  }
  void copy_to(T* a) const {
    check(cudaMemcpyAsync(a, m_memory.get(), bytes(), cudaMemcpyDeviceToHost, nullptr), "cudaMemcpy");
  }
  void allocate_workspace(Operation operation) {
    if (operation == Operation::Potri) {
      int elements = 0;
      check(potri_workspace(m_solver, static_cast<int>(m_n), elements_of_a(), &elements), "querying its workspace");
      m_on_device = static_cast<std::size_t>(elements) * sizeof(T);
    } else {
      std::size_t on_host = 0;
      check(operation == Operation::Getrf
                ? cusolverDnXgetrf_bufferSize(m_solver.handle, m_solver.parameters, m_n, m_n, type, m_memory.get(), m_n,
                                              type, &m_on_device, &on_host)
                : cusolverDnXpotrf_bufferSize(m_solver.handle, m_solver.parameters, CUBLAS_FILL_MODE_LOWER, m_n, type,
                                              m_memory.get(), m_n, type, &m_on_device, &on_host),
            "querying its workspace");
      m_host_workspace.resize(on_host);
    }
    m_workspace.reset();
    m_workspace = allocate(m_on_device + 1);
  }
  void run(Operation operation) {
    auto* const info = reinterpret_cast<int*>(m_info.get());
    auto* const exchanges = reinterpret_cast<std::int64_t*>(m_exchanges.get());
    check(operation == Operation::Potri
              ? potri(m_solver, static_cast<int>(m_n), elements_of_a(), reinterpret_cast<T*>(m_workspace.get()),
                      static_cast<int>(m_on_device / sizeof(T)), info)
          : operation == Operation::Getrf
              ? cusolverDnXgetrf(m_solver.handle, m_solver.parameters, m_n, m_n, type, m_memory.get(), m_n, exchanges,
                                 type, m_workspace.get(), m_on_device, m_host_workspace.data(), m_host_workspace.size(),
                                 info)
              : cusolverDnXpotrf(m_solver.handle, m_solver.parameters, CUBLAS_FILL_MODE_LOWER, m_n, type,
                                 m_memory.get(), m_n, type, m_workspace.get(), m_on_device, m_host_workspace.data(),
                                 m_host_workspace.size(), info),
          "solving with cuSOLVER");
    int met = 0;
    check(cudaMemcpy(&met, info, sizeof met, cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (met != 0) throw DeviceError("cuSOLVER's info is " + std::to_string(met));
  }

 private:
  static constexpr auto type = std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_64F;
  [[nodiscard]] T* elements_of_a() const { return reinterpret_cast<T*>(m_memory.get()); }

  Solver m_solver;
  std::int64_t m_n;
  std::unique_ptr<std::byte, Free> m_memory;
  std::unique_ptr<std::byte, Free> m_exchanges;
  std::unique_ptr<std::byte, Free> m_info;
  std::unique_ptr<std::byte, Free> m_workspace;
  std::size_t m_on_device = 0;
  std::vector<std::byte> m_host_workspace;
};

}  // namespace

template <class T>
VendorTimes vendor_times(Operation operation, std::int64_t n, T* a) {
  check(cudaSetDevice(0), "cudaSetDevice");
  Matrix<T> matrix(n);
  VendorTimes times;
  times.to_device = seconds_of([&] { matrix.copy_from(a); });
  if (operation == Operation::Potri) {
    matrix.allocate_workspace(Operation::Potrf);
    matrix.run(Operation::Potrf);
  }
  matrix.allocate_workspace(operation);
  times.solver = seconds_of([&] { matrix.run(operation); });
  times.to_host = seconds_of([&] { matrix.copy_to(a); });
  return times;
}
template VendorTimes vendor_times<float>(Operation, std::int64_t, float*);
template VendorTimes vendor_times<double>(Operation, std::int64_t, double*);

}  // namespace granary::bench
