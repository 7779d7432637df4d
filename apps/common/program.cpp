// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/program.hpp"

#include <granary/core/base/error.hpp>

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>

namespace granary::app {
namespace {

// Leaves at once: everything of ours is cleaned up by now, and HDF5, once it has failed to close a file, crashes in its
// exit handler.
[[noreturn]] void fail(std::string const& name, int status, std::string const& message) {
  fmt::print(stderr, "{}: {}\n", name, message);
  std::fflush(nullptr);
  std::_Exit(status);
}

}  // namespace

int run_program(std::string const& name, std::function<void(SignalWatch&)> const& body) {
  // What is printed is the result; warnings do not belong there.
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(name, std::make_shared<spdlog::sinks::stderr_sink_mt>()));
  spdlog::set_pattern("[%l] %v");
  try {
    SignalWatch signals;
    body(signals);
    return 0;
  } catch (Interrupted const& error) {
    fail(name, 128 + error.signal(), error.what());
  } catch (InvalidArgument const& error) {
    fail(name, 2, error.what());
  } catch (DataError const& error) {
    fail(name, 2, error.what());
  } catch (std::bad_alloc const&) {
    fail(name, 1, "the system has no memory left");
  } catch (std::exception const& error) {
    fail(name, 1, error.what());
  }
}

}  // namespace granary::app
