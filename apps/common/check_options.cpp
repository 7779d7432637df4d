// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/check_options.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/partial_file.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/runtime/setup/configure.hpp>
#include <granary/detail/trace/html_report.hpp>
#include <granary/detail/trace/trace_file.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "apps/common/print.hpp"
#include "apps/common/processes.hpp"
#include "apps/common/room.hpp"

namespace granary::app {

using namespace detail;

namespace {

bool ends_as_hdf5(std::string const& name) { return name.ends_with(".h5") || name.ends_with(".hdf5"); }

}  // namespace

void check_output_name(std::string const& output, std::string const& dataset) {
  auto const file = output.substr(0, output.rfind(':'));
  if (file != output && ends_as_hdf5(file)) {
    throw InvalidArgument(fmt::format(
        "name the output without a dataset: it will hold dataset {}; write {} instead of {}", dataset, file, output));
  }
  if (ends_as_hdf5(output) || !std::filesystem::path(output).has_extension()) return;
  throw InvalidArgument(
      "the output " + output +
      " is an HDF5 file: its name must end in .h5 or .hdf5 (granary-matrix convert converts it to .npy)");
}

void check_apart(std::string const& what, std::string const& file, RunOptions const& options) {
  for (auto const& other : {options.output, options.json, options.trace, options.report, options.save_schedule}) {
    if (!other) continue;
    bool const both_printed = is_standard_output(file) && is_standard_output(*other);
    if (both_printed || place_of(*other) == place_of(file))
      throw InvalidArgument(what + " cannot be written to " + file + ", which is another output");
  }
}

RuntimeOptions check_options(RunOptions const& options, std::vector<MatrixInput> const& inputs,
                             std::string const& dataset) {
  if (options.output) check_output_name(*options.output, dataset);
  std::vector<std::string> files;
  for (auto const& input : inputs) {
    if (!input.is_generated()) files.push_back(input.path());
  }
  if (options.output) check_output(*options.output, files);
  if (options.json && !is_standard_output(*options.json)) {
    check_text_output(*options.json, files);
    if (options.output && place_of(*options.json) == place_of(*options.output)) {
      throw InvalidArgument("the result and the summary cannot both be written to " + *options.output);
    }
  }
  if (options.trace) check_trace_file(*options.trace);
  if (options.report) check_report_path(*options.report);
  std::vector<std::string> outputs;
  for (auto const& file : {options.output, options.json}) {
    if (file) outputs.push_back(place_of(*file));
  }
  for (auto const& file : {options.trace, options.report, options.save_schedule}) {
    if (!file) continue;
    check_text_output(*file, files);
    auto const path = place_of(*file);
    if (std::ranges::find(outputs, path) != outputs.end()) {
      throw InvalidArgument("a trace, a report or a schedule cannot be written to " + *file +
                            ", which is another output");
    }
    outputs.push_back(path);
  }
  auto runtime = configure(on_this_node(options.runtime));
  static_cast<void>(make_policies(runtime.scheduler, runtime.eviction));
  return runtime;
}

}  // namespace granary::app
