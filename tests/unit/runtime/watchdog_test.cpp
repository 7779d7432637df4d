// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/session/watchdog.hpp>
#include <granary/detail/runtime/setup/configure.hpp>
#include <granary/granary.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace granary {
namespace {

using namespace std::chrono_literals;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

// Runs until it is released.
struct Hold {
  static constexpr bool launches_kokkos_kernels = false;
  std::atomic<bool>* started;
  std::atomic<bool>* let_go;
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    started->store(true);
    while (!let_go->load()) std::this_thread::sleep_for(1ms);
  }
};

struct Touch {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    x(0) += 1;
  }
};

class Stalling : public ::testing::Test {
 protected:
  // One task that runs, and one that waits for it.
  void submit() {
    m_started = m_let_go = false;
    m_runtime.submit("hold", Hold{&m_started, &m_let_go}, read_write(m_x));
    m_runtime.submit("touch", Touch{}, read_write(m_x));
    while (!m_started) std::this_thread::sleep_for(1ms);
  }
  std::size_t reports() {
    std::lock_guard const lock(m_mutex);
    return m_reports.size();
  }
  void await_report(std::size_t number) {
    for (int i = 0; i < 20000 && reports() < number; ++i) std::this_thread::sleep_for(1ms);
    ASSERT_EQ(reports(), number);
  }

  Vector m_view{"x", 1};
  Runtime m_runtime{{.workers = 1, .host_memory = 1_MiB, .models = models_off}};
  Data<Vector> m_x = m_runtime.data(m_view);
  std::atomic<bool> m_started = false;
  std::atomic<bool> m_let_go = false;
  std::mutex m_mutex;
  std::vector<std::string> m_reports;
};

TEST_F(Stalling, ARuntimeTellsWhatRunsAndWhatWaits) {
  submit();
  auto const text = m_runtime.describe();
  m_let_go = true;
  EXPECT_THAT(text, HasSubstr("2 tasks have not ended; with a worker: 1"));
  EXPECT_THAT(text, ContainsRegex("task 'hold' 0 \\(.*watchdog_test.cpp:[0-9]+\\): running or next on worker"));
  EXPECT_THAT(text, ContainsRegex("task 'touch' 1 \\(.*watchdog_test.cpp:[0-9]+\\): waits for task 'hold' 0"));
  EXPECT_THAT(text, HasSubstr("memory node 'host memory': 0 B of 1.0 MiB in use"));
  m_runtime.wait();
  EXPECT_THAT(m_runtime.describe(), HasSubstr("0 tasks have not ended"));
}

TEST_F(Stalling, IsReportedOnceUntilSomethingEnds) {
  Watchdog const watchdog(m_runtime.session().engine(), 20ms, [&](Duration passed, std::string const& state) {
    EXPECT_GE(passed, 20ms);
    std::lock_guard const lock(m_mutex);
    m_reports.push_back(state);
  });
  submit();
  await_report(1);
  EXPECT_THAT(m_reports.front(),
              ContainsRegex("task 'touch' 1 \\(.*watchdog_test.cpp:[0-9]+\\): waits for task 'hold' 0"));
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(reports(), 1U);
  m_let_go = true;
  m_runtime.wait();
  submit();
  await_report(2);
  m_let_go = true;
  m_runtime.wait();
}

TEST_F(Stalling, NothingIsReportedWithoutWork) {
  {
    Watchdog const watchdog(m_runtime.session().engine(), 1ms, [&](Duration, std::string const& state) {
      std::lock_guard const lock(m_mutex);
      m_reports.push_back(state);
    });
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_EQ(reports(), 0U);
}

TEST(StallTimeout, ComesFromTheEnvironmentWhereTheOptionsSayNothing) {
  ::setenv("GRANARY_STALL_TIMEOUT", "2.5", 1);
  EXPECT_EQ(configure({}).stall_timeout, 2500ms);
  EXPECT_EQ(configure({.stall_timeout = 1s}).stall_timeout, 1s);
  for (auto const* bad : {"soon", "-1", "1 s", "nan"}) {
    ::setenv("GRANARY_STALL_TIMEOUT", bad, 1);
    try {
      static_cast<void>(configure({}));
      ADD_FAILURE() << bad << " was accepted";
    } catch (InvalidArgument const& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string("GRANARY_STALL_TIMEOUT is '") + bad + "'"));
    }
  }
  ::unsetenv("GRANARY_STALL_TIMEOUT");
  EXPECT_EQ(configure({}).stall_timeout, Duration{0});
}

}  // namespace
}  // namespace granary
