// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/trace.hpp>

#include <string>
#include <vector>

#include "result.hpp"

namespace granary::app {

/// The table's lines; `widest` is the width of the scheduler column.
[[nodiscard]] std::string table_header(std::size_t widest);
[[nodiscard]] std::string table_row(Result const& result, std::size_t widest);

/// JSON with stable keys.
[[nodiscard]] std::string format_json(std::vector<Result> const& results);
/// The same as CSV without the links' traffic: one line per configuration and a header.
[[nodiscard]] std::string format_csv(std::vector<Result> const& results);

/// The output of --list.
[[nodiscard]] std::string format_known();

/// Adds the configuration, the totals and the known bounds to the trace.
void describe(Trace& trace, Result const& result);

}  // namespace granary::app
