// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/outofcore/storage.hpp>

namespace granary::detail {

Storage::~Storage() = default;

}  // namespace granary::detail
