// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg/files/spd_generator.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <granary/core/base/error.hpp>
#include <granary/linalg/files/matrix_sink.hpp>
#include <granary/outofcore/io_thread.hpp>

namespace granary {
namespace {

void fill(TileGrid const& tiling, std::uint64_t seed, std::uint64_t slot, ScalarType type, std::byte* tile) {
  if (type == ScalarType::Float32) {
    fill_spd_tile(tiling, seed, slot, reinterpret_cast<float*>(tile));
  } else {
    fill_spd_tile(tiling, seed, slot, reinterpret_cast<double*>(tile));
  }
}

class RandomSpdSource final : public MatrixSource {
 public:
  RandomSpdSource(std::uint64_t n, std::uint64_t tile, std::uint64_t seed, ScalarType type)
      : MatrixSource({n, n, tile}, type, MatrixPart::All, "random:" + std::to_string(n) + ":" + std::to_string(seed)),
        m_seed(seed),
        m_thread("granary-random") {
    if (n == 0) throw InvalidArgument("the order of a random matrix must be at least 1");
  }

 private:
  void start_read(std::uint64_t slot, std::byte* destination, IoCompletion done) override {
    m_thread.post([this, slot, destination, done = std::move(done)] {
      fill(tiling(), m_seed, slot, scalar_type(), destination);
      done(nullptr);
    });
  }

  std::uint64_t m_seed;
  SerialThread m_thread;
};

}  // namespace

template <class T>
void fill_spd_tile(TileGrid const& tiling, std::uint64_t seed, std::uint64_t slot, T* tile) {
  auto const i = tiling.row_of(slot);
  auto const j = tiling.col_of(slot);
  auto const rows = tiling.rows_in(i);
  auto const cols = tiling.cols_in(j);
  for (std::uint64_t r = 0; r < tiling.tile; ++r) {
    T* row = tile + r * tiling.tile;
    auto const filled = r < rows ? cols : 0;
    for (std::uint64_t c = 0; c < filled; ++c) {
      row[c] = static_cast<T>(spd_entry(tiling.rows, seed, i * tiling.tile + r, j * tiling.tile + c));
    }
    std::fill(row + filled, row + tiling.tile, T{});
  }
}

template void fill_spd_tile(TileGrid const&, std::uint64_t, std::uint64_t, float*);
template void fill_spd_tile(TileGrid const&, std::uint64_t, std::uint64_t, double*);

std::unique_ptr<MatrixSource> make_random_spd_source(std::uint64_t n, std::uint64_t tile, std::uint64_t seed,
                                                     ScalarType type) {
  return std::make_unique<RandomSpdSource>(n, tile, seed, type);
}

void write_random_spd(std::string const& path, std::uint64_t n, std::uint64_t tile, std::uint64_t seed, ScalarType type,
                      std::string const& dataset) {
  auto const io = make_async_file_io();
  MatrixSink sink(io, path,
                  {.order = n, .tile = tile, .scalar_type = type, .part = MatrixPart::All, .dataset = dataset});
  using Memory = std::unique_ptr<std::byte, decltype(&std::free)>;
  auto const allocate = [&sink] {
    Memory memory(static_cast<std::byte*>(std::aligned_alloc(io_alignment, round_up(sink.tile_bytes(), io_alignment))),
                  &std::free);
    if (!memory) throw std::bad_alloc();
    return memory;
  };
  Memory const tiles[2] = {allocate(), allocate()};
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::byte*> idle = {tiles[0].get(), tiles[1].get()};
  std::exception_ptr failure;
  auto const wait_for = [&](std::size_t count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return idle.size() >= count; });
    return !failure;
  };

  auto const slots = sink.tiling().tile_rows() * sink.tiling().tile_cols();
  for (std::uint64_t slot = 0; slot < slots && wait_for(1); ++slot) {
    std::byte* memory = nullptr;
    {
      std::lock_guard lock(mutex);
      memory = idle.back();
      idle.pop_back();
    }
    fill(sink.tiling(), seed, slot, type, memory);
    sink.write_async(slot, memory, sink.tile_bytes(), [&, memory](std::exception_ptr error) {
      std::lock_guard lock(mutex);
      if (error) failure = std::move(error);
      idle.push_back(memory);
      changed.notify_one();
    });
  }
  if (!wait_for(2)) std::rethrow_exception(failure);
  sink.commit();
}

}  // namespace granary
