// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/fuzz/hdf5_make.hpp"

#include <granary/detail/linalg/files/hdf5_support.hpp>
#include <granary/detail/linalg/files/matrix_file.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace granary::fuzz {
namespace {

using detail::Hdf5Id;

// The bytes of a program, one choice each; zeros after its end.
class Choices {
 public:
  explicit Choices(std::string_view program) : m_program(program) {}
  [[nodiscard]] std::size_t below(std::size_t bound) {
    if (m_program.empty()) return 0;
    auto const byte = static_cast<unsigned char>(m_program.front());
    m_program.remove_prefix(1);
    return byte % bound;
  }
  template <class T, std::size_t N>
  [[nodiscard]] T one_of(std::array<T, N> const& all) {
    return all[below(N)];
  }

 private:
  std::string_view m_program;
};

constexpr std::array<hsize_t, 16> extents{4,
                                          1,
                                          7,
                                          64,
                                          0,
                                          2,
                                          3,
                                          100,
                                          1000,
                                          1U << 16U,
                                          hsize_t{1} << 31U,
                                          hsize_t{1} << 32U,
                                          hsize_t{1} << 33U,
                                          hsize_t{1} << 40U,
                                          hsize_t{1} << 62U,
                                          ~hsize_t{1}};
constexpr std::array<hsize_t, 8> chunk_extents{4, 1, 3, 7, 64, 16, 1000, 1U << 20U};
constexpr hsize_t most_written = 1 << 14;  // elements

Hdf5Id copy_of(hid_t type) { return {H5Tcopy(type), H5Tclose}; }

Hdf5Id record(hid_t first, hid_t second, char const* first_name, char const* second_name, std::size_t gap) {
  auto const one = H5Tget_size(first);
  auto const two = H5Tget_size(second);
  Hdf5Id type(H5Tcreate(H5T_COMPOUND, one + gap + two), H5Tclose);
  H5Tinsert(type.get(), first_name, 0, first);
  H5Tinsert(type.get(), second_name, one + gap, second);
  return type;
}

Hdf5Id odd_float(Choices& choices) {
  auto type = copy_of(choices.below(2) == 0 ? H5T_IEEE_F32LE : H5T_IEEE_F64BE);
  H5Tset_size(type.get(), choices.one_of(std::array<std::size_t, 5>{4, 8, 16, 2, 255}));
  H5Tset_precision(type.get(), 1 + choices.below(70));
  H5Tset_offset(type.get(), choices.below(8));
  return type;
}

Hdf5Id choose_type(Choices& choices) {
  hsize_t const two = 2;
  switch (choices.below(16)) {
    case 0:
    case 1:
      return copy_of(H5T_NATIVE_DOUBLE);
    case 2:
      return copy_of(H5T_NATIVE_FLOAT);
    case 3:
      return copy_of(H5T_IEEE_F64BE);
    case 4:
      return record(H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, "r", "i", 0);
    case 5:
      return record(H5T_NATIVE_FLOAT, H5T_NATIVE_FLOAT, "i", "r", choices.below(9));
    case 6:
      return record(H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT, "r", "i", 0);
    case 7:
      return record(H5T_NATIVE_INT, H5T_NATIVE_INT, "r", "i", 0);
    case 8:
      return copy_of(H5T_NATIVE_LLONG);
    case 9:
      return copy_of(H5T_C_S1);
    case 10:
      return {H5Tvlen_create(H5T_NATIVE_DOUBLE), H5Tclose};
    case 11:
      return {H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &two), H5Tclose};
    case 12:
      return {H5Tcreate(H5T_OPAQUE, 1 + choices.below(255)), H5Tclose};
    case 13:
      return copy_of(H5T_STD_REF_OBJ);
    case 14:
      return {H5Tenum_create(H5T_NATIVE_INT), H5Tclose};
    default:
      return odd_float(choices);
  }
}

// Sets `small` to false if writing would take long, or go to another file.
Hdf5Id choose_layout(Choices& choices, std::size_t rank, bool& small) {
  Hdf5Id properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  auto const layout = choices.below(5);
  if (layout == 1) H5Pset_layout(properties.get(), H5D_COMPACT);
  small = small && layout != 2;
  if (layout == 2) H5Pset_external(properties.get(), "none", static_cast<off_t>(choices.below(255)), 1 << 20);
  if (layout < 3) return properties;
  std::array<hsize_t, 5> chunk{};
  hsize_t elements = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    chunk[d] = choices.one_of(chunk_extents);
    elements = std::min(most_written + 1, elements * chunk[d]);
  }
  small = small && elements <= most_written;
  H5Pset_chunk(properties.get(), static_cast<int>(rank), chunk.data());
  // Without scale-offset: libhdf5 1.10 itself crashes when it writes with that filter.
  auto const filters = choices.below(8);
  if ((filters & 1U) != 0) H5Pset_shuffle(properties.get());
  if ((filters & 2U) != 0) H5Pset_deflate(properties.get(), 1);
  if ((filters & 4U) != 0) H5Pset_fletcher32(properties.get());
  return properties;
}

// Names of columns: an attribute of texts, mostly of the right number, or something else under its name.
void make_names(hid_t dataset, hsize_t columns, Choices& choices) {
  hsize_t const count = choices.below(4) == 1 ? choices.below(9) : columns;
  Hdf5Id const type = copy_of(choices.below(8) == 1 ? H5T_NATIVE_INT : H5T_C_S1);
  bool const variable = choices.below(2) == 0;
  if (H5Tget_class(type.get()) == H5T_STRING) H5Tset_size(type.get(), variable ? H5T_VARIABLE : 8);
  Hdf5Id const space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  Hdf5Id const names(H5Acreate2(dataset, detail::columns_attribute, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
                     H5Aclose);
  if (!names.valid() || choices.below(4) == 1) return;
  std::vector<char const*> const texts(count, "\x1b[31mred");
  std::vector<char> const bytes(8 * count, 'x');
  H5Awrite(names.get(), type.get(),
           variable && H5Tget_class(type.get()) == H5T_STRING ? static_cast<void const*>(texts.data()) : bytes.data());
}

void make_dataset(hid_t group, std::string const& name, Choices& choices) {
  // Mostly matrices.
  auto const rank = choices.one_of(std::array<std::size_t, 8>{2, 2, 2, 1, 0, 3, 2, 5});
  std::array<hsize_t, 5> now{};
  std::array<hsize_t, 5> most{};
  bool const grows = choices.below(4) == 1;
  bool const large = choices.below(3) == 0;
  hsize_t elements = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    now[d] = large ? choices.one_of(extents) : extents[choices.below(8)];
    most[d] = grows ? H5S_UNLIMITED : now[d];
    elements = now[d] == 0 || elements <= most_written / now[d] ? elements * now[d] : most_written + 1;
  }
  Hdf5Id const space(rank == 0 ? H5Screate(choices.below(2) == 0 ? H5S_SCALAR : H5S_NULL)
                               : H5Screate_simple(static_cast<int>(rank), now.data(), most.data()),
                     H5Sclose);
  auto const type = choose_type(choices);
  // Large datasets stay unwritten; otherwise HDF5 would write fill values.
  bool small = elements <= most_written;
  auto const properties = choose_layout(choices, std::max<std::size_t>(rank, 1), small);
  H5Pset_fill_time(properties.get(), small && choices.below(2) == 0 ? H5D_FILL_TIME_IFSET : H5D_FILL_TIME_NEVER);
  if (small && choices.below(2) == 0) H5Pset_alloc_time(properties.get(), H5D_ALLOC_TIME_EARLY);
  Hdf5Id const dataset(
      H5Dcreate2(group, name.c_str(), type.get(), space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid() || !small || choices.below(4) == 0) return;
  auto const columns = rank == 2 ? now[1] : 1;
  if (columns <= most_written && choices.below(4) == 1) make_names(dataset.get(), columns, choices);
  bool const numbers = H5Tget_class(type.get()) == H5T_FLOAT || H5Tget_class(type.get()) == H5T_INTEGER;
  double const value = choices.one_of(std::array{1.0, 0.0, -2.5, 1e308, 0.0 / 0.0 * 0, 1e-310});
  std::vector<double> const values(elements + 1, value);
  if (numbers) H5Dwrite(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  auto const pairs = detail::memory_type(ScalarType::Complex128);
  std::vector<double> const two_each(2 * elements + 2, value);
  if (H5Tget_class(type.get()) == H5T_COMPOUND)
    H5Dwrite(dataset.get(), pairs.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, two_each.data());
}

void make_group(hid_t group, Choices& choices, unsigned depth) {
  constexpr std::array<char const*, 6> names{"A", "B", "\x1b[31mred", "pivots", "a b:c", "\xff"};
  auto const entries = depth == 0 ? 1 + choices.below(3) : choices.below(3);
  for (std::size_t entry = 0; entry < entries; ++entry) {
    auto const name = choices.one_of(names);
    switch (choices.below(8)) {
      case 0: {
        Hdf5Id const below(H5Gcreate2(group, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
        if (depth < 8 && below.valid()) make_group(below.get(), choices, depth + 1);
        break;
      }
      case 1:
        H5Lcreate_soft(choices.below(2) == 0 ? "/A" : "/none", group, name, H5P_DEFAULT, H5P_DEFAULT);
        break;
      case 2:
        H5Lcreate_hard(group, ".", group, name, H5P_DEFAULT, H5P_DEFAULT);
        break;
      case 3:
        H5Lcreate_external("none.h5", "/A", group, name, H5P_DEFAULT, H5P_DEFAULT);
        break;
      default:
        make_dataset(group, name, choices);
    }
  }
}

}  // namespace

void make_hdf5(std::string const& path, std::string_view program) {
  Choices choices(program);
  detail::Hdf5Lock const lock;
  Hdf5Id const creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  if (choices.below(8) == 1) H5Pset_userblock(creation.get(), 512);
  Hdf5Id const access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (choices.below(2) == 1) H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_LATEST);
  Hdf5Id const file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose);
  if (file.valid()) make_group(file.get(), choices, 0);
}

}  // namespace granary::fuzz
