// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/base/error.hpp>
#include <granary/linalg/files/spd_generator.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace {

int fail(int status, std::string const& message) {
  fmt::print(stderr, "granary-spd: {}\n", message);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t n = 0;
  std::string path;
  std::uint64_t tile = 512;
  std::uint64_t seed = 1;
  bool single = false;
  CLI::App app("Writes a random symmetric positive definite matrix as dataset A of an HDF5 file, in bounded memory.",
               "granary-spd");
  app.add_option("N", n, "order of the matrix")
      ->required()
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 24));
  app.add_option("FILE", path, "the HDF5 file to write")->required();
  app.add_option("--tile", tile, "order of the chunks")->capture_default_str()->check(CLI::Range(1, 32768));
  app.add_option("--seed", seed, "which matrix; granary-cholesky random:N:SEED has the same elements")
      ->capture_default_str();
  app.add_flag("--float", single, "32-bit elements instead of 64-bit ones");
  app.set_version_flag("--version", "granary-spd " GRANARY_VERSION);
  try {
    app.parse(argc, argv);
  } catch (CLI::Success const& request) {
    return app.exit(request);
  } catch (CLI::ParseError const& error) {
    return fail(2, error.what());
  }
  try {
    granary::write_random_spd(path, n, std::min(tile, n), seed,
                              single ? granary::ScalarType::Float32 : granary::ScalarType::Float64);
  } catch (granary::InvalidArgument const& error) {
    return fail(2, error.what());
  } catch (std::exception const& error) {
    return fail(1, error.what());
  }
  return 0;
}
