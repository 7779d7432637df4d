// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <cstdlib>
#include <future>
#include <iostream>
#include <string>
#include <thread>
#include <utility>

namespace granary::test {

/// Runs `function` on a separate thread, and throws what it throws. If it has not ended after five minutes, far longer
/// than tests need, it hangs: the test program is ended, with `what` as the reason.
template <class Function>
void require_end(std::string const& what, Function&& function) {
  std::promise<void> ended;
  auto end = ended.get_future();
  std::jthread const thread([&] {
    try {
      function();
      ended.set_value();
    } catch (...) {
      ended.set_exception(std::current_exception());
    }
  });
  if (end.wait_for(std::chrono::minutes(5)) == std::future_status::timeout) {
    std::cerr << what << " hangs" << std::endl;
    std::abort();
  }
  end.get();
}

}  // namespace granary::test
