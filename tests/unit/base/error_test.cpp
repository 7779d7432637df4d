// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <type_traits>

namespace granary {
namespace {

TEST(IoError, SaysOperationFileOffsetAndErrnoText) {
  IoError const error("reading", "/data/A.h5", 4096, ENOSPC);
  EXPECT_STREQ(error.what(), "reading /data/A.h5 at byte 4096: No space left on device");
  EXPECT_EQ(error.file(), "/data/A.h5");
  EXPECT_EQ(error.offset(), 4096U);
  EXPECT_EQ(error.error_number(), ENOSPC);
}

TEST(IoError, OfAWholeFileHasNoOffset) {
  IoError const error("cannot rename", "/data/A.h5", EACCES);
  EXPECT_STREQ(error.what(), "cannot rename /data/A.h5: Permission denied");
  EXPECT_EQ(error.file(), "/data/A.h5");
  EXPECT_EQ(error.offset(), 0U);
  EXPECT_EQ(error.error_number(), EACCES);
}

TEST(Error, ShowsControlCharactersOfNamesAndDoesNotSendThem) {
  EXPECT_STREQ(InvalidArgument("cannot open \x1b]0;x\a").what(), "cannot open \\x1b]0;x\\x07");
  EXPECT_STREQ(IoError("reading", "caf\xe9", 0, EIO).what(), "reading caf\\xe9 at byte 0: Input/output error");
  EXPECT_STREQ(InternalError("what waits:\ntask 3").what(), "what waits:\ntask 3");
}

TEST(Error, IsCaughtAsItsBases) {
  EXPECT_THROW(throw MemoryLimitError("too small"), InvalidArgument);
  EXPECT_THROW(throw IoError("writing", "f", 0, EIO), Error);
  EXPECT_THROW(throw DataError("NaN"), std::runtime_error);
  static_assert(!std::is_base_of_v<InvalidArgument, InternalError>);
}

}  // namespace
}  // namespace granary
