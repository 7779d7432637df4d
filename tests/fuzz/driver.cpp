// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a fuzz target without libFuzzer: mutates the target's seeds with a random generator whose seed is printed, or
// given.
//   fuzz_x [--seconds S] [--inputs N] [--seed K] [--write-corpus DIRECTORY] [FILE...]
// Ctrl-C ends it and prints its progress. FILEs are run unchanged, and nothing else. An input that ends the program, or
// takes over 5 s of processor time (60 s of wall time: the machine may be busy), is stored in fuzz-crash.
#include <granary/detail/core/base/random.hpp>

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>

#include "tests/fuzz/target.hpp"

#if defined(__SANITIZE_ADDRESS__)
extern "C" void __sanitizer_set_death_callback(void (*callback)());  // NOLINT: the sanitizer's name
#endif

namespace granary::fuzz {
namespace {

constexpr itimerval longest_work{.it_interval = {}, .it_value = {.tv_sec = 5, .tv_usec = 0}};
constexpr unsigned longest_seconds = 60;
constexpr std::size_t longest_input = 65536;

// The running input, for the signal handler.
char const* running = nullptr;
std::size_t running_size = 0;

volatile std::sig_atomic_t stop = 0;

void save_input(int signal) {
  constexpr std::string_view hang = "fuzz: an input took too long; it is in fuzz-crash\n";
  constexpr std::string_view crash = "fuzz: an input ended the program; it is in fuzz-crash\n";
  auto const text = signal == SIGALRM || signal == SIGPROF ? hang : crash;
  int const file = ::open("fuzz-crash", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool const saved = file >= 0 && ::write(file, running, running_size) == static_cast<ssize_t>(running_size);
  if (saved && ::write(STDERR_FILENO, text.data(), text.size()) < 0) ::_exit(3);
  ::_exit(1);
}

void watch_signals() {
#if defined(__SANITIZE_ADDRESS__)
  // A sanitizer has its own handlers, with better messages.
  __sanitizer_set_death_callback([] { save_input(0); });
  for (int const signal : {SIGALRM, SIGPROF}) std::signal(signal, save_input);
  return;
#endif
  for (int const signal : {SIGALRM, SIGPROF, SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS}) std::signal(signal, save_input);
  // On a stack overflow the handler needs its own stack.
  static std::array<char, 65536> stack;
  stack_t const other{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  ::sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = save_input;
  action.sa_flags = SA_ONSTACK;
  ::sigaction(SIGSEGV, &action, nullptr);
}

void run(std::string const& input) {
  running = input.data();
  running_size = input.size();
  ::alarm(longest_seconds);
  ::setitimer(ITIMER_PROF, &longest_work, nullptr);
  LLVMFuzzerTestOneInput(reinterpret_cast<std::uint8_t const*>(input.data()), input.size());
}

class Mutator {
 public:
  Mutator(std::uint64_t seed, std::vector<std::string> corpus)
      : m_random(seed), m_corpus(std::move(corpus)), m_words(words()) {}

  std::string next() {
    auto input = one_of(m_corpus);
    auto const changes = 1 + m_random.below(m_random.chance(0.1) ? 32 : 4);
    for (std::uint64_t i = 0; i < changes; ++i) change(input);
    if (input.size() > longest_input) input.resize(longest_input);
    return input;
  }

 private:
  std::string const& one_of(std::vector<std::string> const& from) { return from[m_random.below(from.size())]; }
  std::size_t place(std::string const& input) { return m_random.below(input.size() + 1); }

  void change(std::string& input) {
    auto const at = place(input);
    auto const length = std::min(input.size() - at, m_random.below(m_random.chance(0.2) ? 256 : 16));
    switch (m_random.below(9)) {
      case 0:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << m_random.below(8)));
        break;
      case 1:
        if (at < input.size()) input[at] = static_cast<char>(m_random.below(256));
        break;
      case 2:
        input.erase(at, length);
        break;
      case 3:
        input.insert(at, input.substr(place(input), length));
        break;
      case 4:
        input.insert(at, one_of(m_words));
        break;
      case 5:
        if (m_random.chance(0.2)) input.resize(at);
        break;
      case 6: {
        auto const& other = one_of(m_corpus);
        input.replace(at, length, other, place(other), m_random.below(64));
        break;
      }
      default:
        change_number(input, at);
    }
  }

  // Readers handle numbers: replaces the next one.
  void change_number(std::string& input, std::size_t at) {
    constexpr std::string_view digits = "0123456789+-.eE";
    static std::vector<std::string> const numbers{"0",     "1",          "2",
                                                  "3",     "-1",         "7",
                                                  "64",    "0.5",        "1e3",
                                                  "1e10",  "2147483647", "2147483648",
                                                  "1e-30", "-1e300",     "1e18",
                                                  "1e30",  "4294967296", "9223372036854775807",
                                                  "1e308", "nan",        "18446744073709551615",
                                                  "1e400", "1000000"};
    at = input.find_first_of("0123456789", at);
    if (at == std::string::npos) return;
    auto const end = input.find_first_not_of(digits, at);
    input.replace(at, end == std::string::npos ? end : end - at, one_of(numbers));
  }

  detail::Random m_random;
  std::vector<std::string> m_corpus;
  std::vector<std::string> m_words;
};

struct Arguments {
  double seconds = 0;  // 0: no limit
  std::uint64_t inputs = 0;
  std::uint64_t seed = 1;
  std::string write_corpus;
  std::vector<std::string> files;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    std::string const option = argv[i];
    if (!option.starts_with("--")) {
      arguments.files.push_back(option);
      continue;
    }
    if (++i == argc) fail("the option " + option + " needs a value");
    if (option == "--seconds") {
      arguments.seconds = std::strtod(argv[i], nullptr);
    } else if (option == "--inputs") {
      arguments.inputs = std::strtoull(argv[i], nullptr, 10);
    } else if (option == "--seed") {
      arguments.seed = std::strtoull(argv[i], nullptr, 10);
    } else if (option == "--write-corpus") {
      arguments.write_corpus = argv[i];
    } else {
      fail("unknown option " + option);
    }
  }
  return arguments;
}

void run_mutations(Arguments const& arguments) {
  using Clock = std::chrono::steady_clock;
  auto const corpus = seeds();
  for (auto const& seed : corpus) run(seed);
  Mutator mutator(arguments.seed, corpus);
  auto const start = Clock::now();
  auto const passed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  double const seconds = arguments.seconds > 0 || arguments.inputs > 0 ? arguments.seconds : 5;
  std::uint64_t inputs = 0;
  for (int const signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { stop = 1; });
  while (stop == 0 && (arguments.inputs == 0 || inputs < arguments.inputs) && (seconds == 0 || passed() < seconds)) {
    run(mutator.next());
    ++inputs;
  }
  ::alarm(0);
  std::printf("%llu inputs from %zu seeds in %.1f s, %.0f a second, seed %llu\n",
              static_cast<unsigned long long>(inputs), corpus.size(), passed(), static_cast<double>(inputs) / passed(),
              static_cast<unsigned long long>(arguments.seed));
}

}  // namespace
}  // namespace granary::fuzz

int main(int argc, char** argv) {
  using namespace granary::fuzz;
  auto const arguments = parse(argc, argv);
  watch_signals();
  if (!arguments.write_corpus.empty()) {
    std::size_t number = 0;
    for (auto const& seed : seeds())
      std::ofstream(arguments.write_corpus + "/seed-" + std::to_string(number++), std::ios::binary) << seed;
    return 0;
  }
  for (auto const& file : arguments.files) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    run(text.str());
  }
  if (arguments.files.empty()) run_mutations(arguments);
  return 0;
}
