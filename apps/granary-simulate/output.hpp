// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "experiment.hpp"

namespace granary::app {

/// The table's lines; `widest` is the width of its column of schedulers.
[[nodiscard]] std::string table_header(std::size_t widest);
[[nodiscard]] std::string table_row(Result const& result, std::size_t widest);

/// For programs; the keys are stable.
[[nodiscard]] std::string format_json(std::vector<Result> const& results);
/// The same but for the links' traffic, a line each behind a header.
[[nodiscard]] std::string format_csv(std::vector<Result> const& results);
/// Quoted where it must be.
[[nodiscard]] std::string csv_field(std::string const& text);

/// What --list prints.
[[nodiscard]] std::string format_known();

}  // namespace granary::app
