// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/trace/trace_file.hpp>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/partial_file.hpp>
#include <granary/detail/trace/chrome_json.hpp>
#include <granary/detail/trace/html_report.hpp>
#include <granary/detail/trace/text_file.hpp>

namespace granary {

detail::TraceFormat detail::trace_format(std::string const& path) {
  if (path.ends_with(".json")) return TraceFormat::Chrome;
  if (path.ends_with(".html")) return TraceFormat::Html;
  throw InvalidArgument("the trace file '" + path +
                        "' has no known ending: .json (Perfetto, Chrome), .html (a report)");
}

void check_trace_file(std::string const& path) {
  static_cast<void>(detail::trace_format(path));
  check_text_output(path, {});
}

void write_trace(Trace const& trace, std::string const& path) {
  auto const format = detail::trace_format(path);
  TextFile file(path);
  switch (format) {
    case detail::TraceFormat::Chrome:
      write_chrome_json(trace, file);
      break;
    case detail::TraceFormat::Html:
      write_html_report(trace, file);
      break;
  }
  file.close();
}

}  // namespace granary
