// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/error_kinds.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <stdexcept>
#include <typeinfo>

namespace granary::error_kinds_test {
namespace {

struct TooHot : std::runtime_error {
  explicit TooHot(int kelvin) : runtime_error("too hot"), of(kelvin) {}
  int of;
};

// What another process throws.
template <class Expected, class E>
void expect_again(E const& error) {
  auto const again = error_of(detail::text_of(error));
  ASSERT_TRUE(again);
  try {
    std::rethrow_exception(again);
  } catch (std::exception const& made) {
    EXPECT_EQ(typeid(made), typeid(Expected));
    EXPECT_STREQ(made.what(), error.what());
  }
}

TEST(ErrorKinds, ErrorsAreMadeAgainFromText) {
  expect_again<Error>(Error("a"));
  expect_again<InvalidArgument>(InvalidArgument("b"));
  expect_again<MemoryLimitError>(MemoryLimitError("c"));
  expect_again<DataError>(DataError("d"));
  expect_again<DeviceError>(DeviceError("e"));
  expect_again<DeviceLost>(DeviceLost("f"));
  expect_again<Stopped>(Stopped("g"));
  expect_again<InternalError>(InternalError("h\x1b"));
  expect_again<Error>(IoError("cannot read", "A.h5", 17, EIO));
}

TEST(ErrorKinds, OthersAreUnknownUntilTheyAreAdded) {
  EXPECT_EQ(detail::text_of(TooHot(300)).kind, "");
  EXPECT_FALSE(detail::error_of({}));
  EXPECT_FALSE(detail::error_of({"TooHot", "300"}));
  for (int twice = 0; twice < 2; ++twice) {
    add_error_kind<TooHot>(
        "TooHot", [](TooHot const& error) { return std::to_string(error.of); },
        [](std::string const& text) { return TooHot(std::stoi(text)); });
  }
  EXPECT_EQ(detail::text_of(TooHot(300)).argument, "300");
  try {
    std::rethrow_exception(detail::error_of({"TooHot", "300"}));
  } catch (TooHot const& made) {
    EXPECT_EQ(made.of, 300);
  }
}

}  // namespace
}  // namespace granary::error_kinds_test
