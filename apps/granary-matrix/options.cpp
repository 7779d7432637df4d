// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/generators/generators.hpp>
#include <granary/version.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "apps/common/parse_arguments.hpp"

namespace granary::app {
namespace {

// The options of a subcommand that writes; texts are parsed after CLI11 has accepted the command line.
struct WriteArguments {
  WriteOptions options;
  std::string memory = "1GiB";
  bool single = false;
  bool two_words = false;

  void add_to(CLI::App& app) {
    app.add_option("OUT", options.output, "the file to write: .h5 or .hdf5, .npy, .mtx")->required();
    app.add_option("--tile", options.tile,
                   "tile size, also the chunk size of an HDF5 file (default: the input's or 512)")
        ->transform(whole_number(1, 32768));
    app.add_option("--dataset", options.dataset, "name of the matrix in an HDF5 file (default: A)");
    auto* const narrow = app.add_flag("--float", single, "write single precision");
    app.add_flag("--double", two_words, "write double precision")->excludes(narrow);
    app.add_option("--memory", memory, "limit for elements in memory, e.g. 512MiB or 150MB")->capture_default_str();
  }
  WriteOptions finish() {
    options.memory = parse_bytes(memory);
    if (options.memory == 0)
      throw InvalidArgument("malformed size '" + memory + "': the memory limit must be above zero");
    if (single || two_words) options.single_precision = single;
    return options;
  }
};

struct CsvArguments {
  std::string columns;
  std::string separator;
  bool header = false;

  void add_to(CLI::App& app) {
    app.add_option("--columns", columns, "CSV: the columns to convert, by names or numbers, e.g. x,y or 1,3-5");
    app.add_option("--separator", separator,
                   "CSV: the character between fields, or tab (default: a tab, ; or , whichever the first line has)");
    app.add_flag("--header", header, "CSV: the first line is a header even if it has numbers");
  }
  [[nodiscard]] char separator_of(CLI::App const& app) const {
    if (app.count("--separator") == 0) return 0;
    return separator == "tab" ? '\t' : checked_separator(separator);
  }
  [[nodiscard]] CsvOptions finish(CLI::App const& app) const {
    CsvOptions options{.columns = {}, .separator = separator_of(app), .header = header};
    if (app.count("--columns") > 0) options.columns = split_csv_line(columns);
    return options;
  }
};

struct GenerateArguments {
  std::string kind;
  std::string size;
  std::uint64_t seed = 1;
  double condition = 0;
  double length = 10;
  double nugget = 0;
  bool complex = false;

  void add_to(CLI::App& app) {
    app.add_option("KIND", kind,
                   "general: random; spd: random, symmetric positive definite; hilbert: 1/(i+j+1); laplacian: "
                   "covariances exp(-|x_i-x_j|/length) of points")
        ->required()
        ->check(CLI::IsMember({"general", "spd", "hilbert", "laplacian"}));
    app.add_option("SIZE", size,
                   "order N; general also ROWSxCOLS; laplacian: N points on a line, or a grid of ROWSxCOLS points")
        ->required();
    app.add_option("--seed", seed, "general, spd: seed of the random elements")
        ->capture_default_str()
        ->transform(whole_number(0));
    app.add_option("--condition", condition, "spd: condition number in the 2-norm (default: diagonally dominant)");
    app.add_option("--length", length, "laplacian: correlation length, in spacings of the points")
        ->capture_default_str();
    app.add_option("--nugget", nugget, "hilbert, laplacian: added to the diagonal")->capture_default_str();
    app.add_flag("--complex", complex, "complex elements; spd becomes Hermitian");
  }

  // Only the size can be malformed here.
  GeneratedMatrix named(std::string const& name) const {
    try {
      return parse_generated(name);
    } catch (InvalidArgument const&) {
      throw InvalidArgument(
          fmt::format("malformed size '{}' of a matrix {}: write {} with extents from 1 to 2147483647", size, kind,
                      kind == "general" || kind == "laplacian" ? "N or ROWSxCOLS" : "N"));
    }
  }

  GeneratedMatrix matrix(CLI::App const& app) const {
    auto const refuse_unless = [&](std::string const& option, bool applies) {
      if (app.count(option) > 0 && !applies) throw InvalidArgument(option + " does not apply to " + kind);
    };
    bool const random = kind == "general" || kind == "spd";
    refuse_unless("--seed", random);
    refuse_unless("--condition", kind == "spd");
    refuse_unless("--length", kind == "laplacian");
    refuse_unless("--nugget", !random);
    if (kind == "general") return named(fmt::format("general:{}:{}", size, seed));
    if (kind == "hilbert") return named(fmt::format("hilbert:{}:{}", size, nugget));
    if (kind == "laplacian") return named(fmt::format("laplacian:{}:{}:{}", size, length, nugget));
    return app.count("--condition") == 0 ? named(fmt::format("random:{}:{}", size, seed))
                                         : named(fmt::format("spd:{}:{}:{}", size, condition, seed));
  }
};

}  // namespace

std::optional<MatrixOptions> parse_matrix_options(int argc, char const* const* argv) {
  CLI::App app("Shows, converts and generates matrix files, in bounded memory.", "granary-matrix");
  app.set_version_flag("--version", "granary-matrix " GRANARY_VERSION_STRING);
  app.require_subcommand(1);

  InfoOptions info_options;
  auto* const info = app.add_subcommand("info", "lists the matrices in a file");
  info->add_option("FILE", info_options.input, "file.h5[:/dataset], file.npy, file.csv or file.mtx")->required();
  info->add_flag("--json", info_options.json, "as JSON");

  ConvertOptions convert_options;
  WriteArguments convert_arguments;
  auto* const convert = app.add_subcommand("convert", "copies a matrix into a file of another format");
  convert
      ->add_option("IN", convert_options.input,
                   "file.h5[:/dataset], file.npy, file.csv, file.mtx, or a generated matrix, such as spd:1000:1e6")
      ->required();
  convert_arguments.add_to(*convert);
  CsvArguments csv_arguments;
  csv_arguments.add_to(*convert);

  GenerateArguments generate_arguments;
  WriteArguments write_arguments;
  auto* const generate = app.add_subcommand("generate", "writes a generated matrix");
  generate_arguments.add_to(*generate);
  write_arguments.add_to(*generate);

  if (!parse_arguments(app, argc, argv)) return std::nullopt;
  if (info->parsed()) return info_options;
  if (convert->parsed()) {
    convert_options.write = convert_arguments.finish();
    convert_options.csv = csv_arguments.finish(*convert);
    return convert_options;
  }
  return GenerateOptions{.matrix = generate_arguments.matrix(*generate),
                         .complex = generate_arguments.complex,
                         .write = write_arguments.finish()};
}

}  // namespace granary::app
