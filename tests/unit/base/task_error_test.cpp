// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/task_error.hpp>

#include <granary/detail/core/base/error_kinds.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace granary::task_error_test {
namespace {

struct Unknown : std::runtime_error {
  using runtime_error::runtime_error;
};
struct Own : DataError {
  Own(std::string const& what, int row) : DataError(what), of(row) {}
  int of;
};

detail::TaskOrigin const in_gemm{
    .task = "gemm", .what = "task 'gemm' 17", .data = {"C", "A"}, .source_line = {.file = "main.cpp", .line = 82}};

std::exception_ptr with_task(auto const& error) { return detail::in_task(std::make_exception_ptr(error), in_gemm); }

// Catches E, as an application does that knows nothing of tasks, and checks what is known of the task.
template <class E>
void expect_nested(E const& error, std::string const& what) {
  try {
    std::rethrow_exception(with_task(error));
  } catch (E const& caught) {
    EXPECT_EQ(caught.what(), what + " (in task 'gemm' 17 on 'C', 'A', submitted at main.cpp:82)");
    auto const* const in = dynamic_cast<TaskError const*>(&caught);
    ASSERT_NE(in, nullptr) << what;
    EXPECT_EQ(in->task(), "gemm");
    EXPECT_EQ(in->data(), (std::vector<std::string>{"C", "A"}));
    EXPECT_EQ(in->source_line().file, std::string("main.cpp"));
    EXPECT_EQ(in->source_line().line, 82U);
    EXPECT_EQ(in->type(), std::type_index(typeid(E)));
    try {
      std::rethrow_if_nested(caught);
      ADD_FAILURE() << "nothing is nested";
    } catch (E const& original) {
      EXPECT_EQ(original.what(), what);
      EXPECT_EQ(typeid(original), typeid(E));
    }
  }
}

TEST(TaskError, IsBesideTheTypeThatWasThrown) {
  expect_nested(Error("no"), "no");
  expect_nested(DataError("no"), "no");
  expect_nested(MemoryLimitError("no"), "no");
  expect_nested(DeviceLost("no"), "no");
  expect_nested(std::runtime_error("no"), "no");
  expect_nested(std::out_of_range("no"), "no");
  expect_nested(std::bad_alloc(), std::bad_alloc().what());
  std::system_error const system(ENOENT, std::generic_category(), "open");
  expect_nested(system, system.what());
}

TEST(TaskError, KeepsWhatTheExceptionCarries) {
  try {
    std::rethrow_exception(with_task(IoError("cannot read", "A.h5", 100, ENOSPC)));
  } catch (IoError const& error) {
    EXPECT_EQ(error.file(), "A.h5");
    EXPECT_EQ(error.offset(), 100U);
    EXPECT_EQ(error.error_number(), ENOSPC);
  }
}

TEST(TaskError, DoesNotRepeatTheNameOfTheTask) {
  try {
    std::rethrow_exception(with_task(InvalidArgument("task 'gemm' has left too much")));
  } catch (InvalidArgument const& error) {
    EXPECT_STREQ(error.what(), "task 'gemm' has left too much (submitted at main.cpp:82)");
  }
}

TEST(TaskError, IsCaughtAsSuch) { EXPECT_THROW(std::rethrow_exception(with_task(InvalidArgument("no"))), TaskError); }

TEST(TaskError, LeavesUnknownTypesAsTheyAre) {
  auto const error = std::make_exception_ptr(Unknown("no"));
  EXPECT_EQ(detail::in_task(error, in_gemm), error) << "no copy of it as its base";
  auto const number = std::make_exception_ptr(7);
  EXPECT_EQ(detail::in_task(number, in_gemm), number);
}

TEST(TaskError, KnowsTypesThatWereAdded) {
  add_task_error<Own>();
  add_task_error<Own>();
  expect_nested(Own("a hole", 3), "a hole");
  try {
    std::rethrow_exception(with_task(Own("a hole", 3)));
  } catch (Own const& error) {
    EXPECT_EQ(error.of, 3);
  }
}

TEST(TaskError, GoesToOtherProcessesAsItsType) {
  try {
    std::rethrow_exception(with_task(DataError("no")));
  } catch (std::exception const& error) {
    auto const text = text_of(error);
    EXPECT_EQ(text.kind, "DataError");
    EXPECT_THROW(std::rethrow_exception(error_of(text)), DataError);
    EXPECT_EQ(text.argument, "no (in task 'gemm' 17 on 'C', 'A', submitted at main.cpp:82)");
  }
}

TEST(TaskOrigin, DescribesWhatIsKnown) {
  EXPECT_EQ((detail::TaskOrigin{.what = "task 'gemm' 17"}.describe()), "task 'gemm' 17");
  EXPECT_EQ((detail::TaskOrigin{.what = "task 'gemm' 17", .data = {"x"}}.describe()), "task 'gemm' 17 on 'x'");
}

}  // namespace
}  // namespace granary::task_error_test
