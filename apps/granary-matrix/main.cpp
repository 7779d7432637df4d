// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include "apps/common/program.hpp"
#include "convert.hpp"
#include "info.hpp"

namespace {

using namespace granary::app;

struct Perform {
  SignalWatch& signals;

  void operator()(InfoOptions const& options) const { fmt::print("{}", describe_file(options)); }
  void operator()(ConvertOptions const& options) const {
    convert(options, [this] { signals.check(); });
  }
  void operator()(GenerateOptions const& options) const {
    generate(options, [this] { signals.check(); });
  }
};

}  // namespace

int main(int argc, char** argv) {
  return run_program("granary-matrix", [&](SignalWatch& signals) {
    if (auto const options = parse_matrix_options(argc, argv)) std::visit(Perform{signals}, *options);
  });
}
