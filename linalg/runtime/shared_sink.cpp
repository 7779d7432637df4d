// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/distributed/transports/processes.hpp>
#include <granary/detail/linalg/runtime/shared_sink.hpp>

namespace granary {

using namespace detail;

std::shared_ptr<MatrixSink> make_sink(Runtime& runtime, std::string const& path, MatrixSinkOptions const& options) {
  auto* const others = runtime.others();
  if (others == nullptr) return std::make_shared<MatrixSink>(runtime.io(), path, options);
  std::shared_ptr<MatrixSink> sink;
  auto const place = others->by_first([&] {
    sink = std::make_shared<MatrixSink>(runtime.io(), path, options);
    return sink->place();
  });
  others->together([&] {
    if (!sink) sink = std::make_shared<MatrixSink>(runtime.io(), path, options, place);
  });
  return sink;
}

void commit_sink(Runtime& runtime, MatrixSink& sink) {
  auto* const others = runtime.others();
  if (others == nullptr) return sink.commit();
  others->together([&] { sink.sync(); });
  others->by_first([&] {
    sink.commit();
    return std::string();
  });
}

}  // namespace granary
