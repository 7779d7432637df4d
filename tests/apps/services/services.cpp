// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An application for the tests of signals: services_cli_test.cpp. The argument says what it does while it waits for
// one.
#include <granary/detail/core/base/signal_watch.hpp>
#include <granary/detail/runtime/api/progress.hpp>
#include <granary/linalg.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

constexpr std::chrono::seconds far_longer(60);

struct Fill {
  static constexpr bool launches_kokkos_kernels = false;
  std::chrono::milliseconds time;
  template <class Exec, class Tile>
  void operator()(Exec const&, Tile t) const {
    std::this_thread::sleep_for(time);
    for (std::size_t i = 0; i < t.extent(0); ++i) t(i, 0) = 1;
  }
};

// Writes a matrix whose tasks take `time` each.
void write_matrix(granary::SignalWatch const& signals, std::chrono::milliseconds time) {
  granary::Runtime runtime({.workers = 1, .devices = "none", .host_memory = 1 << 20});
  runtime.cancel_on(signals);
  auto A = granary::create_matrix<double>(runtime, 640, 640, {.tile = 64, .output = "A.h5"});
  for (std::uint64_t i = 0; i < 10; ++i) {
    for (std::uint64_t j = 0; j < 10; ++j) runtime.submit("fill", Fill{time}, write(A.tile(i, j)));
  }
  A.commit();
}

// Tells the test that it may send a signal.
void say_ready() { std::ofstream("ready") << "ready"; }

int run(std::string const& mode) {
  auto signals = std::make_unique<granary::SignalWatch>();
  Kokkos::ScopeGuard const kokkos;
  if (mode == "uncaught") {
    write_matrix(*signals, std::chrono::milliseconds(20));
  } else if (mode == "deaf") {  // the one task does not end
    write_matrix(*signals, far_longer);
  } else if (mode == "no runtime") {
    say_ready();
    std::this_thread::sleep_for(far_longer);
  } else if (mode == "checks") {
    granary::Runtime runtime({.workers = 1, .devices = "none"});
    runtime.cancel_on(*signals);
    say_ready();
    try {
      for (;;) {
        signals->check();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    } catch (granary::Interrupted const& signal) {
      std::puts(signal.what());
      return signal.status();
    }
  } else if (mode == "late listener") {
    int early = 0, late = 0;
    auto const one = signals->listen({.on_signal = [&](granary::Interrupted const&) { ++early; }});
    ::raise(SIGHUP);
    auto const other = signals->listen({.on_signal = [&](granary::Interrupted const&) { ++late; }});
    return early == 1 && late == 1 ? 0 : 1;
  } else if (mode == "after") {
    signals.reset();
    ::raise(SIGUSR1);
    granary::SignalWatch const second;
    ::raise(SIGUSR1);
  } else if (mode == "two runtimes") {
    granary::Runtime first({.workers = 1, .devices = "none"}), second({.workers = 1, .devices = "none"});
    first.cancel_on(*signals);
    second.cancel_on(*signals);
    say_ready();
    auto const x = first.temporary<double>("x", 1, 1), y = second.temporary<double>("y", 1, 1);
    // Each ends, and cancels those behind it, when the signal has come.
    for (auto* const runtime : {&first, &second}) {
      auto const& data = runtime == &first ? x : y;
      for (int i = 0; i < 100; ++i) runtime->submit("fill", Fill{std::chrono::milliseconds(50)}, write(data));
    }
    int caught = 0;
    for (auto* const runtime : {&first, &second}) {
      try {
        runtime->wait();
      } catch (granary::Interrupted const& signal) {
        caught = signal.status();
      }
    }
    return caught;
  } else {
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run(argc > 1 ? argv[1] : ""); }
