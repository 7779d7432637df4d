// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/policy/policy.hpp>

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <typeinfo>

namespace granary::detail {

std::string Policy::policy_name() const {
  if (!m_policy_name.empty()) return m_policy_name;
  char const* const mangled = typeid(*this).name();
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> const name(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                    &std::free);
  return status == 0 ? name.get() : mangled;
}

}  // namespace granary::detail
