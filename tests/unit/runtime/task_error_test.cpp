// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a task's body throws arrives with the task, its data, and the line that submitted it.
#include <granary/detail/core/base/task_error.hpp>
#include <granary/granary.hpp>

#include "support/task_bodies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

namespace granary::runtime_task_error_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

struct Unknown : std::runtime_error {
  using runtime_error::runtime_error;
};
template <class E>
struct Throw : test::OnAnyWorker {
  template <class Exec, class... X>
  void operator()(Exec const&, X...) const {
    throw E("a hole");
  }
};

// What a call throws as an E, with the task.
template <class E>
std::string whole_message_of(std::function<void()> const& call) {
  try {
    call();
  } catch (E const& error) {
    return error.what();
  }
  return {};
}

class TaskErrors : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static RuntimeOptions options() {
    if (GetParam() == "none") return {.workers = 2U, .devices = "none", .models = models_off};
    return {.workers = 1U, .devices = GetParam(), .models = models_off};
  }
  static auto ends_at(int line) { return EndsWith("task_error_test.cpp:" + std::to_string(line) + ")"); }
  Vector x{"x", 100}, y{"y", 100};
  Runtime runtime{options()};
  Data<Vector> dx = runtime.data(x), dy = runtime.data(y);
};

TEST_P(TaskErrors, ArriveWithTaskDataAndLine) {
  int const line = __LINE__ + 1;
  runtime.submit({.name = "check", .priority = 1}, Throw<DataError>{}, read(dx), read_write(dy));
  try {
    runtime.wait();
    FAIL() << "nothing was thrown";
  } catch (DataError const& error) {
    EXPECT_THAT(error.what(), StartsWith("a hole (in task 'check' 0 on 'x', 'y', submitted at "));
    EXPECT_THAT(error.what(), ends_at(line));
    auto const& in = dynamic_cast<TaskError const&>(error);
    EXPECT_EQ(in.task(), "check");
    EXPECT_THAT(in.data(), ElementsAre("x", "y"));
    EXPECT_EQ(in.source_line().line, static_cast<std::uint32_t>(line));
    EXPECT_EQ(whole_message_of<DataError>([&] { in.rethrow_nested(); }), "a hole");
  }
  ASSERT_EQ(runtime.failures().size(), 1U);
  auto const& failure = runtime.failures()[0];
  EXPECT_EQ(failure.origin.task, "check");
  EXPECT_THAT(failure.origin.data, ElementsAre("x", "y"));
  EXPECT_EQ(failure.origin.source_line.line, static_cast<std::uint32_t>(line));
  EXPECT_EQ(failure.what, "task 'check' 0");
}

TEST_P(TaskErrors, ArriveAtEveryKindOfWait) {
  int const line = __LINE__ + 1;
  auto const task = runtime.submit("check", Throw<std::runtime_error>{}, read_write(dx));
  auto const message = [&](std::function<void()> const& wait) { return whole_message_of<std::runtime_error>(wait); };
  EXPECT_THAT(message([&] { task.wait(); }), AllOf(StartsWith("a hole (in task 'check' 0 on 'x'"), ends_at(line)));
  EXPECT_THAT(message([&] { runtime.wait(dx); }), AllOf(StartsWith("a hole (in task 'check' 0 on 'x'"), ends_at(line)));
  EXPECT_EQ(message([&] { runtime.wait(); }), "") << "it was reported";
}

TEST_P(TaskErrors, OfUnknownTypesArriveAsTheyAreAndFailuresHasTheRest) {
  int const line = __LINE__ + 1;
  runtime.submit("check", Throw<Unknown>{}, read_write(dx));
  EXPECT_EQ(whole_message_of<Unknown>([&] { runtime.wait(); }), "a hole");
  ASSERT_EQ(runtime.failures().size(), 1U);
  EXPECT_THAT(runtime.failures()[0].origin.describe() + ")", AllOf(StartsWith("task 'check' 0 on 'x'"), ends_at(line)));
}

TEST_P(TaskErrors, NameTemporariesScratchAndParts) {
  auto const t = runtime.temporary<double>("covariance", 4, 4);
  runtime.submit("check", Throw<DataError>{}, write(t), scratch<double>(5),
                 read_write(runtime.part(dx, std::pair(2, 5))));
  EXPECT_THAT(whole_message_of<DataError>([&] { runtime.wait(); }),
              HasSubstr("on 'covariance', 'scratch of 'check'', 'x[2:5]', submitted at "));
}

TEST_P(TaskErrors, NameViewsWithoutALabelByTheirShape) {
  std::vector<double> values(12);
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const unnamed(values.data(), 3, 4);
  runtime.submit("check", Throw<DataError>{}, read_write(runtime.data(unnamed)));
  EXPECT_THAT(whole_message_of<DataError>([&] { runtime.wait(); }), HasSubstr("on 'View of 3 x 4', submitted at "));
}

TEST_P(TaskErrors, TheStateOfTheRunNamesLines) {
  test::Held const held;
  int const line = __LINE__ + 1;
  auto const task = runtime.submit("held", held, read_write(dx));
  auto const state = runtime.describe();
  held.end();
  task.wait();
  EXPECT_THAT(state, HasSubstr("task 'held' 0 ("));
  EXPECT_THAT(state, HasSubstr("task_error_test.cpp:" + std::to_string(line) + "): "));
}

TEST_P(TaskErrors, TheErrorOfACancelledRunIsItsOwn) {
  runtime.submit("increase", test::Increase{}, read_write(dx));
  runtime.cancel(std::make_exception_ptr(Stopped("enough")));
  EXPECT_EQ(whole_message_of<Stopped>([&] { runtime.wait(); }), "enough");
}

INSTANTIATE_TEST_SUITE_P(Workers, TaskErrors, testing::Values("none", "host:1"),
                         [](auto const& of) { return of.param == "none" ? "Cores" : "Devices"; });

}  // namespace
}  // namespace granary::runtime_task_error_test
