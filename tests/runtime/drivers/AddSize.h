//===- AddSize.h - A small program for OpenCL drivers -----------------------------------------===//
#ifndef GRAPHC_TESTS_RUNTIME_DRIVERS_ADDSIZE_H
#define GRAPHC_TESTS_RUNTIME_DRIVERS_ADDSIZE_H

#include "runtime/exec/Executor.h"
#include "tests/runtime/ProgramBuilder.h"

#include <gtest/gtest.h>

namespace graphc::test {

inline constexpr const char *kAddSizeSource = R"(
__kernel void add_size(__global const long *x, __global long *y, long n, long range) {
  for (long i = get_global_id(0) * 4; i < min(range, (long)(get_global_id(0) * 4 + 4)); ++i)
    y[i] = x[i] + n;
}
)";

/// Adds the number of elements to every element, `steps` times: an even number of launches between
/// two buffers. `give` adds the code.
template <typename Give>
std::vector<uint8_t> addSizeAs(int steps, uint32_t group, Give give, int64_t groupMemory = 0) {
  ProgramBuilder b(program::Target::OpenCL);
  give(b);
  uint32_t n = b.dim(0, 0);
  uint32_t x = b.input("x", DType::Int64, {n}, n);
  uint32_t y = b.output("y", DType::Int64, {n}, n);
  uint32_t t = b.buffer(program::BufferKind::Temp, DType::Int64, n);
  uint32_t k = b.kernel("add_size", {0, 1}, 1);
  b.kernels[k].itemsPerThread = 4;
  b.kernels[k].group = group;
  if (groupMemory)
    b.kernels[k].scratch = b.constant(groupMemory);
  for (int i = 0; i < steps; ++i)
    b.launch(k, n, {i == 0 ? x : i % 2 ? t : y, i % 2 ? y : t}, {n});
  return b.build();
}
inline std::vector<uint8_t> addSize(int steps = 2, uint32_t group = 0,
                                    const char *source = kAddSizeSource) {
  return addSizeAs(steps, group, [&](ProgramBuilder &b) { b.addSource(source); });
}

inline Result<rt::Tensor> upload(rt::Device &device, const std::vector<int64_t> &values) {
  int64_t bytes = static_cast<int64_t>(values.size() * sizeof(int64_t));
  GRAPHC_ASSIGN(rt::BufferRef buffer, device.allocate(bytes));
  GRAPHC_TRY(device.queue().upload(*buffer, values.data(), bytes));
  return rt::Tensor{std::move(buffer), DType::Int64, {static_cast<int64_t>(values.size())}};
}

inline Result<std::vector<int64_t>> download(const rt::Tensor &t) {
  std::vector<int64_t> values(static_cast<size_t>(t.shape[0]));
  GRAPHC_TRY(t.buffer->device().queue().download(
      values.data(), *t.buffer, static_cast<int64_t>(values.size() * sizeof(int64_t))));
  return values;
}

} // namespace graphc::test

#endif // GRAPHC_TESTS_RUNTIME_DRIVERS_ADDSIZE_H
