// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/kokkos_start.hpp>
#include <granary/detail/core/base/error.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <optional>

#include "apps/common/choose_blas.hpp"
#include "apps/common/print.hpp"
#include "apps/common/program.hpp"
#include "describe.hpp"
#include "options.hpp"
#include "text.hpp"

namespace {

using namespace granary;

void publish(app::InfoOptions const& options) {
  std::optional<Kokkos::ScopeGuard> kokkos;
  if (!detail::kokkos_obstacle()) kokkos.emplace();
  auto const description = app::describe_machine(options);
  auto const json = description.dump(2) + "\n";
  if (options.json) app::write_text(*options.json, json);
  if (options.json && app::is_standard_output(*options.json)) return;
  fmt::print("{}", app::text_of(description));
}

}  // namespace

int main(int argc, char** argv) {
  return app::run_program("granary-info",
                          [&](SignalWatch&) {
                            if (auto const options = app::parse_options(argc, argv)) publish(*options);
                          },
                          {.start = [argv] { app::choose_blas(argv); }});
}
