// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/session/held_data.hpp>
#include <granary/granary.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>

namespace granary::held_data_test {
namespace {

using Vector = Kokkos::View<double*, Kokkos::HostSpace>;
using detail::HeldData;

// Runs until it is told to end.
struct Held {
  static constexpr bool launches_kokkos_kernels = false;
  std::shared_ptr<std::atomic<bool>> go = std::make_shared<std::atomic<bool>>(false);
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    go->wait(false);
  }
};

class HeldDataTest : public testing::Test {
 protected:
  [[nodiscard]] DataId add(double& value, std::shared_ptr<int> keep) {
    return runtime->session().add_data("value", sizeof(double),
                                       {.memory = reinterpret_cast<std::byte*>(&value), .keep = keep});
  }
  std::optional<Runtime> runtime{std::in_place, RuntimeOptions{.workers = 1U, .models = models_off}};
  std::array<double, 2> values{};
  std::shared_ptr<int> kept = std::make_shared<int>();
};

TEST_F(HeldDataTest, ADatumEndsWithItsLastOwner) {
  HeldData first(runtime->session());
  auto const id = first.own(add(values[0], kept));
  {
    HeldData second(runtime->session());
    second.retain(id);
    first.release();
    EXPECT_TRUE(first.ids().empty());
    runtime->wait();
    EXPECT_EQ(kept.use_count(), 2);
  }
  runtime->wait();
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_F(HeldDataTest, AMoveReleasesWhatWasOwnedBefore) {
  HeldData first(runtime->session()), second(runtime->session());
  first.own(add(values[0], kept));
  auto const id = second.own(add(values[1], kept));
  first = std::move(second);
  runtime->wait();
  EXPECT_EQ(kept.use_count(), 2);
  ASSERT_EQ(first.ids().size(), 1U);
  EXPECT_EQ(first.ids()[0], id);
  EXPECT_EQ(second.session(), nullptr);  // NOLINT(bugprone-use-after-move): moved from, so it has none
}

TEST_F(HeldDataTest, ItIsInUseUntilItsTasksHaveEnded) {
  Vector const x("x", 1);
  HeldData held(runtime->session());
  auto const data = runtime->data(x);
  held.retain(data.id());
  EXPECT_FALSE(HeldData(runtime->session()).in_use());
  Held const task;
  auto const handle = runtime->submit("held", task, write(data));
  EXPECT_TRUE(held.in_use());
  task.go->store(true);
  task.go->notify_all();
  handle.wait();
  EXPECT_FALSE(held.in_use());
}

TEST_F(HeldDataTest, ItMayOutliveTheRuntime) {
  HeldData held(runtime->session());
  held.own(add(values[0], kept));
  EXPECT_EQ(held.session(), &runtime->session());
  runtime.reset();
  EXPECT_EQ(held.session(), nullptr);
  EXPECT_EQ(kept.use_count(), 1);
}

}  // namespace
}  // namespace granary::held_data_test
