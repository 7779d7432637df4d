// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Foreign code throws wherever the runtime calls it: see docs/design.md, "Foreign code". Other tests have bodies
// (runtime_test), bounds (varying_test), work outside (outside_test), progress (progress_test), listeners of signals
// (signal_watch_test), policies (engine_failures_test) and codelets of inner graphs (engine_inner_test).
#include <granary/detail/core/model/submitter.hpp>
#include <granary/detail/outofcore/storage.hpp>
#include <granary/granary.hpp>

#include "support/message_of.hpp"
#include "support/task_bodies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace granary::callbacks_test {

using namespace detail;

namespace {

using test::Increase;
using test::message_of;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

class Callbacks : public testing::Test {
 protected:
  Vector x{"x", 100};
  Runtime runtime{{.workers = 2U, .devices = "none", .host_memory = 1_MiB, .models = models_off}};
  Data<Vector> dx = runtime.data(x);

  template <class Call>
  static std::string said(Call const& call) {
    return message_of<std::runtime_error>(call);
  }
  // A task still runs, and waits report nothing more.
  void expect_usable() {
    runtime.wait();
    auto const before = x(0);
    runtime.submit("increase", Increase{}, read_write(dx));
    runtime.wait();
    EXPECT_EQ(x(0), before + 1);
  }
};

// Its copies cannot be made from the number on.
struct Fragile : test::OnAnyWorker {
  std::shared_ptr<int> copies_left;
  explicit Fragile(int copies) : copies_left(std::make_shared<int>(copies)) {}
  Fragile(Fragile const& other) : copies_left(other.copies_left) {
    if ((*copies_left)-- == 0) throw std::runtime_error("no copy");
  }
  template <class Exec, class X>
  void operator()(Exec const&, X v) const {
    v(0) += 10;
  }
};

TEST_F(Callbacks, ABodyThatCannotBeCopiedIsNotSubmitted) {
  bool submitted = false;
  for (int copies = 0; copies < 20 && !submitted; ++copies) {
    double const before = x(0);
    Fragile const body(copies);
    auto const why = said([&] { runtime.submit("fragile", body, read_write(dx)); });
    submitted = why.empty();
    if (!submitted) {
      EXPECT_EQ(why, "no copy");
    }
    runtime.wait();
    EXPECT_EQ(x(0), before + (submitted ? 10 : 0));
    expect_usable();
  }
  EXPECT_TRUE(submitted);
}

// A sum of which two values cannot be combined.
struct Careful {
  template <class T>
  [[nodiscard]] static T identity() {
    return T{};
  }
  double operator()(double a, double b) const {
    if (a + b > 2) throw std::runtime_error("too much");
    return a + b;
  }
};
struct Contribute : test::OnAnyWorker {
  template <class Exec, class S>
  void operator()(Exec const&, S s) const {
    s() += 1;
  }
};

TEST_F(Callbacks, AReductionWhoseOperationThrowsFailsAsATask) {
  auto const sum = runtime.scalar<double>("sum");
  for (int i = 0; i < 10; ++i) runtime.submit("contribute", Contribute{}, reduce(sum, Careful{}));
  EXPECT_EQ(said([&] { static_cast<void>(sum.get()); }), "too much");
  expect_usable();
}

// The values of an application; the first call of one of its functions refuses. A value that failed to get home is
// written again after the report.
class Refusing final : public Storage {
 public:
  enum class In { Nothing, Read, Write };
  explicit Refusing(In in) : m_in(in) {}
  void read_async(std::uint64_t, std::byte* destination, Bytes bytes, IoCompletion done) override {
    if (refuses(In::Read)) throw std::runtime_error("not read");
    std::fill_n(destination, bytes, std::byte{0});
    done(nullptr);
  }
  void write_async(std::uint64_t, std::byte const*, Bytes, IoCompletion done) override {
    if (refuses(In::Write)) throw std::runtime_error("not written");
    done(nullptr);
  }
  [[nodiscard]] std::string describe(std::uint64_t) const override { return "a value"; }

 private:
  bool refuses(In here) {
    if (m_in != here) return false;
    m_in = In::Nothing;
    return true;
  }
  In m_in;
};

TEST_F(Callbacks, AStorageThatThrowsFailsTheCopy) {
  struct Touch {
    static void kernel(KernelCall const&) {}
  };
  Codelet touch{.name = "touch", .launches_kokkos_kernels = false};
  touch.kernels[static_cast<std::size_t>(WorkerKind::Cpu)] = &Touch::kernel;
  auto const codelet = runtime.submitter().add_codelet(touch);
  for (auto const in : {Refusing::In::Nothing, Refusing::In::Read, Refusing::In::Write}) {
    auto const storage = std::make_shared<Refusing>(in);
    auto const data = runtime.session().add_data("stored", 4096, {.origin = {storage, 0}, .home = {storage, 0}});
    Access const access{data, AccessMode::ReadWrite};
    runtime.submitter().submit({codelet, {&access, 1}, 0, 0}, Parameters());
    EXPECT_EQ(said([&] { runtime.wait(); }), in == Refusing::In::Read    ? "not read"
                                             : in == Refusing::In::Write ? "not written"
                                                                         : "");
    runtime.submitter().release_data(data);
    expect_usable();
  }
}

}  // namespace
}  // namespace granary::callbacks_test
