// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/trace.hpp>

#include <cstdint>
#include <string>

namespace granary {

namespace detail {

/// The file format of a trace; docs/trace.md lists the tools for each.
enum class GRANARY_EXPORT TraceFormat : std::uint8_t {
  Chrome,  ///< `.json`: trace events, for Perfetto and chrome://tracing
  Html,    ///< `.html`: a report, see html_report.hpp
};

/// The format for the file's ending. Throws InvalidArgument, with the file and the known endings, for other endings.
[[nodiscard]] GRANARY_EXPORT TraceFormat trace_format(std::string const& path);

}  // namespace detail

/// Throws InvalidArgument, with the file, if `write_trace` cannot write it: an unknown ending, or as check_text_output.
GRANARY_EXPORT void check_trace_file(std::string const& path);

/// Writes the trace in the format of the file's ending. ~1 µs per event. Throws as check_trace_file, and IoError when
/// the file cannot be written.
///
/// ```cpp
/// #include <granary/granary.hpp>
/// granary::Runtime runtime({.record_trace = true});
/// // ... runtime.submit(...)
/// runtime.wait();
/// granary::write_trace(runtime.trace(), "run.json");  // for Perfetto
/// granary::write_trace(runtime.trace(), "run.html");  // a report
/// ```
GRANARY_EXPORT void write_trace(Trace const& trace, std::string const& path);

}  // namespace granary
