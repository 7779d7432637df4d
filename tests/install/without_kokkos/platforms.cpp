// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The platforms and the schedulers of granary.
#include <granary/policy.hpp>
#include <granary/simulator.hpp>

#include <cstdio>

int main() {
  auto const platforms = granary::Platform::known_names();
  auto const schedulers = granary::scheduler_names();
  for (auto const& name : platforms) static_cast<void>(granary::Platform::find(name));
  std::printf("%zu platforms, %zu schedulers\n", platforms.size(), schedulers.size());
  return platforms.empty() || schedulers.empty() ? 1 : 0;
}
