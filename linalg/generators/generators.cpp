// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/generators/generators.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/files/scalar_dispatch.hpp>
#include <granary/detail/linalg/generators/random_entries.hpp>
#include <granary/detail/outofcore/io_thread.hpp>

namespace granary {

using namespace detail;

namespace {

using Kind = GeneratedMatrix::Kind;
using Fill = std::function<void(TileGrid const&, std::uint64_t slot, std::byte* tile)>;

// Derives the seed of a random stream from its number and a seed.
constexpr std::uint64_t stream(std::uint64_t seed, std::uint64_t number) { return seed ^ (number << 56); }

template <class S>
S conjugate_of(S const& x) {
  if constexpr (detail::is_std_complex<S>) return std::conj(x);
  return x;
}

template <class S>
S random_entry(std::uint64_t seed, std::uint64_t i, std::uint64_t j) {
  double const real = 2 * unit_at(seed, i, j) - 1;
  if constexpr (detail::is_std_complex<S>) return {real, 2 * unit_at(stream(seed, 1), i, j) - 1};
  return real;
}

// Below the diagonal; complex elements also have a modulus of at most 1.
template <class S>
S dominant_entry(std::uint64_t n, std::uint64_t seed, std::uint64_t i, std::uint64_t j) {
  if constexpr (detail::is_std_complex<S>) {
    return i == j ? S(spd_entry(n, seed, i, i)) : random_entry<S>(seed, i, j) / std::numbers::sqrt2;
  }
  return spd_entry(n, seed, i, j);
}

/// A = H_2 H_1 D H_1 H_2 with H_k = I - 2 v_k v_k^H. As H A H = A + v u^H + u v^H with u = 2 (v^H A v) v - 2 A v, each
/// reflection costs two products per element; the vectors v and u are computed once in O(n).
template <class S>
class Conditioned {
 public:
  Conditioned(std::uint64_t n, double condition, std::uint64_t seed)
      : m_n(n), m_log(n > 1 ? -std::log(condition) / static_cast<double>(n - 1) : 0) {
    // Scatters the eigenvalues over the diagonal: i -> i m + seed modulo n is a permutation because m and n are
    // coprime.
    m_shift = seed % n;
    m_multiplier = static_cast<std::uint64_t>(static_cast<double>(n) * (std::numbers::phi - 1)) + 1;
    while (std::gcd(m_multiplier, n) != 1) ++m_multiplier;
    for (std::uint64_t k = 0; k < reflections; ++k) add_reflection(stream(seed, 2 + k));
  }

  // For i >= j.
  S operator()(std::uint64_t i, std::uint64_t j) const {
    S sum = i == j ? S(eigenvalue(i)) : S{};
    for (std::uint64_t k = 0; k < m_v.size(); ++k)
      sum += m_v[k][i] * conjugate_of(m_u[k][j]) + m_u[k][i] * conjugate_of(m_v[k][j]);
    return i == j ? S(std::real(sum)) : sum;
  }

 private:
  static constexpr std::uint64_t reflections = 2;
  using Vector = std::vector<S>;

  [[nodiscard]] double eigenvalue(std::uint64_t i) const {
    return std::exp(m_log * static_cast<double>((i * m_multiplier + m_shift) % m_n));
  }
  // x^H y
  static S dot(Vector const& x, Vector const& y) {
    return std::transform_reduce(x.begin(), x.end(), y.begin(), S{}, std::plus<>{},
                                 [](S const& a, S const& b) { return conjugate_of(a) * b; });
  }

  void add_reflection(std::uint64_t seed) {
    Vector v(m_n);
    for (std::uint64_t i = 0; i < m_n; ++i) v[i] = random_entry<S>(seed, i, 0);
    double const norm = std::sqrt(std::real(dot(v, v)));
    for (auto& x : v) x /= norm;
    Vector u(m_n);  // A v at first
    for (std::uint64_t i = 0; i < m_n; ++i) u[i] = eigenvalue(i) * v[i];
    for (std::uint64_t k = 0; k < m_v.size(); ++k) {
      auto const uv = dot(m_u[k], v);
      auto const vv = dot(m_v[k], v);
      for (std::uint64_t i = 0; i < m_n; ++i) u[i] += m_v[k][i] * uv + m_u[k][i] * vv;
    }
    double const sigma = std::real(dot(v, u));
    for (std::uint64_t i = 0; i < m_n; ++i) u[i] = 2 * sigma * v[i] - 2.0 * u[i];
    m_v.push_back(std::move(v));
    m_u.push_back(std::move(u));
  }

  std::uint64_t m_n;
  double m_log;
  std::uint64_t m_shift;
  std::uint64_t m_multiplier;
  std::vector<Vector> m_v;
  std::vector<Vector> m_u;
};

double laplacian_entry(GeneratedMatrix const& m, std::uint64_t i, std::uint64_t j) {
  auto const difference = [](std::uint64_t a, std::uint64_t b) { return static_cast<double>(a > b ? a - b : b - a); };
  double const down = difference(i / m.grid_cols, j / m.grid_cols);
  double const across = difference(i % m.grid_cols, j % m.grid_cols);
  double const distance = across == 0 ? down : std::sqrt(down * down + across * across);
  return std::exp(-distance / m.length) + (i == j ? m.nugget : 0);
}

// Fills a row-major tile.
template <class T, class Element>
Fill fill_with(Element element) {
  return [element = std::move(element)](TileGrid const& grid, std::uint64_t slot, std::byte* bytes) {
    auto* tile = reinterpret_cast<T*>(bytes);
    auto const i = grid.row_of(slot);
    auto const j = grid.col_of(slot);
    auto const cols = grid.cols_in(j);
    for (std::uint64_t r = 0; r < grid.rows_in(i); ++r) {
      T* row = tile + r * cols;
      for (std::uint64_t c = 0; c < cols; ++c)
        row[c] = detail::convert_scalar<T>(element(grid.first(i) + r, grid.first(j) + c));
    }
  };
}

// Computes the element above the diagonal from its mirror image below.
template <class Element>
auto hermitian(Element element) {
  return [element = std::move(element)](std::uint64_t i, std::uint64_t j) {
    return i < j ? conjugate_of(element(j, i)) : element(i, j);
  };
}

template <class T>
Fill make_fill(GeneratedMatrix const& m) {
  using S = std::conditional_t<detail::is_std_complex<T>, std::complex<double>, double>;
  switch (m.kind) {
    case Kind::Dominant:
      return fill_with<T>(
          hermitian([m](std::uint64_t i, std::uint64_t j) { return dominant_entry<S>(m.rows, m.seed, i, j); }));
    case Kind::General:
      return fill_with<T>([m](std::uint64_t i, std::uint64_t j) { return random_entry<S>(m.seed, i, j); });
    case Kind::Conditioned: {
      auto const matrix = std::make_shared<Conditioned<S> const>(m.rows, m.condition, m.seed);
      return fill_with<T>(hermitian([matrix](std::uint64_t i, std::uint64_t j) { return (*matrix)(i, j); }));
    }
    case Kind::Hilbert:
      return fill_with<T>([m](std::uint64_t i, std::uint64_t j) {
        return 1 / static_cast<double>(i + j + 1) + (i == j ? m.nugget : 0);
      });
    case Kind::Laplacian:
      return fill_with<T>([m](std::uint64_t i, std::uint64_t j) { return laplacian_entry(m, i, j); });
  }
  throw InternalError("a generated matrix is of an unknown kind");
}

void check(GeneratedMatrix const& m) {
  auto const refuse = [&m](std::string const& what) { throw InvalidArgument(m.name() + ": " + what); };
  if (m.rows == 0 || m.cols == 0) refuse("the extents of a matrix must be at least 1");
  if (m.kind != Kind::General && m.rows != m.cols) refuse("a symmetric matrix must be square");
  if (!(m.condition >= 1 && std::isfinite(m.condition))) refuse("the condition number must be finite and at least 1");
  if (!(m.length > 0 && std::isfinite(m.length))) refuse("the length must be finite and above 0");
  if (!(m.nugget >= 0 && std::isfinite(m.nugget))) refuse("the nugget must be finite and at least 0");
  if (m.grid_cols == 0 || m.rows % m.grid_cols != 0)
    refuse("the number of points must be a multiple of the grid's row length");
}

class GeneratedSource final : public MatrixSource {
 public:
  GeneratedSource(GeneratedMatrix const& matrix, std::uint64_t tile, ScalarType type)
      : MatrixSource({matrix.rows, matrix.cols, tile}, type, MatrixPart::All, matrix.name()),
        m_fill(detail::with_scalar(type, [&](auto zero) { return make_fill<decltype(zero)>(matrix); })),
        m_thread("granary-matrix") {}

 private:
  void start_read(std::uint64_t slot, std::byte* destination, IoCompletion done) override {
    m_thread.post([this, slot, destination, done = std::move(done)] {
      m_fill(tiling(), slot, destination);
      done(nullptr);
    });
  }

  Fill m_fill;
  SerialThread m_thread;
};

}  // namespace

std::unique_ptr<MatrixSource> open_generated(GeneratedMatrix const& matrix, std::uint64_t tile, ScalarType type) {
  check(matrix);
  return std::make_unique<GeneratedSource>(matrix, tile, type);
}

std::unique_ptr<MatrixSource> open_generated(std::string_view name, std::uint64_t tile, ScalarType type) {
  return open_generated(parse_generated(name), tile, type);
}

}  // namespace granary
