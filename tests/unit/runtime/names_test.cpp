// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks whose names differ from each other.
#include "support/deadline.hpp"
#include "support/message_of.hpp"

#include <granary/detail/core/engine/engine.hpp>
#include <granary/granary.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace granary::names_test {

using namespace detail;

namespace {

using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

struct Fill {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) x(i) = static_cast<double>(i);
  }
};
struct Refuse {
  static constexpr bool launches_kokkos_kernels = false;
  bool refuses = true;
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    if (refuses) throw std::runtime_error("no");
  }
};

// The engine learns a new name, and may start the first copy to scratch then.
TEST(Names, MayBeNewWhileTheFirstValuesGoToScratch) {
  test::require_end("submit", [] {
    for (int round = 0; round < 8; ++round) {
      Runtime runtime({.workers = 2, .host_memory = 64_KiB, .scratch = testing::TempDir()});
      std::vector<decltype(runtime.temporary<double>(4096))> parts;
      for (int i = 0; i < 8; ++i) parts.push_back(runtime.temporary<double>(4096));
      for (int step = 0; step < 4; ++step) {
        for (std::size_t i = 0; i < parts.size(); ++i) {
          auto const name = "step " + std::to_string(step) + "," + std::to_string(i);
          runtime.submit(name, Fill{}, write(parts[i]));
        }
      }
      runtime.wait();
      EXPECT_GT(runtime.figures().bytes_written, 0U);
    }
  });
}

std::size_t codelets(Runtime& runtime) {
  auto const& entries = runtime.session().engine().journal().entries();
  return static_cast<std::size_t>(std::ranges::count_if(
      entries, [](auto const& entry) { return std::holds_alternative<AddCodelet>(entry.event); }));
}

std::string failed_task(Runtime& runtime) {
  EXPECT_THROW(runtime.wait(), std::runtime_error);
  return runtime.failures().empty() ? "nothing failed" : runtime.failures()[0].what;
}

TEST(Names, OfOneBodyShareACodeletBeyondAsManyAsAreKept) {
  Vector x("x", 4);
  Runtime runtime({.workers = 1, .host_memory = 1_MiB, .record_journal = true});
  auto const data = runtime.data(x);
  auto const name = [](std::size_t number) { return "step " + std::to_string(number); };
  for (std::size_t i = 0; i < Runtime::most_task_names; ++i) {
    runtime.submit(name(i), Refuse{false}, read_write(data));
  }
  runtime.wait();
  EXPECT_EQ(codelets(runtime), Runtime::most_task_names);
  for (std::size_t i = 0; i < 1000; ++i) {
    runtime.submit(name(Runtime::most_task_names + i), Refuse{false}, read_write(data));
  }
  runtime.wait();
  EXPECT_EQ(codelets(runtime), Runtime::most_task_names + 1);

  runtime.submit(name(Runtime::most_task_names), Refuse{}, read_write(data));
  EXPECT_THAT(failed_task(runtime), testing::StartsWith("task 'others like 'step 0'' "));
  runtime.submit("fill", Fill{}, write(data));  // another body has names of its own
  runtime.submit(name(7), Refuse{}, read_write(data));
  EXPECT_THAT(failed_task(runtime), testing::StartsWith("task 'step 7' ")) << "a name that is kept stays a task's own";
  EXPECT_EQ(codelets(runtime), Runtime::most_task_names + 2);
}

TEST(Names, MayBeGivenFromSeveralThreads) {
  Runtime runtime({.workers = 2, .host_memory = 1_MiB, .record_journal = true});
  std::vector<Vector> values(4, Vector("x", 4));
  {
    std::vector<std::jthread> threads;
    for (auto const& mine : values) {
      threads.emplace_back([&] {
        auto const data = runtime.data(mine);
        for (int i = 0; i < 300; ++i) runtime.submit("step " + std::to_string(i), Fill{}, write(data));
      });
    }
  }
  runtime.wait();
  EXPECT_EQ(codelets(runtime), 300U);
}

TEST(Names, AsynchronousFileIoIsOneWhoeverAsksForIt) {
  Runtime runtime({.workers = 1, .host_memory = 1_MiB});
  std::vector<std::shared_ptr<AsyncFileIo>> got(4);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : got) threads.emplace_back([&] { mine = runtime.session().io(); });
  }
  for (auto const& io : got) EXPECT_EQ(io, runtime.session().io());
}

TEST(Names, OfTasksAreAnyTextAlsoBesideWhatSchedulersKnow) {
  Runtime runtime({.workers = 1, .models = models_off, .record_journal = true});
  Vector x("x", 1);
  auto const data = runtime.data(x);
  std::string const text = "string";
  runtime.submit("literal", Fill{}, write(data));
  runtime.submit(text, Fill{}, write(data));
  runtime.submit(std::string_view(text), Fill{}, write(data));
  runtime.submit({.name = "both", .priority = 3, .flops = 2e6}, Fill{}, write(data));
  runtime.submit({.name = text, .flops = 5}, Fill{}, write(data));
  TaskInfo const info{.name = "kept"};
  runtime.submit(info, Fill{}, write(data));
  runtime.wait();
  std::vector<std::string> names;
  std::vector<std::pair<std::int64_t, double>> known;
  for (auto const& entry : runtime.session().engine().journal().entries()) {
    if (auto const* const added = std::get_if<AddCodelet>(&entry.event)) names.push_back(added->codelet.name);
    if (auto const* const task = std::get_if<TaskSubmission>(&entry.event))
      known.emplace_back(task->priority, task->flops);
  }
  EXPECT_THAT(names, testing::ElementsAre("literal", "string", "both", "kept"));
  using P = std::pair<std::int64_t, double>;
  EXPECT_THAT(known, testing::ElementsAre(P{0, 0}, P{0, 0}, P{0, 0}, P{3, 2e6}, P{0, 5}, P{0, 0}));
}

TEST(Names, AreRefusedWithTheLineThatSubmits) {
  Runtime runtime({.workers = 1, .host_memory = 64_KiB, .scratch = testing::TempDir(), .models = models_off});
  auto const small = runtime.temporary<double>(1);
  auto const big = runtime.temporary<double>(100'000);
  auto const ends = [](int line) { return testing::EndsWith("names_test.cpp:" + std::to_string(line) + ")"); };
  int const line = __LINE__;
  auto const early = [&] { runtime.submit("early", Fill{}, read_write(small)); };
  auto const much = [&] { runtime.submit({.name = "much"}, Fill{}, write(big)); };
  TaskInfo const info{.name = "kept"};
  auto const kept = [&] { runtime.submit(info, Fill{}, read_write(small)); };
  EXPECT_THAT(test::message_of(early),
              testing::AllOf(testing::HasSubstr("by an earlier task (submitted at "), ends(line + 1)));
  EXPECT_THAT(test::message_of<MemoryLimitError>(much), ends(line + 2));
  EXPECT_THAT(test::message_of(kept), ends(line + 3)) << "where the name was converted";
  auto const reduced = [&] { runtime.submit("reduced", Fill{}, reduce(small, Sum{})); };
  auto const room = [&] { runtime.submit("room", Fill{}, scratch<double>(-1)); };
  EXPECT_THAT(test::message_of(reduced), ends(line + 9));
  EXPECT_THAT(test::message_of(reduced), testing::Not(testing::HasSubstr("runtime.hpp")));
  EXPECT_THAT(test::message_of(room), ends(line + 10));
}

}  // namespace
}  // namespace granary::names_test
