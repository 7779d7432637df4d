// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/device_api_contract.hpp"

#include <granary/detail/core/backends/divided_device.hpp>
#include <granary/detail/core/backends/emulated_api.hpp>

namespace granary::test {

using namespace detail;

namespace {

INSTANTIATE_TEST_SUITE_P(Emulated, DeviceApiContract,
                         testing::Values(
                             +[] { return make_emulated_api({.devices = 1}); },
                             +[] { return make_emulated_api({.devices = 3, .memory = 16_MiB}); },
                             +[] { return divide_device(make_emulated_api({.devices = 2}), 1, 3); }));

}  // namespace
}  // namespace granary::test
