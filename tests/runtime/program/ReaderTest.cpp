//===- ReaderTest.cpp - Programs that must and must not be accepted ---------------------------===//
#include "runtime/program/Reader.h"

#include "runtime/program/Archive.h"
#include "runtime/program/Inspect.h"
#include "tests/runtime/ProgramBuilder.h"

#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace graphc;
using namespace graphc::program;
using test::ProgramBuilder;
using test::reseal;

namespace {

/// A program that uses every kind of record.
ProgramBuilder complete() {
  ProgramBuilder b(Target::Cpu);
  b.code.assign(128, 0xc3);
  b.meta.sizeArguments = 1;
  b.meta.isa = b.text("sse3");
  b.meta.explain = b.text("one kernel");
  uint32_t n = b.dim(0, 0), m = b.dim(0, 1);
  uint32_t nm = b.size(SizeKind::Mul, n, m);
  uint32_t scratch = b.size(SizeKind::Argument, 0);
  uint32_t x = b.input("x", graphc::DType::Float32, {n, m}, nm);
  uint32_t y = b.output("y", graphc::DType::Float32, {n, m}, nm);
  uint32_t t = b.buffer(BufferKind::Temp, graphc::DType::Float32, nm);
  uint8_t values[] = {1, 2, 3, 4, 5, 6, 7, 8};
  uint32_t c = b.data(graphc::DType::Float32, values);
  uint32_t k = b.kernel("f_0", {0, 0, 1}, 2, 64, 1.5, 4, scratch);
  b.kernels[k].lines = b.text("a.py:3");
  b.checks.push_back({n, m, b.text("square")});
  b.launch(k, nm, {x, c, t}, {n, m});
  b.call("sort", {x, t}, {2, 2}, {n, m, n, m}, {1, 0}, 7, "a.py:4");
  b.copy(y, t);
  return b;
}

std::string refusal(std::vector<uint8_t> blob) {
  auto p = Program::parse(std::move(blob));
  EXPECT_FALSE(p.isOk());
  if (p.isOk())
    return "";
  EXPECT_EQ(p.status().code(), ErrorCode::Corrupt);
  return p.status().message();
}

TEST(Reader, AcceptsACompleteProgram) {
  auto p = Program::parse(complete().build());
  ASSERT_TRUE(p.isOk()) << p.status().message();
  EXPECT_EQ(p->kernels().size(), 1u);
  EXPECT_EQ(p->text(p->kernels()[0].name), "f_0");
  EXPECT_EQ(p->text(p->inputs()[0].name), "x");
  EXPECT_EQ(p->code().size(), 128u);
  EXPECT_EQ(p->data().size(), 8u);
  EXPECT_EQ(p->stepBuffers(p->steps()[0]).size(), 3u);
}

TEST(Reader, ListsAProgram) {
  auto p = Program::parse(complete().build());
  ASSERT_TRUE(p.isOk());
  std::string text = inspectText(*p);
  EXPECT_NE(text.find("program @test for cpu (sse3)"), std::string::npos) << text;
  EXPECT_NE(text.find("  input  x: float32[x.0, x.1]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  step 0: launch @f_0(%x, %c3, %t2) sizes(x.0, x.1) over (x.0*x.1)\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  step 1: library sort(%x[x.0, x.1]) to %t2[x.0, x.1] params 1  # a.py:4\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  step 2: copy %y <- %t2\n"), std::string::npos) << text;
  std::string json = inspectJson(*p);
  EXPECT_NE(json.find("\"kernels\":[{\"name\":\"f_0\",\"family\":\"map\""), std::string::npos)
      << json;
}

TEST(Reader, SizeTextStaysShort) {
  ProgramBuilder b(Target::Cpu);
  b.meta.sizeArguments = 1;
  uint32_t s = b.size(SizeKind::Argument, 0);
  for (int i = 0; i < 100; ++i)
    s = b.size(SizeKind::Add, s, s);
  auto p = Program::parse(b.build());
  ASSERT_TRUE(p.isOk());
  EXPECT_LT(sizeText(*p, s).size(), 10000u);
}

TEST(Reader, RefusesEveryTruncation) {
  std::vector<uint8_t> blob = complete().build();
  for (size_t n = 0; n < blob.size(); ++n) {
    std::vector<uint8_t> cut(blob.begin(), blob.begin() + static_cast<long>(n));
    refusal(cut);
    // With header and checksum made to agree with the length, the section table still gives it
    // away.
    if (n >= sizeof(Header)) {
      uint64_t total = n;
      std::memcpy(cut.data() + offsetof(Header, totalBytes), &total, sizeof total);
      reseal(cut);
      refusal(cut);
    }
  }
}

TEST(Reader, RefusesEveryFlippedByte) {
  std::vector<uint8_t> blob = complete().build();
  for (size_t i = 0; i < blob.size(); ++i)
    for (uint8_t mask : {0x01, 0x80, 0xff}) {
      std::vector<uint8_t> bad = blob;
      bad[i] ^= mask;
      refusal(bad);
    }
}

// What an attacker or a buggy compiler could write: consistent checksums over wrong numbers. A
// program that is accepted must be safe to walk.
void walk(const Program &p) {
  inspectText(p);
  inspectJson(p);
  size_t sum = 0;
  for (const StepRecord &s : p.steps()) {
    for (uint32_t b : p.stepBuffers(s))
      sum += p.buffers()[b].kind + p.sizes()[p.buffers()[b].elements].kind;
    for (uint32_t size : p.stepSizes(s))
      sum += p.sizes()[size].kind;
    if (static_cast<StepKind>(s.kind) != StepKind::Call)
      continue;
    for (uint32_t rank : p.callRanks(s))
      sum += rank;
    const CallRecord &c = p.calls()[s.kernel];
    sum += p.text(c.routine).size() + p.text(c.lines).size();
    for (uint32_t i = 0; i < c.paramCount; ++i)
      sum += static_cast<size_t>(p.callParam(c, i) & 1);
  }
  EXPECT_LT(sum, SIZE_MAX);
}

TEST(Reader, SurvivesEveryFlippedByteUnderAValidChecksum) {
  std::vector<uint8_t> blob = complete().build();
  size_t accepted = 0, refused = 0;
  for (size_t i = sizeof(Header); i < blob.size(); ++i)
    for (uint8_t mask : {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff}) {
      std::vector<uint8_t> bad = blob;
      bad[i] ^= mask;
      reseal(bad);
      auto p = Program::parse(std::move(bad));
      if (p.isOk()) {
        walk(*p);
        ++accepted;
      } else {
        ++refused;
      }
    }
  EXPECT_GT(accepted, 0u);
  EXPECT_GT(refused, 1000u);
}

TEST(Reader, SurvivesRandomWordsUnderAValidChecksum) {
  std::vector<uint8_t> blob = complete().build();
  std::mt19937 random(7);
  constexpr uint32_t kValues[] = {0, 1, 2, 7, 63, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> bad = blob;
    for (int k = 0; k < 1 + round % 4; ++k) {
      size_t at = sizeof(Header) + random() % ((bad.size() - sizeof(Header)) / 4) * 4;
      std::memcpy(bad.data() + at, &kValues[random() % 9], 4);
    }
    reseal(bad);
    if (auto p = Program::parse(std::move(bad)); p.isOk())
      walk(*p);
  }
}

static std::string message(void (*change)(ProgramBuilder &)) {
  ProgramBuilder b = complete();
  change(b);
  return refusal(b.build());
}

TEST(Reader, SaysWhatIsWrongOfIndexChecks) {
  EXPECT_EQ(message([](auto &b) { b.kernels[0].checks = 3; }),
            "[program] kernel 0 has unknown index checks 3");
  EXPECT_EQ(message([](auto &b) {
              b.kernels[0].checks = static_cast<uint32_t>(IndexChecks::Alone);
              b.kernels[0].checkReads = kNone;
            }),
            "[program] the index flags of a kernel lie outside the words");
}

TEST(Reader, SaysWhatIsWrong) {
  EXPECT_EQ(message([](auto &b) { b.sizes[2].a = 2; }),
            "[program] size 2 uses a size that is not computed before it");
  EXPECT_EQ(message([](auto &b) { b.sizes[0].b = 2; }),
            "[program] size 0 is axis 2 of input 0, which does not exist");
  EXPECT_EQ(message([](auto &b) { b.sizes[3].a = 1; }), "[program] size 3 is argument 1 of 1");
  EXPECT_EQ(message([](auto &b) { b.sizes[3].kind = 10; }), "[program] size 3 has unknown kind 10");
  EXPECT_EQ(message([](auto &b) { b.buffers[2].dtype = 99; }),
            "[program] buffer 2 has unknown dtype 99");
  EXPECT_EQ(message([](auto &b) { b.buffers[3].a = 64; }),
            "[program] constant buffer 3 lies outside the data");
  EXPECT_EQ(message([](auto &b) { b.kernels[0].entry = 128; }),
            "[program] kernel 0 starts outside the code");
  EXPECT_EQ(message([](auto &b) { b.kernels[0].grain = 0; }), "[program] kernel 0 has grain 0");
  EXPECT_EQ(message([](auto &b) { b.kernels[0].itemsPerThread = 0; }),
            "[program] kernel 0 has pieces of no items");
  EXPECT_EQ(message([](auto &b) { b.kernels[0].itemsPerThread = 4; }),
            "[program] kernel 0 waits, and has no scratch memory for it");
  EXPECT_EQ(
      message([](auto &b) { b.kernels[0].costPerItem = std::numeric_limits<double>::quiet_NaN(); }),
      "[program] kernel 0 has no valid cost");
  EXPECT_EQ(message([](auto &b) { b.words[b.kernels[0].writes] = 1; }),
            "[program] step 0 writes buffer 0, which is an input or a constant");
  EXPECT_EQ(message([](auto &b) { b.words[b.steps[0].buffers] = 4; }),
            "[program] step 0 refers to buffer 4 of 4");
  EXPECT_EQ(message([](auto &b) { b.steps[0].bufferCount = 2; }),
            "[program] step 0 passes 2 buffers and 2 sizes to a kernel of 3 and 2");
  EXPECT_EQ(message([](auto &b) { b.steps[0].buffers = 0xfffffff0; }),
            "[program] the buffers of a step lie outside the words");
  EXPECT_EQ(message([](auto &b) { b.steps[1].kernel = 1; }),
            "[program] step 1 uses library call 1 of 1");
  EXPECT_EQ(message([](auto &b) { b.steps[1].bufferCount = 1; }),
            "[program] step 1 passes 1 buffers to a routine");
  EXPECT_EQ(message([](auto &b) { b.words[b.calls[0].ranks] = 65; }),
            "[program] step 1 passes a tensor of rank 65");
  EXPECT_EQ(message([](auto &b) { b.words[b.calls[0].ranks] = 1; }),
            "[program] step 1 passes 4 sizes of 3");
  EXPECT_EQ(message([](auto &b) { b.calls[0].paramCount = 0xffffffff; }),
            "[program] step 1 passes 4294967295 parameters");
  EXPECT_EQ(message([](auto &b) { b.words[b.steps[1].buffers + 1] = 0; }),
            "[program] step 1 writes a buffer that it reads");
  EXPECT_EQ(message([](auto &b) { b.words[b.steps[1].buffers + 1] = 3; }),
            "[program] step 1 writes buffer 3, which is an input or a constant");
  EXPECT_EQ(message([](auto &b) { b.calls[0].routine.bytes = 0x7fffffff; }),
            "[program] the routine of a call lies outside the strings");
  EXPECT_EQ(message([](auto &b) { b.steps[0].tile = 0; }),
            "[program] a tile refers to size 4294967295 of 5");
  EXPECT_EQ(message([](auto &b) {
              b.steps[0].tile = 1;
              b.steps[0].rows = 0;
            }),
            "[program] step 0 is in tile 1, which is not the next one");
  EXPECT_EQ(message([](auto &b) {
              b.steps[0].tile = b.steps[1].tile = 0;
              b.steps[0].rows = b.steps[1].rows = 0;
            }),
            "[program] step 1 is in a tile and no launch");
  EXPECT_EQ(message([](auto &b) {
              b.steps[0].tile = b.steps[0].rows = 0;
              b.steps[0].skew = 99;
            }),
            "[program] a tile refers to size 99 of 5");
  EXPECT_EQ(message([](auto &b) {
              b.steps[0].tile = b.steps[0].rows = 0;
              b.steps[1] = b.steps[0];
              b.steps[1].skew = 0;
            }),
            "[program] step 1 has another skew than its tile");
  EXPECT_EQ(message([](auto &b) { b.outputs[0].buffer = 2; }),
            "[program] output 0 is neither an output buffer nor an input");
  EXPECT_EQ(message([](auto &b) { b.meta.name.offset = 0xfffffff0; }),
            "[program] the function name lies outside the strings");
}

TEST(Reader, RefusesOtherVersionsAndTargets) {
  std::vector<uint8_t> blob = complete().build();
  auto with = [&](size_t offset, uint32_t value) {
    std::vector<uint8_t> bad = blob;
    std::memcpy(bad.data() + offset, &value, sizeof value);
    return refusal(bad);
  };
  EXPECT_EQ(with(offsetof(Header, version), kVersion + 1),
            "[program] format version " + std::to_string(kVersion + 1) +
                " (this runtime reads version " + std::to_string(kVersion) + ")");
  EXPECT_EQ(with(offsetof(Header, target), 3), "[program] unknown target 3");
  EXPECT_EQ(refusal({}), "[program] 0 bytes are too few for a program");
  EXPECT_EQ(refusal(std::vector<uint8_t>(1000, 'x')), "[program] not a graphc program");
}

TEST(Archive, RoundTrip) {
  ProgramBuilder other(Target::OpenCL);
  std::vector<std::vector<uint8_t>> blobs = {complete().build(), other.build()};
  auto archive = writeArchive(blobs);
  ASSERT_TRUE(archive.isOk()) << archive.status().message();
  auto members = readArchive(*archive);
  ASSERT_TRUE(members.isOk()) << members.status().message();
  ASSERT_EQ(members->size(), 2u);
  EXPECT_EQ((*members)[0].target, Target::Cpu);
  EXPECT_EQ((*members)[1].target, Target::OpenCL);
  for (size_t i = 0; i < 2; ++i) {
    std::span<const uint8_t> blob = (*members)[i].blob;
    EXPECT_EQ(std::vector<uint8_t>(blob.begin(), blob.end()), blobs[i]);
  }
  auto lone = readArchive(blobs[0]);
  ASSERT_TRUE(lone.isOk());
  EXPECT_EQ(lone->size(), 1u);
}

TEST(Archive, RefusesDamage) {
  auto archive = writeArchive(std::vector<std::vector<uint8_t>>{complete().build()});
  ASSERT_TRUE(archive.isOk());
  for (size_t n = 0; n < archive->size(); ++n)
    ASSERT_FALSE(readArchive(std::span(*archive).first(n)).isOk()) << n;
  for (size_t i = 0; i < archive->size(); ++i) {
    std::vector<uint8_t> bad = *archive;
    bad[i] ^= 0x41;
    ASSERT_FALSE(readArchive(bad).isOk()) << i;
  }
  EXPECT_FALSE(writeArchive({}).isOk());
  EXPECT_FALSE(writeArchive(std::vector<std::vector<uint8_t>>{{1, 2, 3}}).isOk());
}

} // namespace
