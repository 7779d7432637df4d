// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RuntimeOptions::check_orders finds updates that do not commute, and nothing where their order is given or does not
// matter.
#include <granary/granary.hpp>

#include "support/message_of.hpp"
#include "support/task_bodies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

namespace granary::commuting_orders_test {
namespace {

using test::Held;
using test::OnAnyWorker;
using testing::AllOf;
using testing::HasSubstr;
template <class T>
using Array = Kokkos::View<T*, Kokkos::HostSpace>;

// x := factor x + value
template <class T>
struct Update : OnAnyWorker {
  T factor;
  T value;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) x(i) = factor * x(i) + value;
  }
};
// The same, times the first element of w.
struct UpdateBy : OnAnyWorker {
  double factor;
  template <class Exec, class W, class X>
  void operator()(Exec const&, W w, X x) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) x(i) = factor * x(i) + w(0);
  }
};
struct AddTo : OnAnyWorker {
  template <class Exec, class X, class Y>
  void operator()(Exec const&, X x, Y y) const {
    y(0) += x(0);
  }
};
struct Fill : OnAnyWorker {
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) x(i) = 3;
  }
};
struct Look : OnAnyWorker {
  template <class Exec, class X>
  void operator()(Exec const&, X) const {}
};
// Counts its calls, and adds the count.
struct AddCalls : OnAnyWorker {
  std::shared_ptr<double> calls = std::make_shared<double>(0);
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    x(0) = 2 * x(0) + ++*calls;
  }
};
struct SubmitAnother : OnAnyWorker {
  Runtime* runtime;
  Data<Array<double>> into;
  double factor;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    x(0) = factor * x(0) + 1;
    runtime->submit("another", Update<double>{{}, 1, 1}, read_write(into));
  }
};

class CommutingOrders : public testing::Test {
 protected:
  // All tasks that `submit` submits, before the first one begins.
  template <class Submit>
  std::string failure_of(Submit const& submit) {
    Held const held;
    runtime.submit("hold", held, read_write(nothing));
    held.wait_until_begun();
    {
      test::EndOf const end(held);
      submit();
    }
    return test::message_of<CheckFailed>([&] { return runtime.wait(), 0; });
  }

  Array<double> x{"x", 10}, y{"y", 10}, w{"w", 1};
  Runtime runtime{{.scheduler = "eager", .workers = 2U, .devices = "none", .models = models_off, .check_orders = true}};
  Scalar<int> nothing = runtime.scalar<int>("nothing");
  Data<Array<double>> dx = runtime.data(x), dy = runtime.data(y), dw = runtime.data(w);
};

TEST_F(CommutingOrders, FindsUpdatesThatDoNotCommute) {
  int const line = __LINE__ + 2;
  auto const failure = failure_of([&] {
    runtime.submit("double", Update<double>{{}, 2, 0}, commute(dx));
    runtime.submit("add", Update<double>{{}, 1, 1}, commute(dx));
  });
  EXPECT_THAT(failure,
              AllOf(HasSubstr("10 of the 10 elements of 'x', the first one at position 0 in memory, depend on "
                              "the order of task '"),
                    HasSubstr("task 'double' of"), HasSubstr("commuting_orders_test.cpp:" + std::to_string(line)),
                    HasSubstr("which commute: declare read_write(x)")));
}

TEST_F(CommutingOrders, FindsThatTheLastOneWins) {
  Array<int> const owner("owner", 5);
  auto const data = runtime.data(owner);
  EXPECT_THAT(failure_of([&] {
                runtime.submit("first", Update<int>{{}, 0, 1}, commute(data));
                runtime.submit("second", Update<int>{{}, 0, 2}, commute(data));
              }),
              HasSubstr("5 of the 5 elements of 'owner'"));
}

TEST_F(CommutingOrders, FindsWhatDependsOnTheTurn) {
  EXPECT_THAT(failure_of([&] {
                runtime.submit("next", Update<double>{{}, 1, 1}, commute(dx));
                runtime.submit("takes", AddTo{}, commute(dx), commute(dy));
              }),
              HasSubstr("1 of the 10 elements of 'y'"));
}

TEST_F(CommutingOrders, RoundingIsNoDifference) {
  Array<Kokkos::complex<float>> const z("z", 3);
  Array<std::int64_t> const count("count", 3);
  auto const dz = runtime.data(z);
  auto const counts = runtime.data(count);
  double expected = 0;
  EXPECT_EQ(failure_of([&] {
              for (int i = 0; i < 60; ++i) {
                double const value = i % 3 == 0 ? 1e16 : i % 3 == 1 ? 0.1 * i : -1e16;
                expected += i % 3 == 1 ? value : 0;
                runtime.submit("add", Update<double>{{}, 1, value}, commute(dx));
                runtime.submit("add", Update<Kokkos::complex<float>>{{}, 1, {0.1F * static_cast<float>(i), 1e6F}},
                               commute(dz));
                runtime.submit("count", Update<std::int64_t>{{}, 1, i}, commute(counts));
              }
            }),
            "");
  EXPECT_NEAR(x(0), expected, 200);  // units in the last place of 1e16
  EXPECT_EQ(count(2), 59 * 30);
}

TEST_F(CommutingOrders, AnOrderThatIsGivenIsNotChanged) {
  EXPECT_EQ(failure_of([&] {
              runtime.submit("double", Update<double>{{}, 2, 1}, commute(dx));
              runtime.submit("look", Look{}, read(dx));
              runtime.submit("triple", Update<double>{{}, 3, 0}, commute(dx));
            }),
            "");
  EXPECT_EQ(x(0), 3);
  EXPECT_EQ(failure_of([&] {  // the second one needs what the first one must have read before
              runtime.submit("double", UpdateBy{{}, 2}, read(dw), commute(dx));
              runtime.submit("fill", Fill{}, write(dw));
              runtime.submit("triple", UpdateBy{{}, 3}, read(dw), commute(dx));
            }),
            "");
  EXPECT_EQ(x(0), 21);
  runtime.submit("double", Update<double>{{}, 2, 0}, commute(dx)).wait();
  runtime.submit("add", Update<double>{{}, 1, 1}, commute(dx));
  runtime.wait();
  EXPECT_EQ(x(0), 43);
}

TEST_F(CommutingOrders, BodiesThatUseMoreThanTheirDataTellNothing) {
  AddCalls const counts;
  EXPECT_EQ(failure_of([&] {
              runtime.submit("counts", counts, commute(dx));
              runtime.submit("counts", counts, commute(dx));
            }),
            "");
  EXPECT_EQ(failure_of([&] {
              runtime.submit("submits", SubmitAnother{{}, &runtime, dy, 2}, commute(dw));
              runtime.submit("submits", SubmitAnother{{}, &runtime, dy, 3}, commute(dw));
            }),
            "");
  EXPECT_EQ(y(0), 2) << "what a body submits is submitted once";
}

TEST_F(CommutingOrders, IsAskedFor) {
  Runtime checked({.workers = 2U, .devices = "none", .models = models_off, .check = true});
  auto const data = checked.data(x);
  checked.submit("double", Update<double>{{}, 2, 0}, commute(data));
  checked.submit("add", Update<double>{{}, 1, 1}, commute(data));
  checked.wait();
  ::setenv("GRANARY_CHECK", "orders", 1);
  EXPECT_TRUE(configure({.models = models_off}).check_orders);
  EXPECT_TRUE(configure({.models = models_off}).check);
  ::unsetenv("GRANARY_CHECK");
}

}  // namespace
}  // namespace granary::commuting_orders_test
