// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/chunk_map.hpp>

#include <granary/detail/linalg/files/hdf5_support.hpp>

namespace granary::detail {
namespace {

constexpr std::uint64_t most_look_ups = 2048;

std::optional<std::uint64_t> look_up(hid_t dataset, MatrixFileInfo const& info, std::uint64_t row,
                                     std::uint64_t column) {
  hsize_t const corner[2] = {row * info.chunk_rows, column * info.chunk_cols};
  unsigned filters = 0;
  haddr_t offset = HADDR_UNDEF;
  hsize_t bytes = 0;
  if (H5Dget_chunk_info_by_coord(dataset, corner, &filters, &offset, &bytes) < 0 || offset == HADDR_UNDEF)
    return std::nullopt;
  if (bytes != info.chunk_rows * info.chunk_cols * size_of(info.scalar_type)) return std::nullopt;
  return offset;
}

bool allocated_at_once(hid_t dataset) {
  Hdf5Id const properties(H5Dget_create_plist(dataset), H5Pclose);
  Hdf5Id const space(H5Dget_space(dataset), H5Sclose);
  H5D_alloc_time_t time = H5D_ALLOC_TIME_DEFAULT;
  hsize_t now[2] = {};
  hsize_t most[2] = {};
  if (H5Pget_alloc_time(properties.get(), &time) < 0 || H5Sget_simple_extent_dims(space.get(), now, most) < 1)
    return false;
  return time == H5D_ALLOC_TIME_EARLY && now[0] == most[0] && now[1] == most[1];
}

}  // namespace

std::optional<ChunkMap> map_chunks(MatrixFileInfo const& info) {
  Hdf5Lock const lock;
  auto const file = open_to_read(info.path);
  auto const dataset =
      require({H5Dopen2(file.get(), info.dataset.c_str(), H5P_DEFAULT), H5Dclose}, "open", info.name());
  auto const rows = (info.rows + info.chunk_rows - 1) / info.chunk_rows;
  auto const columns = (info.cols + info.chunk_cols - 1) / info.chunk_cols;
  auto const bytes = info.chunk_rows * info.chunk_cols * size_of(info.scalar_type);

  auto const first = look_up(dataset.get(), info, 0, 0);
  auto const last = look_up(dataset.get(), info, rows - 1, columns - 1);
  if (!first || !last) return std::nullopt;
  if (allocated_at_once(dataset.get()) && *last == *first + (rows * columns - 1) * bytes)
    return ChunkMap(*first, bytes);

  if (rows * columns > most_look_ups) return std::nullopt;
  std::vector<std::uint64_t> offsets;
  offsets.reserve(rows * columns);
  for (std::uint64_t i = 0; i < rows; ++i) {
    for (std::uint64_t j = 0; j < columns; ++j) {
      auto const offset = look_up(dataset.get(), info, i, j);
      if (!offset) return std::nullopt;
      offsets.push_back(*offset);
    }
  }
  return ChunkMap(std::move(offsets));
}

}  // namespace granary::detail
