//===- ProgramBuilder.h - Programs for tests, written by hand ---------------------------------===//
#ifndef GRAPHC_TESTS_RUNTIME_PROGRAMBUILDER_H
#define GRAPHC_TESTS_RUNTIME_PROGRAMBUILDER_H

#include "runtime/base/DType.h"
#include "runtime/base/Digest.h"
#include "runtime/program/Program.h"

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphc::test {

/// Recomputes the checksum of a changed blob.
inline void reseal(std::vector<uint8_t> &blob) {
  program::Header header;
  if (blob.size() < sizeof header)
    return;
  std::memcpy(&header, blob.data(), sizeof header);
  Digest digest = digestOf(std::span(blob).subspan(sizeof header));
  header.checksum[0] = digest.low;
  header.checksum[1] = digest.high;
  std::memcpy(blob.data(), &header, sizeof header);
}

/// Collects records and lays them out. No checks: tests also build wrong programs.
class ProgramBuilder {
public:
  explicit ProgramBuilder(program::Target target) : target(target) {
    meta.name = text("test");
    meta.compiler = text("hand");
  }

  program::String text(std::string_view s) {
    program::String where = {static_cast<uint32_t>(strings.size()),
                             static_cast<uint32_t>(s.size())};
    strings += s;
    return where;
  }
  uint32_t list(std::vector<uint32_t> values) {
    uint32_t first = static_cast<uint32_t>(words.size());
    words.insert(words.end(), values.begin(), values.end());
    return first;
  }
  uint32_t size(program::SizeKind kind, uint32_t a = 0, uint32_t b = 0, int64_t value = 0) {
    sizes.push_back({static_cast<uint32_t>(kind), a, b, 0, value});
    return static_cast<uint32_t>(sizes.size() - 1);
  }
  uint32_t constant(int64_t value) { return size(program::SizeKind::Constant, 0, 0, value); }
  uint32_t dim(uint32_t input, uint32_t axis) {
    return size(program::SizeKind::InputDim, input, axis);
  }
  uint32_t buffer(program::BufferKind kind, DType dtype, uint32_t elements, uint32_t a = 0) {
    buffers.push_back({static_cast<uint32_t>(kind), static_cast<uint32_t>(dtype), elements, a});
    return static_cast<uint32_t>(buffers.size() - 1);
  }
  /// An input with its buffer; returns the buffer number. The element count is a size number.
  uint32_t input(std::string_view name, DType dtype, std::vector<uint32_t> dims,
                 uint32_t elements) {
    uint32_t number = static_cast<uint32_t>(inputs.size());
    uint32_t b = buffer(program::BufferKind::Input, dtype, elements, number);
    inputs.push_back({static_cast<uint32_t>(dtype), static_cast<uint32_t>(dims.size()), list(dims),
                      b, text(name)});
    return b;
  }
  uint32_t output(std::string_view name, DType dtype, std::vector<uint32_t> dims,
                  uint32_t elements) {
    uint32_t number = static_cast<uint32_t>(outputs.size());
    uint32_t b = buffer(program::BufferKind::Output, dtype, elements, number);
    outputs.push_back({static_cast<uint32_t>(dtype), static_cast<uint32_t>(dims.size()), list(dims),
                       b, text(name)});
    return b;
  }
  uint32_t kernel(std::string_view name, std::vector<uint32_t> writes, uint32_t sizeCount,
                  uint64_t entry = 0, double cost = 1, uint32_t grain = 1,
                  uint32_t scratch = program::kNone) {
    program::KernelRecord k = {};
    k.name = text(name);
    k.entry = entry;
    k.bufferCount = static_cast<uint32_t>(writes.size());
    k.sizeCount = sizeCount;
    k.writes = list(writes);
    k.grain = grain;
    k.scratch = scratch;
    k.itemsPerThread = 1;
    k.costPerItem = cost;
    kernels.push_back(k);
    return static_cast<uint32_t>(kernels.size() - 1);
  }
  void launch(uint32_t kernel, uint32_t range, std::vector<uint32_t> stepBuffers,
              std::vector<uint32_t> stepSizes = {}) {
    steps.push_back({static_cast<uint32_t>(program::StepKind::Launch), kernel, range,
                     list(stepBuffers), static_cast<uint32_t>(stepBuffers.size()), list(stepSizes),
                     static_cast<uint32_t>(stepSizes.size()), program::kNone});
  }
  void copy(uint32_t destination, uint32_t source) {
    steps.push_back({static_cast<uint32_t>(program::StepKind::Copy), 0, 0,
                     list({destination, source}), 2, 0, 0, 0});
  }
  /// A library step; `ranks` and `stepSizes` describe the operands, then the result.
  void call(std::string_view routine, std::vector<uint32_t> stepBuffers,
            std::vector<uint32_t> ranks, std::vector<uint32_t> stepSizes,
            std::vector<uint32_t> paramWords, uint32_t node = program::kNone,
            std::string_view lines = "") {
    auto number = static_cast<uint32_t>(calls.size());
    calls.push_back({text(routine), list(ranks), list(paramWords),
                     static_cast<uint32_t>(paramWords.size() / 2), node, text(lines)});
    steps.push_back({static_cast<uint32_t>(program::StepKind::Call), number, 0, list(stepBuffers),
                     static_cast<uint32_t>(stepBuffers.size()), list(stepSizes),
                     static_cast<uint32_t>(stepSizes.size()), 0});
  }
  /// A constant; returns its buffer number.
  uint32_t data(DType dtype, std::span<const uint8_t> bytes) {
    constants.resize((constants.size() + 63) / 64 * 64);
    uint32_t at = static_cast<uint32_t>(constants.size());
    constants.insert(constants.end(), bytes.begin(), bytes.end());
    return buffer(program::BufferKind::Constant, dtype,
                  constant(static_cast<int64_t>(bytes.size()) / itemSize(dtype)), at);
  }
  /// Adds machine code; returns its entry.
  uint64_t addCode(std::span<const uint8_t> bytes) {
    code.resize((code.size() + 63) / 64 * 64);
    uint64_t at = code.size();
    code.insert(code.end(), bytes.begin(), bytes.end());
    return at;
  }
  void addSource(std::string_view source) { code.assign(source.begin(), source.end()); }
  void addIl(std::string_view text) { il.assign(text.begin(), text.end()); }
  void addBinary(std::string_view text) { binary.assign(text.begin(), text.end()); }

  std::vector<uint8_t> build() const {
    using program::Section;
    std::vector<program::SectionRecord> table;
    std::vector<uint8_t> body;
    const size_t kSections = 14 + !il.empty() + !binary.empty();
    size_t start = sizeof(program::Header) + kSections * sizeof(program::SectionRecord);
    auto add = [&](Section s, const void *bytes, size_t count, size_t recordBytes) {
      size_t alignment = program::alignmentOf(s);
      while ((start + body.size()) % alignment)
        body.push_back(0);
      table.push_back({static_cast<uint32_t>(s), static_cast<uint32_t>(count), start + body.size(),
                       count * recordBytes});
      auto *first = static_cast<const uint8_t *>(bytes);
      body.insert(body.end(), first, first + count * recordBytes);
    };
    auto records = [&](Section s, const auto &v) { add(s, v.data(), v.size(), sizeof(v[0])); };
    records(Section::Strings, strings);
    records(Section::Words, words);
    records(Section::Sizes, sizes);
    records(Section::Checks, checks);
    records(Section::Inputs, inputs);
    records(Section::Outputs, outputs);
    records(Section::Buffers, buffers);
    records(Section::Kernels, kernels);
    records(Section::Steps, steps);
    records(Section::Faults, faults);
    records(Section::Code, code);
    records(Section::Data, constants);
    add(Section::Meta, &meta, 1, sizeof meta);
    records(Section::Calls, calls);
    if (!il.empty())
      records(Section::Il, il);
    if (!binary.empty())
      records(Section::Binary, binary);

    program::Header header = {};
    std::memcpy(header.magic, program::kMagic, sizeof header.magic);
    header.version = program::kVersion;
    header.target = static_cast<uint32_t>(target);
    header.totalBytes = start + body.size();
    header.sectionCount = static_cast<uint32_t>(table.size());
    std::vector<uint8_t> blob(start);
    std::memcpy(blob.data(), &header, sizeof header);
    std::memcpy(blob.data() + sizeof header, table.data(),
                table.size() * sizeof(program::SectionRecord));
    blob.insert(blob.end(), body.begin(), body.end());
    reseal(blob);
    return blob;
  }

  program::Target target;
  std::string strings;
  std::vector<uint32_t> words;
  std::vector<program::SizeRecord> sizes;
  std::vector<program::CheckRecord> checks;
  std::vector<program::TensorRecord> inputs, outputs;
  std::vector<program::BufferRecord> buffers;
  std::vector<program::KernelRecord> kernels;
  std::vector<program::StepRecord> steps;
  std::vector<program::FaultRecord> faults;
  std::vector<program::CallRecord> calls;
  std::vector<uint8_t> code, constants, il, binary;
  program::MetaRecord meta = {};
};

} // namespace graphc::test

#endif // GRAPHC_TESTS_RUNTIME_PROGRAMBUILDER_H
