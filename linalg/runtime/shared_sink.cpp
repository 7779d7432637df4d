// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/distributed/transports/processes.hpp>
#include <granary/detail/linalg/runtime/shared_sink.hpp>

namespace granary {

using namespace detail;

std::shared_ptr<MatrixSink> make_sink(detail::Session& session, std::string const& path,
                                      MatrixSinkOptions const& options) {
  auto* const others = session.others();
  if (others == nullptr) return std::make_shared<MatrixSink>(session.io(), path, options);
  std::shared_ptr<MatrixSink> sink;
  auto const place = others->by_first([&] {
    sink = std::make_shared<MatrixSink>(session.io(), path, options);
    return sink->place();
  });
  others->together([&] {
    if (!sink) sink = std::make_shared<MatrixSink>(session.io(), path, options, place);
  });
  return sink;
}

void commit_sink(detail::Session& session, MatrixSink& sink) {
  auto* const others = session.others();
  if (others == nullptr) return sink.commit();
  others->together([&] { sink.sync(); });
  others->by_first([&] {
    sink.commit();
    return std::string();
  });
}

}  // namespace granary
