// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/runtime/api/registration.hpp>

#include <algorithm>

namespace granary::detail {

void refuse_foreign_data(RuntimeId own, std::string const& subject, std::span<RuntimeId const> owners) {
  auto const first = std::ranges::find_if(owners, [own](RuntimeId owner) { return owner != own; });
  auto const number = std::to_string(first - owners.begin() + 1);
  throw InvalidArgument(subject + ": datum " + number + " of " + std::to_string(owners.size()) +
                        " belongs to another Runtime");
}

}  // namespace granary::detail
