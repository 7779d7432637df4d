// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads CSV files: headers, and the values of small ones. The first byte of the input chooses the options.
#include <granary/detail/linalg/files/csv_file.hpp>

#include <cmath>

#include "tests/fuzz/no_output.hpp"
#include "tests/fuzz/target.hpp"

namespace granary::fuzz {
namespace {

void read_rows(CsvInfo const& info) {
  constexpr std::uint64_t most_elements = 1 << 16;
  if (info.rows * info.cols() > most_elements) return;
  CsvRows rows(info, CsvRows::Values::Any);
  std::vector<double> row(info.cols());
  for (std::uint64_t i = 0; i < info.rows; ++i) rows.next(row.data());
  rows.require_end();
  for (auto const tile : {std::uint64_t{3}, std::uint64_t{64}}) {
    NoOutput output({info.rows, info.cols(), tile}, tile == 3 ? ScalarType::Float64 : ScalarType::Float32);
    read_csv_into(info, output, 64 << 20);
  }
}

CsvOptions options_of(unsigned char choice) {
  CsvOptions options{.columns = {}, .separator = 0, .header = (choice & 1U) != 0};
  constexpr char separators[]{0, 0, ',', '|'};
  options.separator = separators[(choice >> 1U) & 3U];
  if ((choice & 8U) != 0) options.columns = {"x", "2"};
  if ((choice & 16U) != 0) options.columns = {"1-2"};
  return options;
}

}  // namespace

std::vector<std::string> seeds() {
  std::string const start(1, '\0');
  return {start + "x,y\n1,2\n3,4\n",
          start + "\xef\xbb\xbf\"a \"\"b\"\"\";y\r\n+1;-2.5e-3\r\n\"4\";nan\r\n\r\n",
          start + "1\t2\t3\n4\t5\t6",
          std::string("\x08") + "x,z,y\n1,2,3\n4,5,6\n",
          std::string("\x11") + "1,2,3\n4,5,6\n",
          start + "v\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"};
}

std::vector<std::string> words() {
  return {",",
          ";",
          "\t",
          "|",
          "\"",
          "\"\"",
          "\n",
          "\r\n",
          "\r",
          "\n\n",
          "NA",
          "null",
          "nan",
          "-inf",
          "1e400",
          "1e-400",
          "+",
          " ",
          "x",
          "\xef\xbb\xbf",
          "\x1b[2J",
          std::string(1, '\0'),
          std::string(5000, '7'),
          std::string(5000, ' '),
          "\"a,b\"\n"};
}

}  // namespace granary::fuzz

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace granary;
  if (size == 0) return 0;
  static fuzz::MemoryFile const file;
  file.write(fuzz::text_of(data + 1, size - 1));
  fuzz::refuses_or(size, [&] { fuzz::read_rows(open_csv(file.path(), fuzz::options_of(*data))); });
  fuzz::refuses_or(size, [&] { static_cast<void>(split_csv_line(fuzz::text_of(data, size))); });
  return 0;
}
