// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/program.hpp"

#include <granary/detail/core/base/error.hpp>

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <system_error>

#include "apps/common/print.hpp"

namespace granary::app {
namespace {

// In a handler. Skips exit handlers: ours have run already, and HDF5's crashes if HDF5 has failed to close a file.
[[noreturn]] void fail(std::string const& name, ProgramHooks const& hooks, int status, std::string const& message) {
  bool const prints = !hooks.prints_failure || hooks.prints_failure(std::current_exception(), status);
  std::fflush(stdout);
  if (prints && !message.empty()) say(fmt::format("{}: {}\n", name, message));
  if (hooks.end) hooks.end();
  std::_Exit(status);
}

[[noreturn]] void fail(std::string const& name, ProgramHooks const& hooks, OutputError const& error) {
  if (error.reader_is_gone()) fail(name, hooks, 128 + SIGPIPE, "");  // as the signal would end it, without a message
  fail(name, hooks, 1, error.what());
}

// Otherwise the first opened file would get a closed standard descriptor's number, and printed text would go into it.
void occupy_standard_descriptors() {
  for (int const descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // Opened in the wrong direction, so that using it is an error.
    [[maybe_unused]] int const opened = ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

// Otherwise each thread keeps what it has freed to itself, and a plan over many tasks is freed on several: with 125,250
// tiles and `planned`, 75 MiB are unused. The environment's number stays.
void share_free_memory() {
#ifdef __GLIBC__
  if (std::getenv("MALLOC_ARENA_MAX") == nullptr) ::mallopt(M_ARENA_MAX, 1);
#endif
}

}  // namespace

int run_program(std::string const& name, std::function<void(SignalWatch&)> const& body, ProgramHooks const& hooks) {
  // Standard output has the result; warnings go to standard error.
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(name, std::make_shared<spdlog::sinks::stderr_sink_mt>()));
  spdlog::set_pattern("[%l] %v");
  occupy_standard_descriptors();
  share_free_memory();
  // Both signals would end the process; ignored, they become errors of the write.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    if (hooks.start) hooks.start();
    SignalWatch signals;
    body(signals);
    flush_output();
    if (hooks.end) hooks.end();
    return 0;
  } catch (OutputError const& error) {
    fail(name, hooks, error);
  } catch (Interrupted const& error) {
    fail(name, hooks, error.status(), error.what());
  } catch (InvalidArgument const& error) {
    fail(name, hooks, 2, error.what());
  } catch (DataError const& error) {
    fail(name, hooks, 2, error.what());
  } catch (std::bad_alloc const&) {
    fail(name, hooks, 1, "out of memory");
  } catch (std::system_error const& error) {
    // Also fmt's, if it cannot print.
    if (std::ferror(stdout) != 0) fail(name, hooks, OutputError(error.code().value()));
    fail(name, hooks, 1, error.what());
  } catch (std::exception const& error) {
    fail(name, hooks, 1, error.what());
  }
}

}  // namespace granary::app
