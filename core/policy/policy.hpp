// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <string>
#include <utility>

namespace granary::detail {

/// The common base of schedulers and eviction policies: the name that messages use for them.
///
/// ```cpp
/// #include <granary/policy.hpp>
/// assert(granary::make_scheduler("dmda")->policy_name() == "dmda");
/// ```
class GRANARY_EXPORT Policy {
 public:
  virtual ~Policy() = default;

  /// The name under which the registry has made it; of others, the name of the class.
  [[nodiscard]] std::string policy_name() const;
  void set_policy_name(std::string name) { m_policy_name = std::move(name); }

 private:
  std::string m_policy_name;
};

}  // namespace granary::detail
