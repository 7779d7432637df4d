// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RuntimeOptions::check finds uses of data that give wrong results, and nothing in programs without them.
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/runtime/setup/configure.hpp>
#include <granary/granary.hpp>

#include "support/message_of.hpp"
#include "support/task_bodies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

namespace granary::checks_test {
namespace {

using test::Held;
using test::Increase;
using test::OnAnyWorker;
using testing::AllOf;
using testing::HasSubstr;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

struct FillUpTo : OnAnyWorker {
  std::size_t end;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    for (std::size_t i = 0; i < end; ++i) x.data()[i] = static_cast<double>(i);
  }
};
struct FillAll : OnAnyWorker {
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) {
      for (std::size_t j = 0; j < x.extent(1); ++j) x(i, j) = 1;
    }
  }
};
struct WriteThroughCast : OnAnyWorker {
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    const_cast<double&>(x(3)) += 1;
  }
};
struct Look : OnAnyWorker {
  template <class Exec, class... X>
  void operator()(Exec const&, X...) const {}
};
struct WriteElsewhere : OnAnyWorker {
  std::shared_ptr<double*> hidden;  // an address that no word of the body is
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    **hidden += 1;
  }
};
struct HoldsView : OnAnyWorker {
  Vector captured;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) x(i) += captured(i);
  }
};
struct HoldsPointer : OnAnyWorker {
  double const* captured;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    x(0) += *captured;
  }
};
struct AddInto : OnAnyWorker {
  template <class Exec, class X, class S>
  void operator()(Exec const&, X x, S sum) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) sum() += x(i);
  }
};
struct UseScratch : OnAnyWorker {
  template <class Exec, class X, class S>
  void operator()(Exec const&, X x, S room) const {
    room(0) = x(0);  // the others stay undefined
  }
};

class Checked : public testing::Test {
 protected:
  static RuntimeOptions options() { return {.workers = 2U, .devices = "none", .models = models_off, .check = true}; }
  static std::string failure_of(std::function<void()> const& call) {
    try {
      call();
    } catch (CheckFailed const& failure) {
      return failure.what();
    }
    return {};
  }
  Vector x{"x", 1000}, y{"y", 1000};
  Runtime runtime{options()};
  Data<Vector> dx = runtime.data(x), dy = runtime.data(y);
};

TEST_F(Checked, TheProgramWritesDataBetweenSubmissionAndWait) {
  Held const held;
  runtime.submit("hold", held, read_write(dx));
  held.wait_until_begun();  // no other body begins now
  int const line = __LINE__ + 1;
  runtime.submit("look", Look{}, read(dx), read_write(dy));
  y(17) = 5;
  held.end();
  EXPECT_THAT(failure_of([&] { runtime.wait(); }),
              AllOf(HasSubstr("the elements of 'y' changed after task 'look' of"),
                    HasSubstr("checks_test.cpp:" + std::to_string(line) + " was submitted and before task 'look'"),
                    HasSubstr("without wait(x)")));
}

TEST_F(Checked, TheProgramWritesDataAfterTheirLastTask) {
  auto const task = runtime.submit("increase", Increase{}, read_write(dx));
  task.wait();
  x(0) = 7;
  EXPECT_THAT(failure_of([&] { runtime.wait(dx); }),
              AllOf(HasSubstr("the elements of 'x' changed after task 'increase'"), HasSubstr("the wait for it")));
  x(0) = 8;  // it is the program's now
  runtime.submit("increase", Increase{}, read_write(dx));
  runtime.wait();
  EXPECT_EQ(x(0), 9);
}

TEST_F(Checked, ABodyWritesDataThatItsTaskDoesNotDeclare) {
  WriteElsewhere body;
  body.hidden = std::make_shared<double*>(&y(5));
  runtime.submit("increase", Increase{}, read_write(dy));
  runtime.submit("stray", body, read_write(dx));
  EXPECT_THAT(failure_of([&] { runtime.wait(); }), HasSubstr("the elements of 'y' changed after task 'increase'"));
}

TEST_F(Checked, ABodyWritesWhatItReads) {
  int const line = __LINE__ + 1;
  runtime.submit("cast", WriteThroughCast{}, read(dx));
  EXPECT_THAT(failure_of([&] { runtime.wait(); }),
              AllOf(HasSubstr("the body changed elements of 'x', which its task only reads"), HasSubstr("'cast'"),
                    HasSubstr("checks_test.cpp:" + std::to_string(line))));
  auto const room = runtime.temporary<double>("room", 10);
  runtime.submit("fill", FillUpTo{{}, 10}, write(room));
  runtime.submit("cast", WriteThroughCast{}, read(room));
  EXPECT_THAT(failure_of([&] { runtime.wait(); }), HasSubstr("the body changed elements of 'room'"));
}

TEST_F(Checked, ABodyLeavesElementsUnwritten) {
  runtime.submit("fill", FillUpTo{{}, 990}, write(dx));
  EXPECT_THAT(
      failure_of([&] { runtime.wait(); }),
      HasSubstr("the body left 10 of the 1000 elements of 'x', the first one at position 990 in memory unwritten"));
  auto const room = runtime.temporary<float>("room", 10, 10);
  runtime.submit("fill", FillUpTo{{}, 99}, write(runtime.temporary<double>("other", 100)));
  EXPECT_THAT(failure_of([&] { runtime.wait(); }), HasSubstr("the body left 1 of the 100 elements of 'other'"));
  runtime.submit("fill all", FillAll{}, write(room));
  runtime.wait();
}

TEST_F(Checked, OnlyTheElementsOfAPartAreWritten) {
  Matrix const a("a", 20, 20);
  auto const part = runtime.part(runtime.data(a), std::pair(3, 9), std::pair(5, 15));
  runtime.submit("fill all", FillAll{}, write(part));
  runtime.wait();
  EXPECT_EQ(a(2, 5), 0);
  EXPECT_EQ(a(3, 5), 1);
}

TEST_F(Checked, ABodyHoldsAViewOrAPointer) {
  HoldsView view;
  view.captured = y;
  EXPECT_THAT(
      failure_of([&] { runtime.submit("holds", view, read_write(dx)); }),
      AllOf(HasSubstr("task 'holds' of"), HasSubstr("holds an address in 'y'"), HasSubstr("pass it to submit")));
  HoldsPointer pointer;
  pointer.captured = &x(2);
  EXPECT_THAT(failure_of([&] { runtime.submit("holds", pointer, read_write(dx)); }),
              AllOf(HasSubstr("an address in 'x' (16 bytes from its first element)"),
                    HasSubstr("use the View that the body gets")));
  double const constant = 1;
  pointer.captured = &constant;
  runtime.submit("holds", pointer, read_write(dx));
  runtime.wait();
  EXPECT_EQ(x(0), 1);
}

TEST_F(Checked, ProgramsWithoutFaultsRunAsBefore) {
  auto const parts = runtime.partition(dx, 300);
  auto const sum = runtime.scalar("sum", 0.0);
  for (int step = 0; step < 5; ++step) {
    for (std::size_t p = 0; p < parts.extent(0); ++p) runtime.submit("increase", Increase{}, read_write(parts(p)));
    runtime.submit("add", AddInto{}, read(dx), reduce(sum, Sum{}));
    runtime.submit("scratch", UseScratch{}, read(dx), scratch<double>(10));
    if (step == 2) {
      EXPECT_EQ(sum.get(), 1000 + 2000 + 3000);
      runtime.wait(dx);
      x(0) += 1;
    }
  }
  EXPECT_EQ(sum.get(), 15000 + 2);
  runtime.wait();
  EXPECT_EQ(x(0), 6);
  EXPECT_EQ(x(999), 5);
}

TEST_F(Checked, WorkOutsideMayChangeViews) {
  runtime.submit("look", Look{}, read(dx));
  runtime.wait(dx);
  Kokkos::DefaultHostExecutionSpace const mine;
  runtime.submit_after("mine", mine, write(dx));
  x(0) = 3;
  runtime.submit("increase", Increase{}, read_write(dx));
  runtime.wait();
  EXPECT_EQ(x(0), 4);
}

TEST_F(Checked, AnIdMayReturnWhileTheMemoryBeforeIsKept) {
  for (int i = 0; i < 200; ++i) {
    Vector const local("local", 1 + 100 * static_cast<std::size_t>(i % 7));
    auto const sum = runtime.scalar("sum", 0.0);
    auto const data = runtime.data(local);
    runtime.submit("increase", Increase{}, read_write(data));
    runtime.submit("add", AddInto{}, read(data), reduce(sum, Sum{}));
    if (i % 10 == 0) {
      EXPECT_EQ(sum.get(), local.extent(0));
    }
  }
  runtime.wait();
}

TEST_F(Checked, AViewMayEndWithItsHandle) {
  for (int i = 0; i < 100; ++i) {
    Vector const local("local", 1000);
    runtime.submit("increase", Increase{}, read_write(runtime.data(local)));
  }
  runtime.wait();
}

class Guarded : public Checked {
 protected:
  Vector big{"big", 100'000};
  Runtime guarded{RuntimeOptions{.workers = 2U, .devices = "none", .models = models_off, .check_reads = true}};
  Data<Vector> dbig = guarded.data(big);
};

using GuardedDeathTest = Guarded;

TEST_F(GuardedDeathTest, TheProgramReadsOrWritesBeforeTheWait) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto const submitted = [&] { guarded.submit("increase", Increase{}, read_write(dbig)); };
  EXPECT_DEATH((submitted(), std::printf("%g", big(50'000))),
               "the program accesses elements of 'big', which task 'increase' of .*checks_test.cpp:[0-9]+ uses");
  EXPECT_DEATH((submitted(), big(50'000) = 1), "before it has waited for them: call wait.x. first");
}

TEST_F(Guarded, RunsProgramsWithoutFaults) {
  guarded.submit("look", Look{}, read(dbig));
  EXPECT_EQ(big(50'000), 0);  // that task only reads
  auto const task = guarded.submit("increase", Increase{}, read_write(dbig));
  task.wait();  // which opens the gate after a while
  auto const parts = guarded.partition(dbig, 30'000);
  for (std::size_t p = 0; p < parts.extent(0); ++p) guarded.submit("increase", Increase{}, read_write(parts(p)));
  guarded.submit("increase", Increase{}, read_write(dbig));
  guarded.wait(dbig);
  EXPECT_EQ(big(50'000), 3);
  big(50'000) = 5;
  guarded.submit("increase", Increase{}, read_write(dbig));
  guarded.wait();
  EXPECT_EQ(big(50'000), 6);
}

TEST(CheckOption, IsForCoresOnly) {
  auto const refused = [](RuntimeOptions const& options) {
    return test::message_of<InvalidArgument>([&] { Runtime const runtime(options); });
  };
  EXPECT_THAT(refused({.devices = "host:1", .models = models_off, .check = true}),
              HasSubstr("tasks are checked on cores only"));
  ::setenv("GRANARY_CHECK", "yes", 1);
  EXPECT_THAT(refused({.models = models_off}), HasSubstr("GRANARY_CHECK is 'yes'; it must be 0, 1, reads or orders"));
  ::setenv("GRANARY_CHECK", "1", 1);
  EXPECT_TRUE(configure({.models = models_off}).check);
  ::unsetenv("GRANARY_CHECK");
  EXPECT_FALSE(configure({.models = models_off}).check);
}

}  // namespace
}  // namespace granary::checks_test
