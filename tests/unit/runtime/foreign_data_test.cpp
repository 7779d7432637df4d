// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data of another Runtime, which have the same ids as some of this one, are refused wherever handles are taken.
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/runtime/api/dual_view.hpp>
#include <granary/detail/runtime/api/varying.hpp>
#include <granary/granary.hpp>

#include "support/message_of.hpp"
#include "support/task_bodies.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace granary::foreign_data_test {
namespace {

using test::Increase;
using test::message_of;
using test::without_line;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

struct Nothing {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class... Arguments>
  void operator()(Exec const&, Arguments const&...) const {}
};

class ForeignData : public testing::Test {
 protected:
  [[nodiscard]] static RuntimeOptions options() { return {.workers = 1U, .models = models_off}; }
  // What the submission of a task with these accesses throws.
  template <class... Accesses>
  [[nodiscard]] std::string submission(Accesses const&... accesses) {
    auto const whole = message_of([&] { return runtime.submit("task", Nothing{}, accesses...); });
    EXPECT_NE(whole.find("foreign_data_test.cpp:"), std::string::npos) << whole;
    return without_line(whole);
  }

  Vector x{"x", 10}, y{"y", 10};
  Runtime runtime{options()};
  std::optional<Runtime> other{std::in_place, options()};
  Data<Vector> own = runtime.data(x), foreign = other->data(y);
};

TEST_F(ForeignData, HaveTheIdsOfThisRuntime) {
  EXPECT_EQ(own.id(), foreign.id());
  EXPECT_NE(runtime.session().id(), other->session().id());
  EXPECT_EQ(own.runtime_id(), runtime.session().id());
  EXPECT_EQ(foreign.runtime_id(), other->session().id());
}

TEST_F(ForeignData, AreRefusedBySubmission) {
  EXPECT_EQ(submission(write(foreign)), "task 'task': datum 1 of 1 belongs to another Runtime");
  EXPECT_EQ(submission(read(own), scratch<double>(3), read_write(foreign)),
            "task 'task': datum 3 of 3 belongs to another Runtime");
  EXPECT_EQ(submission(read(own), reduce(foreign, Sum{})), "task 'task': datum 2 of 2 belongs to another Runtime");
  std::string const refused = "task 'task': datum 1 of 1 belongs to another Runtime";
  EXPECT_EQ(submission(commute(other->scalar("sum", 0.0))), refused);
  EXPECT_EQ(submission(write(other->temporary<double>("block", 3, 4))), refused);
  EXPECT_EQ(submission(write(other->varying<double>("array", 10))), refused);
  EXPECT_EQ(submission(read(other->part(foreign, std::pair(2, 5)))), refused);
  EXPECT_EQ(submission(read(other->partition(foreign, 4)(1))), refused);
  EXPECT_EQ(submission(read(dual_data(*other, Kokkos::DualView<double*>("both", 10)))), refused);
  EXPECT_EQ(without_line(message_of([&] {
              runtime.submit_outside(
                  "message", [] { return true; }, read(own), write(foreign));
            })),
            "task 'message': datum 2 of 2 belongs to another Runtime");
  runtime.submit("increase", Increase{}, read_write(own));
  other->submit("increase", Increase{}, read_write(foreign));
  runtime.wait();
  other->wait();
  EXPECT_EQ(x(9), 1);
  EXPECT_EQ(y(9), 1);
}

TEST_F(ForeignData, AreRefusedByTheOtherFunctions) {
  auto const refused = [](std::string const& function) {
    return function + "(): datum 1 of 1 belongs to another Runtime";
  };
  EXPECT_EQ(message_of([&] { runtime.wait(foreign); }), refused("wait"));
  EXPECT_EQ(message_of([&] { runtime.wait(own, foreign); }), "wait(): datum 2 of 2 belongs to another Runtime");
  EXPECT_EQ(message_of([&] { runtime.prefetch(foreign, Runtime::host_node()); }), refused("prefetch"));
  EXPECT_EQ(message_of([&] { runtime.will_not_use(foreign); }), refused("will_not_use"));
  EXPECT_EQ(message_of([&] { runtime.assign(foreign, ProcessId(0)); }), refused("assign"));
  EXPECT_EQ(message_of([&] { return runtime.is_here(foreign); }), refused("is_here"));
  EXPECT_EQ(message_of([&] { return runtime.partition(foreign, 4); }), refused("partition"));
  EXPECT_EQ(message_of([&] { return runtime.part(foreign, std::pair(0, 4)); }), refused("part"));
}

// One that was made where the other one was is not that one.
TEST_F(ForeignData, AreThoseOfARuntimeThatHasEnded) {
  auto const before = other->session().id();
  other.reset();
  other.emplace(options());
  EXPECT_NE(other->session().id(), before);
  auto const again = other->data(y);
  EXPECT_EQ(message_of([&] { other->wait(foreign); }), "wait(): datum 1 of 1 belongs to another Runtime");
  EXPECT_EQ(without_line(message_of([&] { return other->submit("task", Nothing{}, read(foreign)); })),
            "task 'task': datum 1 of 1 belongs to another Runtime");
  other->submit("increase", Increase{}, read_write(again));
  other->wait(again);
  EXPECT_EQ(y(9), 1);
}

}  // namespace
}  // namespace granary::foreign_data_test
