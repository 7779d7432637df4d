// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads HDF5 files with any bytes changed, each in a child process, since libhdf5 itself crashes on some. Crashes
// within libhdf5 are counted by its first function on the stack; anything else is a failure.
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/fuzz/hdf5_make.hpp"
#include "tests/fuzz/hdf5_reads.hpp"

namespace granary::fuzz {
namespace {

constexpr int of_libhdf5 = 99;
int report = -1;  // where the child writes the function's name

// The innermost library on the stack, ignoring libc.
void judge(int signal) {
  std::array<void*, 64> frames{};
  int const count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  for (int f = 0; f < count; ++f) {
    Dl_info info{};
    if (::dladdr(frames[static_cast<std::size_t>(f)], &info) == 0 || info.dli_fname == nullptr) continue;
    std::string_view const library = info.dli_fname;
    if (library.find("libhdf5") != std::string_view::npos) {
      std::string_view const name = info.dli_sname != nullptr ? info.dli_sname : "an internal function";
      if (::write(report, name.data(), name.size()) < 0) ::_exit(1);
      ::_exit(of_libhdf5);
    }
    if (library.find("granary") != std::string_view::npos) break;
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

struct Counts {
  std::map<std::string, unsigned> crashes;
  ~Counts() {
    for (auto const& [function, count] : crashes) std::printf("ended in libhdf5, %s: %u\n", function.c_str(), count);
  }
};

[[noreturn]] void run_child(std::string const& path) {
  std::array<char, 65536> static stack;
  stack_t const other{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  ::sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = judge;
  action.sa_flags = SA_ONSTACK;
  for (int const signal : {SIGPROF, SIGALRM, SIGSEGV, SIGABRT, SIGFPE, SIGBUS}) ::sigaction(signal, &action, nullptr);
  constexpr itimerval most{.it_interval = {}, .it_value = {.tv_sec = 4, .tv_usec = 0}};
  ::setitimer(ITIMER_PROF, &most, nullptr);
  ::alarm(50);
  read_hdf5(path, 65536);
  ::_exit(0);
}

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> files;
  auto const path = scratch_file();
  for (unsigned p = 0; p < 24; ++p) {
    std::string program(48, '\0');
    for (std::size_t i = 0; i < program.size(); ++i) program[i] = static_cast<char>((p * 37 + i * i * p) & 0x7fU);
    make_hdf5(path, program);
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    if (text.str().size() < 32768) files.push_back(text.str());
  }
  ::unlink(path.c_str());
  return files;
}

std::vector<std::string> words() {
  return {std::string(8, '\0'),        std::string(8, '\xff'), "SNOD", "TREE", "OHDR", "HEAP", "\1",
          std::string("\0\0\0\x80", 4)};
}

}  // namespace granary::fuzz

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace granary::fuzz;
  static MemoryFile const file;
  static Counts counts;
  static std::array<int, 2> pipe{-1, -1};
  if (pipe[0] < 0 && ::pipe2(pipe.data(), O_NONBLOCK | O_CLOEXEC) != 0) fail("no pipe");
  report = pipe[1];
  file.write(text_of(data, size));
  pid_t const child = ::fork();
  if (child == 0) run_child(file.path());
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) fail("no child process");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
  std::array<char, 256> name{};
  auto const length = ::read(pipe[0], name.data(), name.size());
  if (!WIFEXITED(status) || WEXITSTATUS(status) != of_libhdf5)
    fail("a child ended with status " + std::to_string(status));
  ++counts.crashes[length > 0 ? std::string(name.data(), static_cast<std::size_t>(length)) : "unknown"];
  return 0;
}
