//===- Rows.h - Routines that treat rows one by one -------------------------------------------===//
#ifndef GRAPHC_RUNTIME_LIBRARY_ROWS_H
#define GRAPHC_RUNTIME_LIBRARY_ROWS_H

#include "runtime/drivers/Drivers.h"
#include "runtime/library/Parallel.h"

#include <atomic>
#include <vector>

namespace graphc::rt::library {

inline Result<BufferRef> scratch(int64_t bytes) {
  GRAPHC_ASSIGN(Device * cpu, findDevice("cpu"));
  return cpu->allocate(bytes);
}

template <typename T>
T *as(const BufferRef &buffer) {
  return static_cast<T *>(buffer->host());
}

/// Calls `row(number, several)` for every row: rows on the threads, or the threads in a row.
template <typename Row>
Status eachRow(int64_t rows, int64_t length, const Row &row) {
  int threads = cpu::ThreadPool::instance().threads();
  if (rows < threads || length >= (int64_t{1} << 22)) {
    for (int64_t r = 0; r < rows; ++r)
      GRAPHC_TRY(row(r, true));
    return Status::ok();
  }
  std::vector<Status> failed(static_cast<size_t>(threads) * 4 + 1);
  int64_t chunk = std::max<int64_t>(1, std::max(rows / (threads * 4), 4096 / (length + 1)));
  std::atomic<size_t> next{0};
  parallelFor(rows, chunk, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      if (Status status = row(r, false); !status) {
        size_t place = next.fetch_add(1, std::memory_order_relaxed);
        if (place < failed.size())
          failed[place] = std::move(status);
      }
  });
  return std::move(failed[0]);
}

} // namespace graphc::rt::library

#endif // GRAPHC_RUNTIME_LIBRARY_ROWS_H
