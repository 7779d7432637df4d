// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/base/error.hpp>
#include <granary/linalg/not_positive_definite.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>

#include "run.hpp"

namespace {

using namespace granary;

// Exit statuses: 1 failed, or not positive definite; 2 bad input; 128 + number: ended by a signal.
// Leaves at once: everything of ours is cleaned up by now, and HDF5, once it has failed to close a file, crashes in its
// exit handler.
[[noreturn]] void fail(int status, std::string const& message) {
  fmt::print(stderr, "granary-cholesky: {}\n", message);
  std::fflush(nullptr);
  std::_Exit(status);
}

void write_json(std::string const& path, std::string const& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw Error("cannot write " + path);
}

void report(app::Options const& options, app::Report const& result) {
  if (!options.quiet) fmt::print("{}", app::format_summary(result));
  if (options.json) write_json(*options.json, app::format_json(result));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    auto const options = app::parse_options(argc, argv);
    if (!options) return 0;
    app::SignalWatch signals;
    report(*options, app::run(*options, signals));
    return 0;
  } catch (app::Interrupted const& error) {
    fail(128 + error.signal(), error.what());
  } catch (InvalidArgument const& error) {
    fail(2, error.what());
  } catch (DataError const& error) {
    fail(2, error.what());
  } catch (std::bad_alloc const&) {
    fail(1, "the system has no memory left");
  } catch (std::exception const& error) {
    fail(1, error.what());
  }
}
