// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/policy_options.hpp>

#include <algorithm>
#include <charconv>
#include <sstream>

namespace granary {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= text.size();) {
    std::size_t const end = std::min(text.find(separator, start), text.size());
    parts.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::string joined(std::vector<std::string> const& names) {
  std::string text;
  for (auto const& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

template <class Number>
bool parse(std::string const& text, Number& value) {
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

template <class Number>
std::string range(Number low, Number high) {
  std::ostringstream text;
  text << "between " << low << " and " << high;
  return text.str();
}

}  // namespace

PolicyOptions::PolicyOptions(std::string_view specification, std::uint64_t seed) : m_seed(seed) {
  auto const parts = split(specification, ':');
  m_policy = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    auto const equals = parts[i].find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == parts[i].size()) {
      throw InvalidArgument("option '" + parts[i] + "' of policy '" + m_policy + "' is not of the form key=value");
    }
    auto const [entry, added] = m_values.emplace(parts[i].substr(0, equals), parts[i].substr(equals + 1));
    if (!added) throw InvalidArgument("option '" + entry->first + "' of policy '" + m_policy + "' is given twice");
  }
}

std::string const* PolicyOptions::find(std::string const& key) {
  m_known.push_back(key);
  auto const found = m_values.find(key);
  return found == m_values.end() ? nullptr : &found->second;
}

void PolicyOptions::refuse(std::string const& key, std::string const& value, std::string const& wanted) const {
  throw InvalidArgument("option '" + key + "' of policy '" + m_policy + "' must be " + wanted + ", not '" + value +
                        "'");
}

double PolicyOptions::number(std::string const& key, double otherwise, double low, double high) {
  auto const* text = find(key);
  if (text == nullptr) return otherwise;
  double value = 0;
  if (!parse(*text, value) || !(value >= low && value <= high)) refuse(key, *text, "a number " + range(low, high));
  return value;
}

std::int64_t PolicyOptions::integer(std::string const& key, std::int64_t otherwise, std::int64_t low,
                                    std::int64_t high) {
  auto const* text = find(key);
  if (text == nullptr) return otherwise;
  std::int64_t value = 0;
  if (!parse(*text, value) || value < low || value > high) refuse(key, *text, "an integer " + range(low, high));
  return value;
}

std::string PolicyOptions::choice(std::string const& key, std::string const& otherwise,
                                  std::vector<std::string> const& known) {
  auto const* text = find(key);
  if (text == nullptr) return otherwise;
  if (std::ranges::find(known, *text) == known.end()) refuse(key, *text, "one of " + joined(known));
  return *text;
}

std::string PolicyOptions::text(std::string const& key, std::string const& otherwise) {
  auto const* text = find(key);
  return text == nullptr ? otherwise : *text;
}

std::vector<std::string> PolicyOptions::list(std::string const& key) {
  auto const* text = find(key);
  return text == nullptr ? std::vector<std::string>{} : split(*text, '+');
}

void PolicyOptions::refuse_unknown() const {
  for (auto const& [key, value] : m_values) {
    if (std::ranges::find(m_known, key) != m_known.end()) continue;
    throw InvalidArgument("policy '" + m_policy + "' has no option '" + key +
                          "': " + (m_known.empty() ? "it has none" : "the known ones are " + joined(m_known)));
  }
}

}  // namespace granary
