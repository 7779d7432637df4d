// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bodies of tasks that several tests submit.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>

namespace granary::test {

struct OnAnyWorker {
  static constexpr bool launches_kokkos_kernels = false;
  static constexpr bool host_only = false;
};
/// Adds one to each element of a vector.
struct Increase : OnAnyWorker {
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) x(i) += 1;
  }
};
struct Fail : OnAnyWorker {
  template <class Exec, class... X>
  void operator()(Exec const&, X...) const {
    throw std::runtime_error("no");
  }
};
/// Runs until it is told to end.
struct Held : OnAnyWorker {
  std::shared_ptr<std::atomic<bool>> go = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<std::atomic<bool>> begun = std::make_shared<std::atomic<bool>>(false);
  template <class Exec, class... X>
  void operator()(Exec const&, X...) const {
    begun->store(true);
    begun->notify_all();
    go->wait(false);
  }
  void wait_until_begun() const { begun->wait(false); }
  void end() const {
    go->store(true);
    go->notify_all();
  }
};
/// Ends it at the end of a block, however that is left.
class EndOf {
 public:
  explicit EndOf(Held held) : m_held(std::move(held)) {}
  ~EndOf() { m_held.end(); }
  EndOf(EndOf const&) = delete;
  EndOf& operator=(EndOf const&) = delete;

 private:
  Held m_held;
};

}  // namespace granary::test
