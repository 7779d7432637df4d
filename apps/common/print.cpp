// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/print.hpp"

#include <granary/detail/trace/text_file.hpp>

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace granary::app {
namespace {

bool has_no_reader(int descriptor) {
  struct pollfd output {
    descriptor, POLLOUT, 0
  };
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

}  // namespace

OutputError::OutputError(int error_number)
    : Error("cannot write to the standard output" +
            (error_number == 0 ? std::string() : ": " + std::generic_category().message(error_number))),
      m_reader_is_gone(error_number == EPIPE || has_no_reader(STDOUT_FILENO)) {}

std::string times(std::uint64_t count) { return count == 1 ? "once" : std::to_string(count) + " times"; }

void flush_output() {
  if (std::fflush(stdout) != 0) throw OutputError(errno);
  if (std::ferror(stdout) != 0) throw OutputError(0);
}

bool is_standard_output(std::string const& file) { return file == "-" || file == "/dev/stdout"; }

void write_text(std::string const& file, std::string const& text) {
  if (is_standard_output(file)) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) throw OutputError(errno);
    return flush_output();
  }
  TextFile whole(file);
  whole.write(text);
  whole.close();
}

}  // namespace granary::app
