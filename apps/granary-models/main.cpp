// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/printable.hpp>

#include <fmt/format.h>

#include "apps/common/choose_blas.hpp"
#include "apps/common/program.hpp"
#include "options.hpp"
#include "report.hpp"

namespace {

using namespace granary;

std::string perform(app::Options const& options) {
  switch (options.action) {
    case app::Action::List:
      return app::list_machines(options);
    case app::Action::Show:
      return app::show_models(options);
    case app::Action::Erase:
      break;
  }
  return app::erase_models(options);
}

}  // namespace

int main(int argc, char** argv) {
  return app::run_program("granary-models",
                          [&](SignalWatch&) {
                            if (auto const options = app::parse_options(argc, argv))
                              fmt::print("{}", printable_lines(perform(*options)));
                          },
                          {.start = [argv] { app::choose_blas(argv); }});
}
