// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the programs choose the BLAS and its kernels, with a library that pretends to be an OpenBLAS (tests/apps/blas).
#include <granary/detail/core/backends/vector_units.hpp>

#include "apps/cli_test.hpp"

namespace granary::blas_cli_test {

using namespace detail;

namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using Strings = std::vector<std::string>;

constexpr char const* library = GRANARY_TEST_BLAS;
constexpr char const* no_blas = GRANARY_TEST_TOOL;

Strings operator+(Strings left, Strings const& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

// What the programs ask of an OpenBLAS with Prescott kernels; empty if nothing is faster here.
std::string faster_kernels() {
  auto const units = processor_vector_units();
  if (units == VectorUnits::Avx512) return "SkylakeX";
  return units == VectorUnits::Avx2 ? "Haswell" : "";
}

class BlasCli : public testing::CliTest {
 protected:
  BlasCli() : CliTest("granary-info") {}
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers must be the first library";
#endif
  }

  // In an environment with these variables, and without those that choose kernels.
  [[nodiscard]] testing::ChildResult run_with(Strings const& variables, Strings const& arguments,
                                              std::string const& program = "granary-info") const {
    Strings const command{"-u", "OPENBLAS_CORETYPE", "-u", "GRANARY_BLAS_KERNELS", "-u", "GRANARY_BLAS_LOADED"};
    return testing::run_child("/usr/bin/env",
                              command + variables + Strings{std::string(GRANARY_BIN_DIR "/") + program} + arguments,
                              {.directory = m_directory.path()});
  }
  [[nodiscard]] json blas(Strings const& variables, Strings const& arguments = {}) const {
    auto const result = run_with(variables, arguments + Strings{"--devices", "none", "--json", "-"});
    EXPECT_EQ(result.status, 0) << result.err;
    return result.status == 0 ? json::parse(result.out).at("granary").at("blas") : json();
  }
  void expect_refused_with(Strings const& variables, Strings const& arguments, std::string const& part) const {
    auto const result = run_with(variables, arguments);
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_THAT(result.err, ::testing::StartsWith("granary-info: "));
    EXPECT_THAT(result.err, HasSubstr(part));
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
  }
  [[nodiscard]] long count_loads() const {
    std::ifstream log(file("log"));
    std::string const lines{std::istreambuf_iterator<char>(log), {}};
    return std::ranges::count(lines, '\n');
  }

  std::string const m_preload = std::string("LD_PRELOAD=") + library;
  std::string const m_log = "TEST_BLAS_LOG=" + file("log");
};

TEST_F(BlasCli, ProgramsStartAgainOnceWithTheKernelsOfTheProcessor) {
  auto const described = blas({m_preload, m_log});
  auto const kernels = faster_kernels();
  EXPECT_EQ(described.at("file"), library);
  if (kernels.empty()) {
    EXPECT_EQ(described.at("kernels"), "Prescott");
    EXPECT_TRUE(described.at("kernels_without_granary").is_null());
    EXPECT_EQ(count_loads(), 1);
    return;
  }
  EXPECT_EQ(described.at("kernels"), kernels);
  EXPECT_EQ(described.at("kernels_without_granary"), "Prescott");
  EXPECT_EQ(described.at("vectors"), name_of(processor_vector_units()));
  EXPECT_THAT(described.at("remark").get<std::string>(),
              EndsWith(", chosen by granary; OpenBLAS alone chooses Prescott"));
  EXPECT_EQ(count_loads(), 2);
}

TEST_F(BlasCli, TheUsersChoiceOfKernelsStays) {
  auto const described = blas({m_preload, m_log, "OPENBLAS_CORETYPE=Prescott"});
  EXPECT_EQ(described.at("kernels"), "Prescott");
  EXPECT_TRUE(described.at("kernels_without_granary").is_null());
  EXPECT_EQ(count_loads(), 1);
  if (auto const kernels = faster_kernels(); !kernels.empty()) {
    EXPECT_EQ(described.at("remark"),
              "Prescott (SSE), slower than this processor allows: set OPENBLAS_CORETYPE=" + kernels);
  }
}

TEST_F(BlasCli, ALibraryThatKeepsItsKernelsIsNotAskedTwice) {
  auto const kernels = faster_kernels();
  auto const described = blas({m_preload, m_log, "TEST_BLAS_KERNELS=Prescott"});
  EXPECT_EQ(described.at("kernels"), "Prescott");
  EXPECT_EQ(count_loads(), kernels.empty() ? 1 : 2);
  if (!kernels.empty()) {
    EXPECT_EQ(described.at("remark"), "Prescott (SSE), slower than this processor allows, and OPENBLAS_CORETYPE=" +
                                          kernels + " changes nothing");
  }
}

TEST_F(BlasCli, AProgramThatAnotherOneStartedDoesNotStartAgain) {
  auto const described = blas({m_preload, m_log, "GRANARY_BLAS_KERNELS=Prescott"});
  EXPECT_EQ(described.at("kernels"), "Prescott");
  EXPECT_EQ(count_loads(), 1);
}

TEST_F(BlasCli, UnknownKernelsStay) {
  auto const described = blas({m_preload, m_log, "TEST_BLAS_KERNELS=NewestLake"});
  EXPECT_EQ(described.at("kernels"), "NewestLake");
  EXPECT_EQ(described.at("vectors"), "unknown");
  EXPECT_TRUE(described.at("kernels_without_granary").is_null());
  EXPECT_EQ(count_loads(), 1);
}

TEST_F(BlasCli, AnOptionLoadsAnotherLibrary) {
  EXPECT_NE(blas({}).at("file"), library);
  auto const kernels = faster_kernels();
  for (auto const& arguments : {Strings{"--blas", library}, Strings{std::string("--blas=") + library}}) {
    auto const described = blas({}, arguments);
    EXPECT_EQ(described.at("file"), library);
    EXPECT_THAT(described.at("name").get<std::string>(), ::testing::StartsWith("OpenBLAS 9.8.7 "));
    EXPECT_EQ(described.at("kernels"), kernels.empty() ? "Prescott" : kernels);
  }
  EXPECT_EQ(blas({m_preload}, {"--blas", library}).at("file"), library) << "it was loaded already";
  EXPECT_EQ(blas({std::string("LD_PRELOAD=") + no_blas}, {"--blas", library}).at("file"), library);
}

TEST_F(BlasCli, ArgumentsStayAsTheyWere) {
  auto const result = run_with({}, {"--json", "a file.json", "--devices", "none", "--blas", library});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(read_json("a file.json").at("granary").at("blas").at("file"), library);
  EXPECT_THAT(result.out, HasSubstr("\nBLAS kernels "));
  EXPECT_THAT(result.out, HasSubstr("\nspeed of a core   peak "));
}

TEST_F(BlasCli, ProgramsThatFactorAndSolveComputeWithIt) {
  for (auto const& [program, problem] : {std::pair<std::string, Strings>{"granary-cholesky", {"random:200"}},
                                         {"granary-lu", {"general:200"}},
                                         {"granary-solve", {"general:200", "general:200x3"}}}) {
    Strings const options{"--tile", "50", "--check", "--quiet", "--json", "out.json"};
    for (auto const& [variables, more] : {std::pair<Strings, Strings>{{m_preload}, {}}, {{}, {"--blas", library}}}) {
      auto const result = run_with(variables + Strings{m_log}, problem + options + more, program);
      ASSERT_EQ(result.status, 0) << program << ": " << result.err;
      EXPECT_LT(read_json("out.json").at("residual"), 30) << program;
    }
  }
  EXPECT_GE(count_loads(), 6);
}

TEST_F(BlasCli, WithOpenMpTheLimitHoldsOnEveryThreadThatCallsIt) {
  for (Strings const& devices : {Strings{"--devices", "none"}, Strings{"--devices", "host:1"}}) {
    auto const result = run_with({m_preload, "TEST_BLAS_OPENMP=1", m_log, "OPENBLAS_CORETYPE=Haswell"},
                                 Strings{"random:400", "--tile", "50", "--workers", "2"} + devices, "granary-cholesky");
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.err, ::testing::Not(HasSubstr("BLAS was given")));
  }
  std::ifstream log(file("log"));
  std::string const lines{std::istreambuf_iterator<char>(log), {}};
  EXPECT_THAT(lines, HasSubstr("loaded\n"));
  EXPECT_THAT(lines, ::testing::Not(HasSubstr("several threads")));
}

TEST_F(BlasCli, ASlowLibraryAndOneWithThreadsOfItsOwnAreNamed) {
  std::string const plain = GRANARY_TEST_PLAIN_BLAS;
  auto const name = std::filesystem::path(plain).filename().string();
  auto const slow = "granary: the BLAS " + name + " is slow: GEMM makes ";
  auto const threads = "granary: the BLAS " + name + " seems to run threads of its own";
  auto const preload = "LD_PRELOAD=" + plain;
  auto const alone = run_with({preload}, {"random:100", "--tile", "50", "--check"}, "granary-cholesky");
  ASSERT_EQ(alone.status, 0) << alone.err;
  EXPECT_THAT(alone.err, HasSubstr(slow));
  EXPECT_THAT(alone.err, HasSubstr(" GFlop/s of a core; install OpenBLAS, BLIS or MKL\n"));
  EXPECT_THAT(alone.err, ::testing::Not(HasSubstr(threads)));
  // One tile, without a product of tiles.
  auto const instant = run_with({preload, "TEST_BLAS_INSTANT=1"}, {"random:20"}, "granary-cholesky");
  ASSERT_EQ(instant.status, 0) << instant.err;
  EXPECT_THAT(instant.err, HasSubstr(threads));
  EXPECT_THAT(instant.err, ::testing::Not(HasSubstr(slow)));
}

TEST_F(BlasCli, RefusesALibraryThatItCannotUse) {
  expect_refused_with({}, {"--blas", "nowhere.so"}, "--blas nowhere.so: ");
  expect_refused_with({}, {"--blas", file("nowhere.so")}, "No such file or directory");
  expect_refused_with({}, {"--blas", no_blas},
                      std::string("--blas ") + no_blas + ": the library has no function dgemm_");
  expect_refused_with({}, {"--blas", library, "--blas", library}, "--blas");
  expect_refused_with({}, {"--blas"}, "--blas");
  expect_refused_with({}, {"--blas", ""}, "the value of --blas is empty");
  expect_refused_with({std::string("GRANARY_BLAS_LOADED=") + library}, {"--blas", library}, "nevertheless");
  auto const copy = m_directory.path() / "a blank.so";
  std::filesystem::copy_file(library, copy);
  expect_refused_with({}, {"--blas", copy.string()}, "a blank or a colon separates the files of LD_PRELOAD");
}

TEST_F(BlasCli, RefusesALibraryThatIsWrongOrHasOtherIntegers) {
  std::string const plain = GRANARY_TEST_PLAIN_BLAS;
  auto const end =
      plain +
      ": a small GEMM, TRSM and POTRF with it end wrong or with a crash; granary needs a BLAS with 32-bit integers "
      "(LP64)\n";
  for (std::string const fault :
       {"TEST_BLAS_WRONG=results", "TEST_BLAS_WRONG=crash", "TEST_BLAS_WRONG=stop", "TEST_BLAS_INTEGERS=64"}) {
    expect_refused_with({fault}, {"--blas", plain}, "granary-info: --blas " + end);
    expect_refused_with({fault, "LD_PRELOAD=" + plain}, {}, "granary-info: LD_PRELOAD of " + end);
  }
  EXPECT_EQ(blas({}, {"--blas", plain}).at("file"), plain);
  expect_refused_with({"TEST_BLAS_WRONG=symbol"}, {"--blas", plain},
                      plain + ": the program does not load with it: symbol lookup error: " + plain +
                          ": undefined symbol: granary_function_that_no_library_has\n");
}

}  // namespace
}  // namespace granary::blas_cli_test
