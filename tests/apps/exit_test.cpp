// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// exit() while tasks run: what it destroys is not used any more, and the status is that of the call.
#include "apps/cli_test.hpp"
#include "support/seeds.hpp"

namespace granary::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Exit : public CliTest {
 protected:
  Exit() : CliTest("") {}
  [[nodiscard]] ChildResult exits(std::string const& mode) const {
    return run_child(GRANARY_TEST_EXITS, {mode}, {.directory = m_directory.path()});
  }
};

TEST_F(Exit, StopsTasksBeforeStaticObjectsAreDestroyed) {
  for (auto const* const mode : {"at once", "many tasks", "body", "devices", "file"}) {
    for (int i = 0; i < (test::Seeds::sanitized ? 2 : 5); ++i) {
      auto const result = exits(mode);
      EXPECT_EQ(result.status, 3) << mode << ": " << result.err;
      EXPECT_THAT(result.err, Not(HasSubstr("exit()"))) << mode;
    }
  }
}

TEST_F(Exit, AWaitThatCannotEndThrows) {
  auto const result = exits("waits");
  EXPECT_EQ(result.status, 3) << result.err;
  EXPECT_THAT(result.out, HasSubstr("wait() was called after exit(), when no task runs any more\n"));
}

TEST_F(Exit, AChildHasNoThreadsToStop) {
  auto const result = exits("fork");
  EXPECT_EQ(result.status, 3) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("exit()")));
}

TEST_F(Exit, ATaskThatDoesNotEndIsNotWaitedForLong) {
  auto const result = exits("endless");
  EXPECT_EQ(result.status, 3) << result.err;
  EXPECT_THAT(result.err, HasSubstr("granary: exit() was called while a task or a file operation went on"));
}

}  // namespace
}  // namespace granary::testing
