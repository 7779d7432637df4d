// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/outofcore/storage.hpp>

namespace granary {

using namespace detail;

Storage::~Storage() = default;

}  // namespace granary
