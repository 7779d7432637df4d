// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sequential writes and reads of tiles through both I/O engines, at several queue depths and piece sizes.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/outofcore/io_engine_choice.hpp>
#include <granary/detail/outofcore/io_engines.hpp>
#include <granary/detail/outofcore/scratch_storage.hpp>

namespace {

using namespace granary;
using namespace granary::detail;

struct Settings {
  std::string directory = ".";
  Bytes file_bytes = 600'000'000;
  Bytes tile_bytes = 2_MiB;
  int repetitions = 3;
  bool csv = false;
};

// Keeps `window` tiles in flight until all `count` are done; returns MB/s.
double stream(Storage& storage, IoDirection direction, std::byte* memory, Settings const& settings,
              std::uint64_t window) {
  auto const count = settings.file_bytes / settings.tile_bytes;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::byte*> spare;
  for (std::uint64_t i = 0; i < window; ++i) spare.push_back(memory + i * settings.tile_bytes);
  std::exception_ptr failure;
  auto const start = std::chrono::steady_clock::now();
  for (std::uint64_t k = 0; k < count; ++k) {
    std::byte* tile = nullptr;
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return !spare.empty(); });
      if (failure) break;
      tile = spare.back();
      spare.pop_back();
    }
    auto done = [&, tile](std::exception_ptr error) {
      std::lock_guard lock(mutex);
      if (error) failure = error;
      spare.push_back(tile);
      changed.notify_one();
    };
    if (direction == IoDirection::Read) {
      storage.read_async(k * settings.tile_bytes, tile, settings.tile_bytes, done);
    } else {
      storage.write_async(k * settings.tile_bytes, tile, settings.tile_bytes, done);
    }
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return spare.size() == window; });
  if (failure) std::rethrow_exception(failure);
  auto const elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return static_cast<double>(count * settings.tile_bytes) / elapsed / 1e6;
}

struct Figures {
  double write = 0;
  double read = 0;
};

Figures measure(IoOptions const& options, Settings const& settings, std::byte* memory, std::uint64_t window) {
  ScratchStorage storage(make_async_file_io(options), settings.directory);
  auto const write = stream(storage, IoDirection::Write, memory, settings, window);
  return {write, stream(storage, IoDirection::Read, memory, settings, window)};
}

void run(Settings const& settings) {
  constexpr std::uint64_t window = 16;
  std::unique_ptr<std::byte, decltype(&std::free)> memory(
      static_cast<std::byte*>(std::aligned_alloc(io_alignment, window * settings.tile_bytes)), &std::free);
  std::memset(memory.get(), 1, window * settings.tile_bytes);
  fmt::print(fmt::runtime(settings.csv ? "engine,piece_bytes,queue_depth,write_mb_per_s,read_mb_per_s\n"
                                       : "{:<12} {:>12} {:>6} {:>12} {:>12}\n"),
             "engine", "piece bytes", "depth", "write MB/s", "read MB/s");
  for (Bytes const piece : {256_KiB, 512_KiB, 1_MiB, 2_MiB}) {
    for (unsigned const depth : {1U, 2U, 4U, 8U, 16U}) {
      for (auto const engine : {IoEngine::Uring, IoEngine::ThreadPool}) {
        if (engine == IoEngine::Uring && !uring_available()) continue;
        std::vector<double> writes;
        std::vector<double> reads;
        for (int r = 0; r < settings.repetitions; ++r) {
          auto const figures =
              measure({.engine = engine, .queue_depth = depth, .piece_bytes = piece}, settings, memory.get(), window);
          writes.push_back(figures.write);
          reads.push_back(figures.read);
        }
        std::sort(writes.begin(), writes.end());
        std::sort(reads.begin(), reads.end());
        auto const* name = engine == IoEngine::Uring ? "io_uring" : "threads";
        fmt::print(
            fmt::runtime(settings.csv ? "{},{},{},{:.0f},{:.0f}\n" : "{:<12} {:>12} {:>6} {:>12.0f} {:>12.0f}\n"), name,
            piece, depth, writes[writes.size() / 2], reads[reads.size() / 2]);
        std::fflush(stdout);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  try {
    for (int i = 1; i < argc; ++i) {
      std::string const option = argv[i];
      if (option == "--csv") {
        settings.csv = true;
      } else if (i + 1 < argc && option == "--directory") {
        settings.directory = argv[++i];
      } else if (i + 1 < argc && option == "--bytes") {
        settings.file_bytes = parse_bytes(argv[++i]);
      } else if (i + 1 < argc && option == "--tile-bytes") {
        settings.tile_bytes = round_up(std::max<Bytes>(parse_bytes(argv[++i]), 1), io_alignment);
      } else if (i + 1 < argc && option == "--repeat") {
        settings.repetitions = std::max(1, std::atoi(argv[++i]));
      } else {
        throw InvalidArgument(
            "usage: io_bench [--csv] [--directory DIR] [--bytes SIZE] [--tile-bytes SIZE] [--repeat N]");
      }
    }
    run(settings);
  } catch (std::exception const& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
