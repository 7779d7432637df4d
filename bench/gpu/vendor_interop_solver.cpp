// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/gpu/vendor_solver.hpp"

#include <granary/detail/core/backends/vendor_names.hpp>
#include <granary/detail/core/base/error.hpp>

#if defined(GRANARY_HAVE_CUDA)
#include <cusolverDn.h>
#elif defined(GRANARY_HAVE_HIP)
#include <rocsolver/rocsolver.h>
#endif

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace granary::bench {

#if defined(GRANARY_HAVE_CUDA) || defined(GRANARY_HAVE_HIP)
namespace {

void check(GRANARY_GPU(Error_t) status, char const* what) {
  if (status != GRANARY_GPU(Success)) throw DeviceError(std::string(what) + ": " + GRANARY_GPU(GetErrorString)(status));
}

struct Free {
  void operator()(void* memory) const { static_cast<void>(GRANARY_GPU(Free)(memory)); }
};
using Memory = std::unique_ptr<std::byte, Free>;
Memory allocate(std::size_t bytes) {
  void* memory = nullptr;
  check(GRANARY_GPU(Malloc)(&memory, bytes), "allocating memory for the vendor's solver");
  return Memory(static_cast<std::byte*>(memory));
}

template <class Function>
double seconds_of(Function&& function) {
  auto const start = std::chrono::steady_clock::now();
  function();
  check(GRANARY_GPU(DeviceSynchronize)(), "the vendor's solver");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

#if defined(GRANARY_HAVE_CUDA)
void check(cusolverStatus_t status, char const* what) {
  if (status != CUSOLVER_STATUS_SUCCESS) {
    throw DeviceError(std::string(what) + ": cuSOLVER status " + std::to_string(static_cast<int>(status)));
  }
}

// cuSOLVER has no potri for any type.
cusolverStatus_t potri_workspace(cusolverDnHandle_t handle, int n, float* a, int* elements) {
  return cusolverDnSpotri_bufferSize(handle, CUBLAS_FILL_MODE_LOWER, n, a, n, elements);
}
cusolverStatus_t potri_workspace(cusolverDnHandle_t handle, int n, double* a, int* elements) {
  return cusolverDnDpotri_bufferSize(handle, CUBLAS_FILL_MODE_LOWER, n, a, n, elements);
}
cusolverStatus_t potri(cusolverDnHandle_t handle, int n, float* a, float* workspace, int elements, int* info) {
  return cusolverDnSpotri(handle, CUBLAS_FILL_MODE_LOWER, n, a, n, workspace, elements, info);
}
cusolverStatus_t potri(cusolverDnHandle_t handle, int n, double* a, double* workspace, int elements, int* info) {
  return cusolverDnDpotri(handle, CUBLAS_FILL_MODE_LOWER, n, a, n, workspace, elements, info);
}

template <class T>
class Solver {
 public:
  Solver() {
    check(cusolverDnCreate(&m_handle), "cusolverDnCreate");
    check(cusolverDnCreateParams(&m_parameters), "cusolverDnCreateParams");
  }
  ~Solver() {
    cusolverDnDestroyParams(m_parameters);
    cusolverDnDestroy(m_handle);
  }
  Solver(Solver const&) = delete;
  Solver& operator=(Solver const&) = delete;

  void allocate_workspace(Operation operation, std::int64_t n, T* a) {
    if (operation == Operation::Potri) {
      int elements = 0;
      check(potri_workspace(m_handle, static_cast<int>(n), a, &elements), "querying its workspace");
      m_on_device = static_cast<std::size_t>(elements) * sizeof(T);
    } else {
      std::size_t on_host = 0;
      check(operation == Operation::Getrf
                ? cusolverDnXgetrf_bufferSize(m_handle, m_parameters, n, n, type, a, n, type, &m_on_device, &on_host)
                : cusolverDnXpotrf_bufferSize(m_handle, m_parameters, CUBLAS_FILL_MODE_LOWER, n, type, a, n, type,
                                              &m_on_device, &on_host),
            "querying its workspace");
      m_host_workspace.resize(on_host);
    }
    m_workspace.reset();
    m_workspace = allocate(m_on_device + 1);
  }
  void run(Operation operation, std::int64_t n, T* a, std::byte* exchanges, int* info) {
    auto* const memory = m_workspace.get();
    check(operation == Operation::Potri ? potri(m_handle, static_cast<int>(n), a, reinterpret_cast<T*>(memory),
                                                static_cast<int>(m_on_device / sizeof(T)), info)
          : operation == Operation::Getrf
              ? cusolverDnXgetrf(m_handle, m_parameters, n, n, type, a, n, reinterpret_cast<std::int64_t*>(exchanges),
                                 type, memory, m_on_device, m_host_workspace.data(), m_host_workspace.size(), info)
              : cusolverDnXpotrf(m_handle, m_parameters, CUBLAS_FILL_MODE_LOWER, n, type, a, n, type, memory,
                                 m_on_device, m_host_workspace.data(), m_host_workspace.size(), info),
          "solving with cuSOLVER");
  }

 private:
  static constexpr auto type = std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_64F;

  cusolverDnHandle_t m_handle = nullptr;
  cusolverDnParams_t m_parameters = nullptr;
  Memory m_workspace;
  std::size_t m_on_device = 0;
  std::vector<std::byte> m_host_workspace;
};
#else
void check(rocblas_status status, char const* what) {
  if (status != rocblas_status_success) {
    throw DeviceError(std::string(what) + ": " + rocblas_status_to_string(status));
  }
}

template <class T>
class Solver {
 public:
  Solver() { check(rocblas_create_handle(&m_handle), "rocblas_create_handle"); }
  ~Solver() { rocblas_destroy_handle(m_handle); }
  Solver(Solver const&) = delete;
  Solver& operator=(Solver const&) = delete;

  void allocate_workspace(Operation, std::int64_t, T*) {}  // rocSOLVER allocates its own
  void run(Operation operation, std::int64_t n, T* a, std::byte* exchanges, int* info) {
    constexpr auto choose = [](auto single, auto twice) {
      if constexpr (std::is_same_v<T, float>) {
        return single;
      } else {
        return twice;
      }
    };
    auto const rows = static_cast<rocblas_int>(n);
    auto const lower = rocblas_fill_lower;
    auto* const exchanged = reinterpret_cast<rocblas_int*>(exchanges);
    check(operation == Operation::Getrf
              ? choose(rocsolver_sgetrf, rocsolver_dgetrf)(m_handle, rows, rows, a, rows, exchanged, info)
          : operation == Operation::Potrf
              ? choose(rocsolver_spotrf, rocsolver_dpotrf)(m_handle, lower, rows, a, rows, info)
              : choose(rocsolver_spotri, rocsolver_dpotri)(m_handle, lower, rows, a, rows, info),
          "solving with rocSOLVER");
  }

 private:
  rocblas_handle m_handle = nullptr;
};
#endif

}  // namespace

template <class T>
VendorTimes vendor_times(Operation operation, std::int64_t n, T* a) {
  check(GRANARY_GPU(SetDevice)(0), "choosing device 0");
  auto const order = static_cast<std::size_t>(n);
  auto const bytes = order * order * sizeof(T);
  auto const memory = allocate(bytes), exchanges = allocate(order * sizeof(std::int64_t)), info = allocate(sizeof(int));
  auto* const matrix = reinterpret_cast<T*>(memory.get());
  auto* const failed = reinterpret_cast<int*>(info.get());
  Solver<T> solver;
  auto const run = [&](Operation what) {
    solver.run(what, n, matrix, exchanges.get(), failed);
    int met = 0;
    check(GRANARY_GPU(Memcpy)(&met, failed, sizeof met, GRANARY_GPU(MemcpyDeviceToHost)), "reading the solver's info");
    if (met != 0) throw DeviceError("the solver's info is " + std::to_string(met));
  };
  auto const copy = [&](T* to, T const* from, auto kind) {
    return seconds_of([&] { check(GRANARY_GPU(MemcpyAsync)(to, from, bytes, kind, nullptr), "copying the matrix"); });
  };
  VendorTimes times;
  times.to_device = copy(matrix, a, GRANARY_GPU(MemcpyHostToDevice));
  if (operation == Operation::Potri) {
    solver.allocate_workspace(Operation::Potrf, n, matrix);
    run(Operation::Potrf);
  }
  solver.allocate_workspace(operation, n, matrix);
  times.solver = seconds_of([&] { run(operation); });
  times.to_host = copy(a, matrix, GRANARY_GPU(MemcpyDeviceToHost));
  return times;
}
#else
template <class T>
VendorTimes vendor_times(Operation, std::int64_t, T*) {
  throw DeviceError("this build has no vendor's solver to compare with");
}
#endif
template VendorTimes vendor_times<float>(Operation, std::int64_t, float*);
template VendorTimes vendor_times<double>(Operation, std::int64_t, double*);

}  // namespace granary::bench
