// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/setup/address_space.hpp>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/runtime/api/runtime.hpp>
#include <granary/detail/runtime/setup/configure.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>

namespace granary::address_space_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

RuntimeOptions options_with(unsigned workers, Bytes memory, std::string const& devices = "none") {
  RuntimeOptions options{.workers = workers, .devices = devices, .host_memory = memory};
  if (devices != "none") {
    options.device_memory = 64_MiB;
    options.device_lanes = 1;
  }
  return options;
}

TEST(AddressSpace, WithoutALimitNothingIsRefused) {
  check_address_space(options_with(1000, 1_GiB << 40), {.limit = detail::unbounded, .used = 1_GiB}, true);
}

TEST(AddressSpace, WhatIsNeededIsEnough) {
  auto const options = options_with(2, 100_MiB);
  for (bool const openblas : {false, true}) {
    Bytes const needed = 100_MiB + addresses_beside_data(options, openblas);
    check_address_space(options, {.limit = needed + 1_GiB, .used = 1_GiB}, openblas);
    EXPECT_THAT(
        test::message_of([&] { check_address_space(options, {.limit = needed + 1_GiB - 1, .used = 1_GiB}, openblas); }),
        AllOf(HasSubstr("(ulimit -v)"), HasSubstr("2 workers"), HasSubstr("100.0 MiB for data")));
  }
}

TEST(AddressSpace, TheLimitThatIsTooLowIsNamed) {
  EXPECT_THAT(test::message_of([] {
                check_address_space(options_with(2, 100_MiB), {.limit = 1_MiB, .used = 0, .of = "data (ulimit -d)"},
                                    true);
              }),
              HasSubstr("may use 1.0 MiB of data (ulimit -d), of which 1.0 MiB are free"));
}

TEST(AddressSpace, EmulatedDevicesLieInTheProcess) {
  auto const options = options_with(0, 100_MiB, "host:2");
  Bytes const needed = 228_MiB + addresses_beside_data(options, false);
  check_address_space(options, {.limit = needed, .used = 0}, false);
  EXPECT_THAT(test::message_of([&] { check_address_space(options, {.limit = needed - 1, .used = 0}, false); }),
              HasSubstr("228.0 MiB for data"));
}

TEST(AddressSpace, OfThisProcessIsKnown) {
  auto const space = find_address_space();
  EXPECT_GT(space.used, 1_MiB);
  EXPECT_GT(space.left(), 0U);
}

TEST(AddressSpace, LimitsThatCannotBeAreRefusedInASentence) {
  auto const refused = [](Bytes memory) {
    return test::message_of(
        [&] { static_cast<void>(configure({.workers = 1, .devices = "none", .host_memory = memory})); });
  };
  EXPECT_THAT(test::message_of([] { Runtime({.workers = 1, .devices = "none", .host_memory = 1000}); }),
              AllOf(HasSubstr("a memory limit of 1000 bytes is too small"), HasSubstr("4096 bytes"),
                    HasSubstr("RuntimeOptions::host_memory")));
  EXPECT_THAT(refused(Bytes{1} << 62), AllOf(HasSubstr("a memory limit of 4194304.0 TiB is more than the 128.0 TiB"),
                                             HasSubstr("lower the limit"), HasSubstr("--memory")));
  EXPECT_EQ(configure({.workers = 1, .devices = "none", .host_memory = 4096}).host_memory, 4096U);
}

}  // namespace
}  // namespace granary::address_space_test
