// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace granary {

/// A policy's name and options as the user writes them: `name:key=value:key=value`. A policy's factory reads each
/// option that it knows; options that were not read are refused.
class GRANARY_EXPORT PolicyOptions {
 public:
  /// Throws InvalidArgument when an option is not `key=value` or a key occurs twice.
  explicit PolicyOptions(std::string_view specification, std::uint64_t seed = 0);

  [[nodiscard]] std::string const& policy() const { return m_policy; }
  /// The seed of the policy's random numbers, if it uses any.
  [[nodiscard]] std::uint64_t seed() const { return m_seed; }

  /// The option's value, or `otherwise` if it is not given. Throws InvalidArgument when it is not a number or not in
  /// [low, high].
  double number(std::string const& key, double otherwise, double low, double high);
  std::int64_t integer(std::string const& key, std::int64_t otherwise, std::int64_t low, std::int64_t high);
  /// Throws InvalidArgument when the value is not one of `known`.
  std::string choice(std::string const& key, std::string const& otherwise, std::vector<std::string> const& known);
  /// A text without ':', or `otherwise` if it is not given.
  std::string text(std::string const& key, std::string const& otherwise);
  /// A list with elements separated by '+'; empty if it is not given.
  std::vector<std::string> list(std::string const& key);

  /// Throws InvalidArgument, with the known options, when an option was given that nobody read.
  void refuse_unknown() const;

 private:
  [[nodiscard]] std::string const* find(std::string const& key);
  [[noreturn]] void refuse(std::string const& key, std::string const& value, std::string const& wanted) const;

  std::string m_policy;
  std::uint64_t m_seed;
  std::map<std::string, std::string> m_values;
  std::vector<std::string> m_known;
};

}  // namespace granary
