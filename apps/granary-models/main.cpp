// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/base/error.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "options.hpp"
#include "report.hpp"

namespace {

using namespace granary;

// Exit statuses: 1 failed; 2 bad input.
int fail(int status, char const* message) {
  fmt::print(stderr, "granary-models: {}\n", message);
  return status;
}

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
  try {
    if (auto const options = app::parse_options(argc, argv)) fmt::print("{}", perform(*options));
    return 0;
  } catch (InvalidArgument const& error) {
    return fail(2, error.what());
  } catch (DataError const& error) {
    return fail(2, error.what());
  } catch (std::exception const& error) {
    return fail(1, error.what());
  }
}
