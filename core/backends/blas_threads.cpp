// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/blas_library.hpp>
#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/core/base/error.hpp>

#include <dlfcn.h>

#include <cstdint>
#include <mutex>
#include <set>
#include <string>

namespace granary::detail {

namespace {

template <class Function>
Function* loaded(char const* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

// The previous number of threads; 0 when this BLAS is not loaded.
template <class Integer>
Integer exchange_threads(char const* getter, char const* setter, Integer threads) {
  auto* get = loaded<Integer()>(getter);
  auto* set = loaded<void(Integer)>(setter);
  if (get == nullptr || set == nullptr || threads < 1) return 0;
  auto const before = get();
  set(threads);
  return before;
}

struct Threads {
  int openblas = 1;
  int mkl = 1;
  std::int64_t blis = 1;
};

Threads exchange_all(Threads threads) {
  return {exchange_threads("openblas_get_num_threads", "openblas_set_num_threads", threads.openblas),
          exchange_threads("MKL_Get_Max_Threads", "MKL_Set_Num_Threads", threads.mkl),
          exchange_threads("bli_thread_get_num_threads", "bli_thread_set_num_threads", threads.blis)};
}

Threads all(int threads) { return {threads, threads, threads}; }

std::mutex mutex;
std::multiset<int> limits;
Threads unlimited;

}  // namespace

void set_blas_threads(int threads) {
  if (threads < 1) {
    throw InvalidArgument("BLAS cannot be limited to " + std::to_string(threads) +
                          " threads per call; at least 1 is needed");
  }
  exchange_all(all(threads));
}

int blas_threads() {
  // A BLAS that replaces the linked one (LD_PRELOAD) comes first.
  auto* const blis = loaded<std::int64_t()>("bli_thread_get_num_threads");
  if (blis != nullptr && find_blas_library().name == "BLIS") return static_cast<int>(blis());
  if (auto* get = loaded<int()>("openblas_get_num_threads")) return get();
  if (auto* get = loaded<int()>("MKL_Get_Max_Threads")) return get();
  return blis == nullptr ? 0 : static_cast<int>(blis());
}

bool blas_threads_differ_by_caller() {
  constexpr int openmp = 2;
  auto* const parallel = loaded<int()>("openblas_get_parallel");
  return parallel != nullptr && parallel() == openmp;
}

void hold_blas_limit() {
  if (!blas_threads_differ_by_caller()) return;
  auto* const set = loaded<void(int)>("omp_set_num_threads");
  std::lock_guard const lock(mutex);
  if (set != nullptr && !limits.empty()) set(*limits.begin());
}

bool blas_has_threads_by_caller() {
  if (loaded<int()>("openblas_get_parallel") != nullptr) return blas_threads_differ_by_caller();
  return loaded<int()>("MKL_Get_Max_Threads") != nullptr;
}

BlasLimit::BlasLimit(int threads) : m_threads(threads) {
  std::lock_guard const lock(mutex);
  bool const first = limits.empty();
  limits.insert(threads);
  auto const previous = exchange_all(all(*limits.begin()));
  if (first) unlimited = previous;
}

BlasLimit::~BlasLimit() {
  std::lock_guard const lock(mutex);
  limits.erase(limits.find(m_threads));
  exchange_all(limits.empty() ? unlimited : all(*limits.begin()));
}

}  // namespace granary::detail
