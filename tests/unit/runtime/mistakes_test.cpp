// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistakes of docs/checking.md that compile, in programs that are checked, each with its message or its right
// result. tests/compile_errors has those that do not compile, checks_test.cpp what the checks find in detail.
#include <granary/granary.hpp>

#include "support/task_bodies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace granary::mistakes_test {
namespace {

using test::Held;
using test::Increase;
using test::OnAnyWorker;
using testing::HasSubstr;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;
using Foreign = Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

constexpr std::size_t n = 500;

struct Program {
  Vector x{"x", n}, y{"y", n};
  Runtime runtime{{.workers = 2U, .devices = "none", .models = models_off, .check = true}};
  Data<Vector> dx = runtime.data(x), dy = runtime.data(y);

  // No other body begins before its end.
  [[nodiscard]] Held hold() {
    Held held;
    runtime.submit("hold", held, read_write(runtime.scalar<int>("nothing")));
    held.wait_until_begun();
    return held;
  }
};

struct WriteThroughCast : OnAnyWorker {
  template <class Exec, class X>
  void operator()(Exec const&, X of) const {
    const_cast<double&>(of(3)) += 1;
  }
};
struct WriteHalf : OnAnyWorker {
  template <class Exec, class X>
  void operator()(Exec const&, X of) const {
    for (std::size_t i = 0; i < n / 2; ++i) of(i) = 1;
  }
};
struct AddPointer : OnAnyWorker {
  double const* pointer;
  template <class Exec, class X>
  void operator()(Exec const&, X of) const {
    of(0) += *pointer;
  }
};
double* hidden = nullptr;
struct WriteHidden : OnAnyWorker {
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    *hidden += 1;
  }
};
struct WaitInside : OnAnyWorker {
  Runtime* runtime;
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    runtime->wait();
  }
};
struct Throw : OnAnyWorker {
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    throw std::runtime_error("no convergence");
  }
};
struct AddOne : OnAnyWorker {
  template <class Exec, class X, class Y>
  void operator()(Exec const&, X of, Y into) const {
    for (std::size_t i = 0; i < n; ++i) into(i) = of(i) + 1;
  }
};
struct OnTheDefaultInstance {
  template <class Exec, class X>
  void operator()(Exec const&, X of) const {
    Kokkos::parallel_for(
        "default", Kokkos::RangePolicy<Exec>(0, n), KOKKOS_LAMBDA(std::size_t i) { of(i) += 1; });
  }
};
struct SumWithoutInstance {
  template <class Exec, class X, class Y>
  void operator()(Exec const&, X of, Y into) const {
    double sum = 0;
    Kokkos::parallel_reduce(
        "default", Kokkos::RangePolicy<Exec>(0, n), KOKKOS_LAMBDA(std::size_t i, double& part) { part += of(i); }, sum);
    into(0) = sum;
  }
};

// What it throws, or what a Runtime that ends without a wait writes.
struct Mistake {
  std::string name;
  std::function<void(Program&)> make;
  std::string message = {};  // empty: there is none, and `make` checks the result

  friend std::ostream& operator<<(std::ostream& out, Mistake const& mistake) { return out << mistake.name; }
};

std::vector<Mistake> const mistakes{
    {"WriteToARead",
     [](Program& p) {
       p.runtime.submit("cast", WriteThroughCast{}, read(p.dx));
       p.runtime.wait();
     },
     "the body changed elements of 'x', which its task only reads: declare read_write(x)"},
    {"LambdaThatCapturesAView",
     [](Program& p) {
       p.runtime.submit(
           "lambda", [y = p.y](auto const&, auto of) { of(0) = y(0); }, read_write(p.dx));
     },
     "holds an address in 'y' (0 bytes from its first element), a View or a pointer, which granary does not see"},
    {"HostPointerCaptured",
     [](Program& p) {
       p.runtime.submit("adds", AddPointer{{}, &p.x(2)}, read_write(p.dx));
     },
     "holds an address in 'x' (16 bytes from its first element)"},
    {"BodyWritesWhatNoAccessDeclares",
     [](Program& p) {
       hidden = &p.y(5);
       p.runtime.submit("increase", Increase{}, read_write(p.dy));
       p.runtime.submit("hidden", WriteHidden{}, read_write(p.dx));
       p.runtime.wait();
     },
     "the elements of 'y' changed after task 'increase'"},
    {"MemoryOfAnUnmanagedViewThatHasAnotherUse",
     [](Program& p) {
       std::array<double, n> memory{};  // of two arrays, one after the other
       auto const first = p.runtime.data(Foreign(memory.data(), n), "first");
       auto const held = p.hold();
       test::EndOf const end(held);
       p.runtime.submit("increase", Increase{}, read_write(first));
       memory[7] = 3;  // the second one
       held.end();
       p.runtime.wait();
     },
     "the elements of 'first' changed after task 'increase'"},
    {"NoWait",
     [](Program& p) {
       auto const held = p.hold();
       test::EndOf const end(held);
       p.runtime.submit("increase", Increase{}, read_write(p.dy));
       p.y(3) = 1;
       held.end();
       p.runtime.wait();
     },
     "the program wrote them without wait(x) before"},
    {"HostUseBetweenTasks",
     [](Program& p) {
       p.runtime.submit("increase", Increase{}, read_write(p.dx)).wait();
       p.x(3) = 7;
       p.runtime.submit("increase", Increase{}, read_write(p.dx));
       p.runtime.wait();
     },
     "the elements of 'x' changed after task 'increase'"},
    {"MisspeltScheduler", [](Program&) { Runtime const other({.scheduler = "dart"}); }, "unknown scheduler 'dart'"},
    {"ReadOfAnUnwrittenDatum",
     [](Program& p) { p.runtime.submit("increase", Increase{}, read_write(p.runtime.temporary<double>("block", n))); },
     "reads data 'block', which has no origin and was not written by an earlier task"},
    {"WriteOfSomeElements",
     [](Program& p) {
       p.runtime.submit("half", WriteHalf{}, write(p.dx));
       p.runtime.wait();
     },
     "the body left 250 of the 500 elements of 'x', the first one at position 250 in memory unwritten"},
    {"ReadAndWriteOfDataThatShareBytes",
     [](Program& p) {
       auto const part = p.runtime.part(p.dx, std::pair(0, 10));
       p.runtime.submit("adds", AddOne{}, read(part), write(p.dx));
     },
     "which shares bytes with data"},
    {"ReadAndWriteOfOneDatum",
     [](Program& p) {
       p.runtime.submit("adds", AddOne{}, read(p.dx), write(p.dx));
       p.runtime.wait();
       EXPECT_EQ(p.x(n - 1), 1);
     }},
    {"WaitInsideATask",
     [](Program& p) {
       p.runtime.submit("waits", WaitInside{{}, &p.runtime}, read_write(p.dx));
       p.runtime.wait();
     },
     "wait() cannot be called inside a task of the same Runtime"},
    {"ExceptionWithoutAWait",
     [](Program&) {
       testing::internal::CaptureStdout();
       Program other;
       other.runtime.submit("throws", Throw{}, read_write(other.dx));
     },
     "a task failed and nobody waited for it: no convergence (in task 'throws' 0 on 'x'"},
    {"KernelOnTheDefaultInstance",
     [](Program& p) {
       p.runtime.submit("default", OnTheDefaultInstance{}, read_write(p.dx));
       p.runtime.submit("increase", Increase{}, read_write(p.dx));
       p.runtime.wait();
       EXPECT_EQ(p.x(n - 1), 2);
     }},
    {"ReductionWithoutTheInstance", [](Program& p) {
       p.runtime.submit("increase", Increase{}, read_write(p.dx));
       p.runtime.submit("sum", SumWithoutInstance{}, read(p.dx), read_write(p.dy));
       p.runtime.wait();
       EXPECT_EQ(p.y(0), n);
     }}};

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, HasItsMessage) {
  auto const& mistake = GetParam();
  bool const at_the_end = mistake.name == "ExceptionWithoutAWait";
  std::string message;
  try {
    Program program;
    mistake.make(program);
  } catch (Error const& error) {
    message = error.what();
  }
  if (at_the_end) message = testing::internal::GetCapturedStdout();
  if (mistake.message.empty()) {
    EXPECT_EQ(message, "");
  } else {
    EXPECT_THAT(message, HasSubstr(mistake.message));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Mistakes, testing::ValuesIn(mistakes), [](auto const& of) { return of.param.name; });

}  // namespace
}  // namespace granary::mistakes_test
