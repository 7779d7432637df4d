// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// What a user writes to choose a policy: a name and options, `name:key=value:key=value`. A policy's factory asks for
/// each option that it knows; what nobody asked for is refused.
class PolicyOptions {
 public:
  /// Throws InvalidArgument when an option is no `key=value` or a key comes twice.
  explicit PolicyOptions(std::string_view specification, std::uint64_t seed = 0);

  [[nodiscard]] std::string const& policy() const { return m_policy; }
  /// From which the policy's random draws, if it makes any, follow.
  [[nodiscard]] std::uint64_t seed() const { return m_seed; }

  /// The option's value, or `otherwise` when it is not given. Throws InvalidArgument when it is no number or not in
  /// [low, high].
  double number(std::string const& key, double otherwise, double low, double high);
  std::int64_t integer(std::string const& key, std::int64_t otherwise, std::int64_t low, std::int64_t high);
  /// Throws InvalidArgument when the value is none of the `known` ones.
  std::string choice(std::string const& key, std::string const& otherwise, std::vector<std::string> const& known);
  /// A list, its elements separated by '+'; empty when it is not given.
  std::vector<std::string> list(std::string const& key);

  /// Throws InvalidArgument, listing the known ones, when an option was given that nobody asked for.
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

#pragma GCC visibility pop
