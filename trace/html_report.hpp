// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/model/trace.hpp>

#include <string>

#pragma GCC visibility push(default)

namespace granary {

/// Names in Trace::totals that the report draws as bounds: no schedule takes less time, transfers left aside; none
/// loads fewer bytes into the memories of devices, or without devices from the disk; none reads fewer bytes from the
/// disk.
inline constexpr char const* least_seconds = "least seconds";
/// The same with the mean times that the run's own tasks took.
inline constexpr char const* least_seconds_measured = "least seconds at measured speed";
inline constexpr char const* least_bytes_loaded = "least bytes loaded";
/// Followed by a memory's name: it received at least as much for the operations that were done there.
inline constexpr char const* least_bytes_loaded_into = "least bytes loaded into ";
inline constexpr char const* least_bytes_read = "least bytes read";

class TextFile;

/// Throws InvalidArgument, naming the file, when its name does not end with .html: for programs, before the run.
void check_report_path(std::string const& path);

/// Writes one page of HTML that shows the run: timeline, memory, transfers, order on the matrix, totals against their
/// bounds. It refers to no other file and no network, and draws itself in the browser. Some 20 bytes and 1 µs per
/// event. The trace's ids lie within its machine, codelets and data. Throws as check_report_path and
/// check_text_output, and IoError when the file cannot be written.
void write_html_report(Trace const& trace, std::string const& path);
void write_html_report(Trace const& trace, TextFile& out);

}  // namespace granary

#pragma GCC visibility pop
