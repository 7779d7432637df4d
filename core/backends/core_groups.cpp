// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/core_groups.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace granary::detail {

namespace {

std::optional<unsigned> domain_of(unsigned core, std::vector<NumaDomain> const& domains) {
  for (auto const& domain : domains) {
    if (std::ranges::find(domain.threads, core) != domain.threads.end()) return domain.number;
  }
  return std::nullopt;
}

}  // namespace

std::vector<CoreGroup> divide_cores(std::vector<unsigned> const& cores, std::vector<NumaDomain> const& domains,
                                    unsigned size) {
  std::vector<CoreGroup> groups;
  std::map<std::optional<unsigned>, std::vector<unsigned>> open;  // by domain
  for (unsigned const core : cores) {
    auto const domain = domain_of(core, domains);
    auto& group = open[domain];
    group.push_back(core);
    if (group.size() == size) groups.push_back({std::exchange(group, {}), domain});
  }
  return groups;
}

std::vector<unsigned> domains_of(std::vector<unsigned> const& cores, std::vector<NumaDomain> const& domains) {
  std::set<unsigned> found;
  for (unsigned const core : cores) {
    if (auto const domain = domain_of(core, domains)) found.insert(*domain);
  }
  return {found.begin(), found.end()};
}

}  // namespace granary::detail
