// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An application that calls exit(3) while threads of granary work: exit_test.cpp. The argument says where.
#include <granary/linalg.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

// Asked by AddressSanitizer's search for leaks, which this program cannot pass: what stopped threads own is not freed.
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return 1; }

namespace {

using std::chrono::milliseconds;

// Stands for all that exit() destroys: whoever works meanwhile ends the process with an error.
class Library {
 public:
  ~Library() {
    m_exists = false;
    std::this_thread::sleep_for(milliseconds(200));
  }
  void use() const {
    if (!m_exists) std::abort();
  }

 private:
  std::atomic<bool> m_exists = true;
};
Library library;
std::atomic<int> running = 0;

struct Work {
  static constexpr bool launches_kokkos_kernels = false;
  milliseconds time{1};
  bool exits = false;
  bool counts = true;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    if (counts) ++running;
    if (exits) std::exit(3);
    std::this_thread::sleep_for(time);
    library.use();
    x(0) += 1;
  }
};

granary::RuntimeOptions options(std::string const& devices = "none") {
  return {.workers = 4, .devices = devices, .host_memory = 1 << 22, .models = "off"};
}

void submit_many(granary::Runtime& runtime, Work const& work) {
  constexpr int chains = 8;
  for (int k = 0; k < chains; ++k) {
    auto const x = runtime.temporary<double>("x", 10);
    runtime.submit("first", Work{.counts = false}, write(x));
    for (int i = 0; i < 500; ++i) runtime.submit("work", work, read_write(x));
  }
  while (running == 0) std::this_thread::yield();
}

// Destroyed after the handler that stops the work, which its Runtime registers.
struct Owner {
  std::unique_ptr<granary::Runtime> runtime;
  bool waits = false;
  ~Owner() {
    if (!waits) return;
    try {
      runtime->wait();
    } catch (granary::Error const& error) {
      std::puts(error.what());
    }
  }
};
Owner owner;

void run(std::string const& mode) {
  if (mode == "at once") {
    granary::Runtime const runtime(options());
    std::exit(3);
  }
  if (mode == "devices") {
    granary::Runtime runtime(options("host:2"));
    submit_many(runtime, Work{});
    std::exit(3);
  }
  if (mode == "file") {
    granary::Runtime runtime(options());
    auto A = granary::create_matrix<double>(runtime, 2000, 2000, {.tile = 50, .output = "A.h5"});
    granary::set(runtime, 1.0, 2.0, A);
    std::exit(3);
  }
  if (mode == "fork") {
    granary::Runtime runtime(options());
    submit_many(runtime, Work{});
    auto const child = ::fork();
    if (child == 0) std::exit(0);
    int status = -1;
    ::waitpid(child, &status, 0);
    runtime.wait();
    std::exit(WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 3 : 1);
  }
  if (mode == "body") {
    granary::Runtime runtime(options());
    auto const x = runtime.temporary<double>("x", 10);
    runtime.submit("exits", Work{.exits = true}, write(x));
    submit_many(runtime, Work{});
    runtime.wait();
  }
  owner.runtime = std::make_unique<granary::Runtime>(options());
  owner.waits = mode == "waits";
  auto& runtime = *owner.runtime;
  submit_many(runtime, Work{.time = mode == "endless" ? milliseconds(60'000) : milliseconds(1)});
  std::exit(3);
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::initialize();
  run(argc > 1 ? argv[1] : "");
}
