// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include "apps/common/program.hpp"
#include "convert.hpp"
#include "info.hpp"

namespace {

using namespace granary::app;
using namespace granary::detail;

struct Perform {
  void operator()(InfoOptions const& options) const { fmt::print("{}", describe_file(options)); }
  void operator()(ConvertOptions const& options) const { convert(options); }
  void operator()(GenerateOptions const& options) const { generate(options); }
};

}  // namespace

int main(int argc, char** argv) {
  return run_program("granary-matrix", [&](granary::SignalWatch&) {
    if (auto const options = parse_matrix_options(argc, argv)) std::visit(Perform{}, *options);
  });
}
