// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/child.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace granary::testing {
namespace fs = std::filesystem;
namespace {

std::string read_all(fs::path const& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

[[noreturn]] void become(std::string const& program, std::vector<std::string> const& arguments, fs::path const& out,
                         fs::path const& err, ChildOptions const& options) {
  auto const redirect = [](fs::path const& path, int descriptor) {
    ::dup2(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), descriptor);
  };
  redirect(options.out.empty() ? out : options.out, STDOUT_FILENO);
  redirect(err, STDERR_FILENO);
  int ends[2] = {};
  if (options.out_without_reader && ::pipe2(ends, O_CLOEXEC) == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
  }
  if (options.err_is_stuck && ::pipe(ends) == 0) {  // its reader is the child itself
    ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
    while (::write(ends[1], "x", 1) == 1) {
    }
    ::fcntl(ends[1], F_SETFL, 0);
    ::dup2(ends[1], STDERR_FILENO);
  }
  if (::chdir(options.directory.c_str()) != 0) ::_exit(126);
  // A program under test writes nothing to the user's cache directory.
  ::setenv("GRANARY_MODELS", options.models.empty() ? "off" : options.models.c_str(), 1);
  if (options.file_size_limit) {
    struct rlimit const limit{*options.file_size_limit, *options.file_size_limit};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (auto const& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  ::_exit(127);
}

// SIGUSR1 for as long as the options say, and until the child has written to its standard error, if that can be read.
void flood(pid_t child, fs::path const& err, ChildOptions const& options) {
  auto const start = std::chrono::steady_clock::now();
  auto const answered = [&] {
    std::error_code ignored;
    return options.err_is_stuck || fs::file_size(err, ignored) > 0;
  };
  while (std::chrono::steady_clock::now() < start + options.flood ||
         (!answered() && std::chrono::steady_clock::now() < start + options.deadline))
    ::kill(child, SIGUSR1);
}

void send_when(pid_t child, fs::path const& err, ChildOptions const& options) {
  auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  auto const there = [&] {
    std::error_code ignored;
    return std::ranges::any_of(fs::directory_iterator(options.directory, ignored), [&](auto const& entry) {
      return entry.path().filename().string().find(options.signal_when) != std::string::npos;
    });
  };
  while (!options.signal_when.empty() && !there() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(options.signal_after);
  if (options.flood.count() > 0) flood(child, err, options);
  ::kill(child, options.signal);
}

// Leaves the child to be waited for.
void kill_after_deadline(pid_t child, std::chrono::milliseconds most) {
  auto const deadline = std::chrono::steady_clock::now() + most;
  siginfo_t state{};
  auto const runs = [&] {
    return ::waitid(P_PID, static_cast<id_t>(child), &state, WEXITED | WNOHANG | WNOWAIT) == 0 && state.si_pid == 0;
  };
  while (runs()) {
    if (std::chrono::steady_clock::now() > deadline) ::kill(child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace

ChildResult run_child(std::string const& program, std::vector<std::string> const& arguments,
                      ChildOptions const& options) {
  TemporaryDirectory const captured;
  auto const out = captured.path() / "out";
  auto const err = captured.path() / "err";
  pid_t const child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) become(program, arguments, out, err, options);
  if (options.signal != 0) {
    send_when(child, err, options);
    kill_after_deadline(child, options.deadline);
  }
  int status = 0;
  struct rusage usage {};
  if (::wait4(child, &status, 0, &usage) != child) throw std::runtime_error("cannot wait for a child");
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_all(out), read_all(err),
          usage.ru_maxrss};
}

TemporaryDirectory::TemporaryDirectory() {
  auto pattern = (fs::temp_directory_path() / "granary-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
  m_path = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(m_path, ignored);
}

std::vector<std::string> TemporaryDirectory::files() const {
  std::vector<std::string> names;
  for (auto const& entry : fs::directory_iterator(m_path)) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace granary::testing

namespace granary {
namespace {

TEST(Child, ReportsStatusOutputAndMemory) {
  auto const result = testing::run_child("/bin/sh", {"-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_GT(result.peak_kibibytes, 0);
}

}  // namespace
}  // namespace granary
