// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/device_api_contract.hpp"

#include <granary/detail/core/backends/divided_device.hpp>

namespace granary::test {

using namespace detail;

namespace {

std::shared_ptr<DeviceApi> first_device_as_three() {
  auto api = make_vendor_api();
  return api && api->devices() > 0 ? divide_device(std::move(api), 0, 3) : nullptr;
}

INSTANTIATE_TEST_SUITE_P(Vendor, DeviceApiContract,
                         testing::Values(
                             +[] { return make_vendor_api(); }, first_device_as_three));

TEST(VendorApi, SaysWhatItWasBuiltFor) {
  std::string problem;
  auto const api = make_vendor_api(&problem);
  ASSERT_TRUE(api);
  EXPECT_EQ(api->name().rfind(vendor_backend(), 0), 0U);
  EXPECT_EQ(api->devices() == 0, !problem.empty()) << problem;
}

}  // namespace
}  // namespace granary::test
