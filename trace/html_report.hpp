// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/trace.hpp>

#include <string>

namespace granary {

/// Names in Trace::totals that the report draws as lower bounds: on the time, without transfers; on the bytes loaded
/// into the devices' memories, or without devices from the disk; and on the bytes read from the disk.
inline constexpr char const* least_seconds = "least seconds";
/// The same with the mean times of the run's own tasks.
inline constexpr char const* least_seconds_measured = "least seconds at measured speed";
inline constexpr char const* least_bytes_loaded = "least bytes loaded";
/// Followed by a memory's name: the lower bound for the operations that its workers did.
inline constexpr char const* least_bytes_loaded_into = "least bytes loaded into ";
inline constexpr char const* least_bytes_read = "least bytes read";

class TextFile;

/// Throws InvalidArgument, with the file, when its name does not end with .html; programs call it before the run.
GRANARY_EXPORT void check_report_path(std::string const& path);

/// Writes one HTML page that shows the run: timeline, memory, transfers, order on the matrix, totals and their bounds.
/// It refers to no other file and no network; the browser draws it. About 20 bytes and 1 µs per event. The trace's ids
/// must be valid for its machine, codelets and data. Throws as check_report_path and check_text_output, and IoError
/// when the file cannot be written.
///
/// ```cpp
/// #include <granary/granary.hpp>
/// granary::check_report_path("run.html");  // before the run
/// granary::Runtime runtime({.record_trace = true});
/// // ... runtime.submit(...)
/// runtime.wait();
/// auto trace = runtime.trace();
/// trace.totals.emplace_back(granary::least_seconds, 0.25);  // drawn beside the time of the run
/// granary::write_html_report(trace, "run.html");
/// ```
GRANARY_EXPORT void write_html_report(Trace const& trace, std::string const& path);
GRANARY_EXPORT void write_html_report(Trace const& trace, TextFile& out);

}  // namespace granary
