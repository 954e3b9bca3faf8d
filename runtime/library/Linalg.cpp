//===- Linalg.cpp - Linear algebra by LAPACK --------------------------------------------------===//
//
// LAPACK stores matrices by columns: a row-major matrix is the transposed one there (not the
// conjugate transposed: of a Hermitian matrix, the conjugate one). Matrices are moved even where a
// factorisation of the transposed one holds the wanted one: which vectors of an eigenspace come
// out, their signs, and whether a pivot is exactly zero are those of NumPy so.
//
// Threads: matrices up to kSmall run on one thread each, several at once; a larger one has all
// threads of its library to itself, or as many as the library was told to use
// (OPENBLAS_NUM_THREADS, threadpoolctl). The size of a matrix alone decides, so that its result
// does not depend on what stands beside it.
//
//===------------------------------------------------------------------------------------------===//
#include "runtime/base/Strings.h"
#include "runtime/library/Lapack.h"
#include "runtime/library/Parallel.h"
#include "runtime/library/Routines.h"

#include <atomic>
#include <cmath>
#include <complex>
#include <limits>
#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

namespace graphc::rt::library {
namespace {

using strings::format;

/// Up to this size threads of LAPACK cost more than they give.
constexpr int64_t kSmall = 192;

/// Holds the thread count of the library at most at `most` while alive; other users of the library
/// get their own back.
class LapackThreads {
public:
  LapackThreads(const Lapack &lapack, int most) : lapack(lapack), lock(mutex()) {
    if (!lapack.getThreads)
      return;
    saved = lapack.getThreads();
    if (saved > most)
      lapack.setThreads(most);
    else
      saved = 0;
  }
  ~LapackThreads() {
    if (saved > 0)
      lapack.setThreads(saved);
  }
  LapackThreads(const LapackThreads &) = delete;
  LapackThreads &operator=(const LapackThreads &) = delete;

private:
  static std::mutex &mutex() {
    static auto *m = new std::mutex; // in use until the process ends
    return *m;
  }
  const Lapack &lapack;
  std::lock_guard<std::mutex> lock;
  int saved = 0;
};

/// The type of the parts of a complex T; T itself otherwise.
template <typename T>
using Real = decltype(std::real(T()));
template <typename T>
constexpr bool kComplex = !std::is_same_v<T, Real<T>>;

template <typename T>
T conjugate(T x) {
  if constexpr (kComplex<T>)
    return std::conj(x);
  return x;
}

/// Calls LAPACK functions with integers of type Int on elements of type T.
template <typename T, typename Int>
struct Caller {
  const Lapack &lapack;
  static constexpr int kType = 2 * kComplex<T> + std::is_same_v<Real<T>, double>;

  /// `args` are passed as pointers to Int, T, Real<T> or char; characters get their lengths at the
  /// end.
  template <typename... Args>
  Int operator()(Lapack::Function function, size_t characters, Args *...args) const {
    Int info = 0;
    void *code = lapack.functions[function][kType];
    size_t one = 1;
    switch (characters) {
    case 0:
      reinterpret_cast<void (*)(Args *..., Int *)>(code)(args..., &info);
      break;
    case 1:
      reinterpret_cast<void (*)(Args *..., Int *, size_t)>(code)(args..., &info, one);
      break;
    default:
      reinterpret_cast<void (*)(Args *..., Int *, size_t, size_t)>(code)(args..., &info, one, one);
      break;
    }
    return info;
  }
};

/// out(columns, rows) = x(rows, columns) transposed, in blocks that fit in cache.
template <typename T>
void transpose(const T *x, int64_t rows, int64_t columns, T *out) {
  constexpr int64_t kBlock = 32;
  if (rows == 1 || columns == 1) {
    std::copy_n(x, rows * columns, out);
    return;
  }
  for (int64_t i = 0; i < rows; i += kBlock)
    for (int64_t j = 0; j < columns; j += kBlock)
      for (int64_t r = i; r < std::min(rows, i + kBlock); ++r)
        for (int64_t c = j; c < std::min(columns, j + kBlock); ++c)
          out[c * rows + r] = x[r * columns + c];
}

/// Memory for one matrix's computation, which the thread's next one has again, up to 4 MiB a type:
/// of small matrices there are many. What it holds at first is anybody's.
template <typename T>
class Scratch {
public:
  explicit Scratch(int64_t count) {
    if (!kept.empty()) {
      elements = std::move(kept.back());
      kept.pop_back();
    }
    if (std::ssize(elements) < count)
      elements.resize(static_cast<size_t>(count));
  }
  ~Scratch() {
    constexpr size_t kMostBytes = size_t{1} << 19, kMost = 8;
    if (elements.capacity() * sizeof(T) <= kMostBytes && kept.size() < kMost)
      kept.push_back(std::move(elements));
  }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  T *data() { return elements.data(); }
  T &operator[](int64_t i) { return elements[static_cast<size_t>(i)]; }

private:
  static inline thread_local std::vector<std::vector<T>> kept;
  std::vector<T> elements;
};

Status singular(const char *routine, const char *text) {
  return {ErrorCode::LinAlg, format("[{}] {}", routine, text)};
}

/// Calls `one(caller, a, result, number)` for each matrix of a batch. `size` is that of a matrix.
template <typename One>
Status eachMatrix(const Call &call, int64_t batch, int64_t size, const One &one) {
  if (batch == 0)
    return Status::ok();
  GRAPHC_ASSIGN(const Lapack *lapack, Lapack::find());
  auto typed = [&](auto element, auto integer) -> Status {
    using T = decltype(element);
    Caller<T, decltype(integer)> caller{*lapack};
    const auto *a = static_cast<const T *>(call.operands[0].data);
    auto *out = static_cast<T *>(call.result.data);
    int64_t aSize = 1, outSize = 1;
    for (int64_t n : call.operands[0].shape)
      aSize *= n;
    for (int64_t n : call.result.shape)
      outSize *= n;
    aSize /= batch;
    outSize /= batch;
    // Of several results some may be complex where the matrix is not: they count as two of it.
    outSize *= itemSize(call.result.dtype) / static_cast<int64_t>(sizeof(T));
    int threads = cpu::ThreadPool::instance().threads();
    bool small = size <= kSmall;
    LapackThreads held(*lapack, small ? 1 : threads);
    std::mutex mutex;
    Status failed;
    int64_t firstFailed = batch;
    auto run = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        if (Status status = one(caller, a + i * aSize, out + i * outSize, i); !status) {
          std::lock_guard lock(mutex);
          if (i < firstFailed) {
            firstFailed = i;
            failed = std::move(status);
          }
        }
    };
    int64_t work = std::max<int64_t>(1, size * size * size);
    if (small)
      parallelFor(batch, std::max<int64_t>(1, 20000 / work), run);
    else
      run(0, batch);
    return failed;
  };
  auto withInteger = [&](auto element) {
    return lapack->wideIntegers ? typed(element, int64_t()) : typed(element, int32_t());
  };
  switch (call.operands[0].dtype) {
  case DType::Float32:
    return withInteger(float());
  case DType::Complex64:
    return withInteger(std::complex<float>());
  case DType::Complex128:
    return withInteger(std::complex<double>());
  default:
    return withInteger(double());
  }
}

/// The size of a workspace that LAPACK asks for. A float holds no large integer exactly: what it
/// says may be rounded down.
template <typename Int, typename T>
Int workspaceSize(T wanted) {
  return static_cast<Int>(std::ceil(static_cast<double>(std::real(wanted)) * (1 + 1e-6))) + 1;
}

/// What LAPACK asks for, which depends on the sizes of a matrix alone: the first one of a batch
/// finds it out. 0: not known yet.
struct Workspace {
  std::atomic<int64_t> elements{0}, reals{0}, integers{0};
};

/// Runs `call(work, lwork)` with a workspace, before that for its size where that is not known.
template <typename T, typename Int, typename F>
Int withWorkspace(Workspace &known, const F &call) {
  int64_t count = known.elements.load(std::memory_order_relaxed);
  if (count == 0) {
    T wanted = 0;
    Int query = -1;
    if (Int info = call(&wanted, &query); info != 0)
      return info;
    count = workspaceSize<Int>(wanted);
    known.elements.store(count, std::memory_order_relaxed);
  }
  auto size = static_cast<Int>(count);
  Scratch<T> work(count);
  return call(work.data(), &size);
}

/// The same of `call(work, lwork, reals, lreals, integers, lintegers)`.
template <typename T, typename Int, typename F>
Int withWorkspaces(Workspace &known, const F &call) {
  constexpr auto kOrder = std::memory_order_relaxed;
  if (known.integers.load(std::memory_order_acquire) == 0) {
    T wanted = 0;
    Real<T> wantedReals = 0;
    Int wantedIntegers = 0, query = -1;
    if (Int info = call(&wanted, &query, &wantedReals, &query, &wantedIntegers, &query); info != 0)
      return info;
    known.elements.store(workspaceSize<Int>(wanted), kOrder);
    known.reals.store(workspaceSize<Int>(wantedReals), kOrder);
    // Last and to be seen last: who sees it has the others.
    known.integers.store(std::max<Int>(1, wantedIntegers), std::memory_order_release);
  }
  auto count = static_cast<Int>(known.elements.load(kOrder));
  auto realCount = static_cast<Int>(known.reals.load(kOrder));
  auto integerCount = static_cast<Int>(known.integers.load(kOrder));
  Scratch<T> work(count);
  Scratch<Real<T>> reals(realCount);
  Scratch<Int> integers(integerCount);
  return call(work.data(), &count, reals.data(), &realCount, integers.data(), &integerCount);
}

template <typename T>
bool allFinite(const T *x, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (!std::isfinite(std::real(x[i])) || !std::isfinite(std::imag(x[i])))
      return false;
  return true;
}

/// The Int of a Caller.
template <typename C>
struct IntOf;
template <typename T, typename Int>
struct IntOf<Caller<T, Int>> {
  using type = Int;
};
template <typename C>
using IntType = typename IntOf<std::remove_cvref_t<C>>::type;

} // namespace

Status cholesky(const Call &call) {
  int64_t batch = call.result.shape[0], n = call.result.shape[1];
  bool upper = call.params[0] != 0;
  return eachMatrix(call, batch, n, [&](auto &lapack, auto *a, auto *out, int64_t) -> Status {
    using Int = IntType<decltype(lapack)>;
    using T = std::remove_pointer_t<decltype(out)>;
    std::copy_n(a, n * n, out);
    // The lower triangle here is LAPACK's upper one, and A = L Lᴴ is its Aᵀ = Uᴴ U.
    char triangle = upper ? 'L' : 'U';
    auto size = static_cast<Int>(n), stride = std::max<Int>(1, size);
    if (lapack(Lapack::Potrf, 1, &triangle, &size, out, &stride) != 0)
      return singular("cholesky", "Matrix is not positive definite");
    for (int64_t i = 0; i < n; ++i)
      if (upper)
        std::fill_n(out + i * n, i, T(0));
      else
        std::fill_n(out + i * n + i + 1, n - i - 1, T(0));
    return Status::ok();
  });
}

Status solve(const Call &call) {
  int64_t batch = call.result.shape[0], n = call.result.shape[1], k = call.result.shape[2];
  return eachMatrix(call, batch, n, [&](auto &lapack, auto *a, auto *out, int64_t i) -> Status {
    using Int = IntType<decltype(lapack)>;
    using T = std::remove_pointer_t<decltype(out)>;
    const T *y = static_cast<const T *>(call.operands[1].data) + i * n * k;
    Scratch<T> matrix(n * n), x(n * k);
    Scratch<Int> pivots(n);
    transpose(a, n, n, matrix.data());
    transpose(y, n, k, x.data());
    auto size = static_cast<Int>(n), columns = static_cast<Int>(k), stride = std::max<Int>(1, size);
    if (lapack(Lapack::Gesv, 0, &size, &columns, matrix.data(), &stride, pivots.data(), x.data(),
               &stride) != 0)
      return singular("solve", "Singular matrix");
    transpose(x.data(), k, n, out);
    return Status::ok();
  });
}

Status inv(const Call &call) {
  bool quiet = call.params[0] != 0;
  int64_t batch = call.result.shape[0], n = call.result.shape[1];
  return eachMatrix(call, batch, n, [&](auto &lapack, auto *a, auto *out, int64_t) -> Status {
    using Int = IntType<decltype(lapack)>;
    using T = std::remove_pointer_t<decltype(out)>;
    Scratch<T> matrix(n * n), x(n * n);
    Scratch<Int> pivots(n);
    transpose(a, n, n, matrix.data());
    std::fill_n(x.data(), n * n, T(0));
    for (int64_t i = 0; i < n; ++i)
      x[i * n + i] = 1;
    auto size = static_cast<Int>(n), stride = std::max<Int>(1, size);
    bool isSingular = lapack(Lapack::Gesv, 0, &size, &size, matrix.data(), &stride, pivots.data(),
                             x.data(), &stride) != 0;
    transpose(x.data(), n, n, out);
    if (isSingular) {
      if (!quiet)
        return singular("inv", "Singular matrix");
      constexpr auto kNan = std::numeric_limits<Real<T>>::quiet_NaN();
      if constexpr (kComplex<T>)
        std::fill_n(out, n * n, T(kNan, kNan));
      else
        std::fill_n(out, n * n, kNan);
    }
    return Status::ok();
  });
}

namespace {

/// The diagonal of the triangular factor and the sign of the permutation.
template <typename C, typename T>
int factorDiagonal(const C &lapack, const T *a, int64_t n, std::vector<T> &diagonal) {
  using Int = IntType<C>;
  Scratch<T> matrix(n * n);
  Scratch<Int> pivots(n);
  transpose(a, n, n, matrix.data());
  auto size = static_cast<Int>(n), stride = std::max<Int>(1, size);
  lapack(Lapack::Getrf, 0, &size, &size, matrix.data(), &stride, pivots.data());
  int sign = 1;
  diagonal.resize(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    diagonal[static_cast<size_t>(i)] = matrix[i * n + i];
    if (pivots[i] != i + 1)
      sign = -sign;
  }
  return sign;
}

/// The product of a sign and numbers, where nothing comes near the ends of the range in between.
template <typename T>
std::optional<double> plainProduct(std::span<const T> factors, double sign) {
  constexpr double kMost = 1e290;
  bool isInside = true;
  for (T x : factors) {
    sign *= static_cast<double>(x);
    isInside &= std::fabs(sign) < kMost && std::fabs(sign) > 1 / kMost;
  }
  return isInside ? std::optional(sign) : std::nullopt;
}

} // namespace

Status det(const Call &call) {
  int64_t batch = call.result.shape[0], n = call.operands[0].shape[1];
  return eachMatrix(call, batch, n, [&](auto &lapack, auto *a, auto *out, int64_t) -> Status {
    using T = std::remove_pointer_t<decltype(out)>;
    using Wide = std::conditional_t<kComplex<T>, std::complex<double>, double>;
    thread_local std::vector<T> diagonal;
    Wide product = factorDiagonal(lapack, a, n, diagonal);
    if constexpr (!kComplex<T>)
      if (auto plain = plainProduct<T>(diagonal, product)) {
        *out = static_cast<T>(*plain);
        return Status::ok();
      }
    // Fractions and exponents apart: a product in between may overflow where the result does not.
    int64_t exponent = 0;
    auto scaled = [](Wide x, int by) {
      if constexpr (kComplex<T>)
        return Wide(std::ldexp(x.real(), by), std::ldexp(x.imag(), by));
      else
        return std::ldexp(x, by);
    };
    auto normalise = [&](Wide x) {
      double size = std::max(std::abs(std::real(x)), std::abs(std::imag(x)));
      int e = 0;
      std::frexp(size, &e);
      if (!std::isfinite(size))
        return x;
      exponent += e;
      return scaled(x, -e);
    };
    for (T x : diagonal)
      product = normalise(product * normalise(Wide(x)));
    exponent = std::clamp<int64_t>(exponent, -5000, 5000);
    *out = product == Wide(0) ? T(0) : static_cast<T>(scaled(product, static_cast<int>(exponent)));
    return Status::ok();
  });
}

Status slogdet(const Call &call) {
  int64_t batch = call.result.shape[0], n = call.operands[0].shape[1];
  return eachMatrix(call, batch, n, [&](auto &lapack, auto *a, auto *out, int64_t) -> Status {
    using T = std::remove_pointer_t<decltype(out)>;
    std::vector<T> diagonal;
    T sign = static_cast<T>(factorDiagonal(lapack, a, n, diagonal));
    Real<T> logarithm = 0;
    for (T x : diagonal) {
      Real<T> size = std::abs(x);
      if (x == T(0))
        sign = T(0);
      else if constexpr (kComplex<T>)
        sign *= x / size;
      else if (x < 0 && sign != 0)
        sign = -sign;
      logarithm += std::log(size);
    }
    out[0] = sign;
    out[1] = logarithm;
    return Status::ok();
  });
}

Status qr(const Call &call) {
  int64_t batch = call.result.shape[0];
  int64_t m = call.operands[0].shape[1], n = call.operands[0].shape[2], k = std::min(m, n);
  int64_t mode = call.params[0];
  Workspace workspace, formed;
  return eachMatrix(
      call, batch, std::max(m, n), [&](auto &lapack, auto *a, auto *out, int64_t) -> Status {
        using Int = IntType<decltype(lapack)>;
        using T = std::remove_pointer_t<decltype(out)>;
        int64_t width = mode == 1 ? m : k; // columns of q
        Scratch<T> h(m * std::max(n, width)), tau(k);
        transpose(a, m, n, h.data());
        auto rows = static_cast<Int>(m), columns = static_cast<Int>(n),
             stride = std::max<Int>(1, rows);
        Int info = withWorkspace<T, Int>(workspace, [&](T *work, Int *size) {
          return lapack(Lapack::Geqrf, 0, &rows, &columns, h.data(), &stride, tau.data(), work,
                        size);
        });
        if (info != 0)
          return singular("qr", "Incorrect argument found while performing QR factorization");
        if (mode == 3) {
          std::copy_n(h.data(), m * n, out);
          std::copy_n(tau.data(), k, out + m * n);
          return Status::ok();
        }
        int64_t height = mode == 1 ? m : k; // rows of r
        T *r = out + (mode == 2 ? 0 : m * width);
        for (int64_t i = 0; i < height; ++i)
          for (int64_t j = 0; j < n; ++j)
            r[i * n + j] = j >= i ? h[j * m + i] : T(0);
        if (mode == 2)
          return Status::ok();
        auto wide = static_cast<Int>(width), reflectors = static_cast<Int>(k);
        info = withWorkspace<T, Int>(formed, [&](T *work, Int *size) {
          return lapack(Lapack::Orgqr, 0, &rows, &wide, &reflectors, h.data(), &stride, tau.data(),
                        work, size);
        });
        if (info != 0)
          return singular("qr", "Incorrect argument found while performing QR factorization");
        transpose(h.data(), width, m, out);
        return Status::ok();
      });
}

Status eigh(const Call &call) {
  int64_t batch = call.result.shape[0], n = call.operands[0].shape[1];
  bool valuesOnly = call.params[0] != 0, lower = call.params[1] != 0;
  Workspace workspace;
  return eachMatrix(call, batch, n, [&](auto &lapack, auto *a, auto *out, int64_t) -> Status {
    using Int = IntType<decltype(lapack)>;
    using T = std::remove_pointer_t<decltype(out)>;
    Scratch<T> matrix(n * n);
    Scratch<Real<T>> values(n);
    transpose(a, n, n, matrix.data());
    char job = valuesOnly ? 'N' : 'V', triangle = lower ? 'L' : 'U';
    auto size = static_cast<Int>(n), stride = std::max<Int>(1, size);
    auto decompose = [&](T *work, Int *count, [[maybe_unused]] Real<T> *reals,
                         [[maybe_unused]] Int *realCount, Int *ints, Int *intCount) {
      if constexpr (kComplex<T>)
        return lapack(Lapack::Syevd, 2, &job, &triangle, &size, matrix.data(), &stride,
                      values.data(), work, count, reals, realCount, ints, intCount);
      else
        return lapack(Lapack::Syevd, 2, &job, &triangle, &size, matrix.data(), &stride,
                      values.data(), work, count, ints, intCount);
    };
    Int info = withWorkspaces<T, Int>(workspace, decompose);
    if (info != 0)
      return singular("eigh", "Eigenvalues did not converge");
    std::copy_n(values.data(), n, out);
    if (!valuesOnly)
      transpose(matrix.data(), n, n, out + n);
    return Status::ok();
  });
}

namespace {

/// Eigenvalues and, unless `vectors` is null, eigenvectors of a real matrix. geev stores a pair of
/// conjugate eigenvectors as its real and its imaginary part.
template <typename C, typename T>
IntType<C> eigOfMatrix(const C &lapack, Workspace &workspace, T *matrix, int64_t n,
                       std::complex<T> *values, std::complex<T> *vectors) {
  using Int = IntType<C>;
  Scratch<T> real(n), imaginary(n), columns(vectors ? n * n : 1);
  char left = 'N', right = vectors ? 'V' : 'N';
  T none = 0;
  auto size = static_cast<Int>(n), stride = std::max<Int>(1, size);
  Int info = withWorkspace<T, Int>(workspace, [&](T *work, Int *count) {
    return lapack(Lapack::Geev, 2, &left, &right, &size, matrix, &stride, real.data(),
                  imaginary.data(), &none, &stride, columns.data(), &stride, work, count);
  });
  for (int64_t j = 0; j < n; ++j)
    values[j] = {real[j], imaginary[j]};
  for (int64_t j = 0; vectors && j < n; ++j) {
    bool pair = imaginary[j] != 0 && j + 1 < n;
    const T *column = columns.data() + j * n;
    for (int64_t i = 0; i < n; ++i) {
      std::complex<T> x(column[i], pair ? column[n + i] : T(0));
      vectors[i * n + j] = x;
      if (pair)
        vectors[i * n + j + 1] = std::conj(x);
    }
    j += pair;
  }
  return info;
}

/// The same of a complex matrix.
template <typename C, typename T>
IntType<C> eigOfMatrix(const C &lapack, Workspace &workspace, std::complex<T> *matrix, int64_t n,
                       std::complex<T> *values, std::complex<T> *vectors) {
  using Int = IntType<C>;
  Scratch<std::complex<T>> columns(vectors ? n * n : 1);
  Scratch<T> reals(2 * n);
  char left = 'N', right = vectors ? 'V' : 'N';
  std::complex<T> none = 0;
  auto size = static_cast<Int>(n), stride = std::max<Int>(1, size);
  Int info = withWorkspace<std::complex<T>, Int>(workspace, [&](std::complex<T> *work, Int *count) {
    return lapack(Lapack::Geev, 2, &left, &right, &size, matrix, &stride, values, &none, &stride,
                  columns.data(), &stride, work, count, reals.data());
  });
  if (vectors)
    transpose(columns.data(), n, n, vectors);
  return info;
}

} // namespace

Status eig(const Call &call) {
  int64_t batch = call.result.shape[0], n = call.operands[0].shape[1];
  bool valuesOnly = call.params[0] != 0;
  Workspace workspace;
  return eachMatrix(call, batch, n, [&](auto &lapack, auto *a, auto *out, int64_t) -> Status {
    using T = std::remove_pointer_t<decltype(out)>;
    if (!allFinite(a, n * n))
      return singular("eig", "Array must not contain infs or NaNs");
    Scratch<T> matrix(n * n);
    transpose(a, n, n, matrix.data());
    auto *values = reinterpret_cast<std::complex<Real<T>> *>(out);
    if (eigOfMatrix(lapack, workspace, matrix.data(), n, values,
                    valuesOnly ? nullptr : values + n) != 0)
      return singular("eig", "Eigenvalues did not converge");
    return Status::ok();
  });
}

Status svd(const Call &call) {
  int64_t batch = call.result.shape[0];
  int64_t m = call.operands[0].shape[1], n = call.operands[0].shape[2], k = std::min(m, n);
  int64_t mode = call.params[0];
  Workspace workspace;
  return eachMatrix(
      call, batch, std::max(m, n), [&](auto &lapack, auto *a, auto *out, int64_t) -> Status {
        using Int = IntType<decltype(lapack)>;
        using T = std::remove_pointer_t<decltype(out)>;
        int64_t uWidth = mode == 2 ? m : k, vHeight = mode == 2 ? n : k;
        T *u = out, *s = mode ? out + m * uWidth : out, *vh = s + k;
        if (k == 0) {
          // No singular values: the full factors are identities.
          for (int64_t i = 0; mode == 2 && i < m * m; ++i)
            u[i] = T(i % (m + 1) == 0);
          for (int64_t i = 0; mode == 2 && i < n * n; ++i)
            vh[i] = T(i % (n + 1) == 0);
          return Status::ok();
        }
        Scratch<T> matrix(m * n);
        Scratch<T> left(mode ? m * uWidth : 1);
        Scratch<T> right(mode ? vHeight * n : 1);
        transpose(a, m, n, matrix.data());
        Scratch<Int> ints(8 * k);
        Scratch<Real<T>> values(k);
        const int64_t most = std::max(5 * k * k + 5 * k, 2 * std::max(m, n) * k + 2 * k * k + k);
        [[maybe_unused]] Scratch<Real<T>> reals(!kComplex<T> ? 0 : mode ? most : 7 * k);
        char job = mode == 0 ? 'N' : mode == 1 ? 'S' : 'A';
        auto rows = static_cast<Int>(m), columns = static_cast<Int>(n);
        auto uStride = static_cast<Int>(mode ? m : 1),
             vStride = static_cast<Int>(mode ? vHeight : 1);
        Int info = withWorkspace<T, Int>(workspace, [&](T *work, Int *size) {
          if constexpr (kComplex<T>)
            return lapack(Lapack::Gesdd, 1, &job, &rows, &columns, matrix.data(), &rows,
                          values.data(), left.data(), &uStride, right.data(), &vStride, work, size,
                          reals.data(), ints.data());
          else
            return lapack(Lapack::Gesdd, 1, &job, &rows, &columns, matrix.data(), &rows,
                          values.data(), left.data(), &uStride, right.data(), &vStride, work, size,
                          ints.data());
        });
        if (info != 0)
          return singular("svd", "SVD did not converge");
        std::copy_n(values.data(), k, s);
        if (mode) {
          transpose(left.data(), uWidth, m, u);
          transpose(right.data(), n, vHeight, vh);
        }
        return Status::ok();
      });
}

Status lstsq(const Call &call) {
  int64_t m = call.operands[0].shape[0], n = call.operands[0].shape[1];
  int64_t k = call.operands[1].shape[1], smaller = std::min(m, n), larger = std::max(m, n);
  return eachMatrix(call, 1, larger, [&](auto &lapack, auto *a, auto *out, int64_t) -> Status {
    using Int = IntType<decltype(lapack)>;
    using T = std::remove_pointer_t<decltype(out)>;
    const T *y = static_cast<const T *>(call.operands[1].data);
    Real<T> rcond = std::real(*static_cast<const T *>(call.operands[2].data));
    T *residuals = out + n * k, *rank = residuals + k, *s = rank + 1;
    std::fill(out, s + smaller, T(0));
    if (smaller == 0) {
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < k; ++j)
          residuals[j] += y[i * k + j] * conjugate(y[i * k + j]);
      return Status::ok();
    }
    int64_t sides = std::max<int64_t>(1, k); // gelsd wants one
    Scratch<T> matrix(m * n), x(larger * sides);
    transpose(a, m, n, matrix.data());
    std::fill_n(x.data(), larger * sides, T(0));
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < k; ++j)
        x[j * larger + i] = y[i * k + j];
    auto rows = static_cast<Int>(m), columns = static_cast<Int>(n), right = static_cast<Int>(sides);
    auto stride = static_cast<Int>(larger);
    Scratch<Real<T>> values(smaller);
    Int found = 0;
    auto decompose = [&](T *work, Int *size, [[maybe_unused]] Real<T> *reals, Int *ints) {
      if constexpr (kComplex<T>)
        return lapack(Lapack::Gelsd, 0, &rows, &columns, &right, matrix.data(), &rows, x.data(),
                      &stride, values.data(), &rcond, &found, work, size, reals, ints);
      else
        return lapack(Lapack::Gelsd, 0, &rows, &columns, &right, matrix.data(), &rows, x.data(),
                      &stride, values.data(), &rcond, &found, work, size, ints);
    };
    Int query = -1, wantedInts = 0;
    T wanted = 0;
    Real<T> wantedReals = 0;
    Int info = decompose(&wanted, &query, &wantedReals, &wantedInts);
    if (info == 0) {
      auto size = workspaceSize<Int>(wanted);
      Scratch<T> work(size);
      Scratch<Real<T>> reals(workspaceSize<Int>(wantedReals));
      Scratch<Int> ints(std::max<Int>(1, wantedInts));
      info = decompose(work.data(), &size, reals.data(), ints.data());
    }
    if (info != 0)
      return singular("lstsq", "SVD did not converge in Linear Least Squares");
    *rank = static_cast<Real<T>>(found);
    std::copy_n(values.data(), smaller, s);
    for (int64_t j = 0; j < k; ++j) {
      const T *column = x.data() + j * larger;
      for (int64_t i = 0; i < n; ++i)
        out[i * k + j] = column[i];
      for (int64_t i = n; i < m; ++i)
        residuals[j] += column[i] * conjugate(column[i]);
    }
    return Status::ok();
  });
}

} // namespace graphc::rt::library
