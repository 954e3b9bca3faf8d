//===- Consumer.cpp - Runs a program with an installed runtime ------------------------------===//
//
// consumer FILE.gco: the program maps x to x * x + x over float64. Exits 0 when the result is right
// and when a damaged file is refused.
//
//===------------------------------------------------------------------------------------------===//
#include "runtime/drivers/Drivers.h"
#include "runtime/exec/Executor.h"
#include "runtime/program/Archive.h"

#include <cstdio>
#include <fstream>
#include <iterator>

using namespace graphc;

static int fail(const Status &status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}

static int runOnCpu(std::vector<uint8_t> bytes) {
  auto device = rt::findDevice("cpu");
  if (!device)
    return fail(device.status());
  auto program = rt::load(std::move(bytes), **device);
  if (!program)
    return fail(program.status());

  constexpr int64_t kCount = 1000;
  auto buffer = (*device)->allocate(kCount * 8);
  if (!buffer)
    return fail(buffer.status());
  std::vector<double> x(kCount), y(kCount);
  for (int64_t i = 0; i < kCount; ++i)
    x[i] = 0.5 * static_cast<double>(i);
  if (Status s = (*device)->queue().upload(**buffer, x.data(), kCount * 8); !s)
    return fail(s);
  std::vector<rt::Tensor> inputs(1), outputs;
  inputs[0] = {*buffer, DType::Float64, Shape{kCount}};
  if (Status s = rt::run(**program, inputs, {}, outputs); !s)
    return fail(s);
  if (Status s = (*device)->queue().download(y.data(), *outputs[0].buffer, kCount * 8); !s)
    return fail(s);
  for (int64_t i = 0; i < kCount; ++i)
    if (y[i] != x[i] * x[i] + x[i]) {
      std::fprintf(stderr, "element %lld is %.17g\n", static_cast<long long>(i), y[i]);
      return 1;
    }
  std::printf("%lld elements are right\n", static_cast<long long>(kCount));
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  std::ifstream file(argv[1], std::ios::binary);
  std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file),
                             std::istreambuf_iterator<char>()};
  std::vector<uint8_t> damaged = bytes;
  if (!damaged.empty())
    damaged.back() ^= 1;
  if (program::readArchive(damaged)) {
    std::fprintf(stderr, "a damaged file was accepted\n");
    return 1;
  }
  auto members = program::readArchive(bytes);
  if (!members)
    return fail(members.status());
  std::span<const uint8_t> blob = members->front().blob;
  return runOnCpu({blob.begin(), blob.end()});
}
