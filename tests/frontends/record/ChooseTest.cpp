//===- ChooseTest.cpp - Decisions of "auto" under given speeds --------------------------------===//
#include "frontends/record/Choose.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace graphc;

namespace {

// A small server and a large GPU behind PCIe; nanoseconds, bytes and operations a nanosecond.
const DeviceSpeed kHost{800, 40, 40, 150, 10, 10};
const DeviceSpeed kGpu{25'000, 4000, 20'000, 45'000, 50, 50};
// The same cores behind a driver: nothing is gained there.
const DeviceSpeed kSame{60'000, 38, 36, 100, 8, 8};

ProgramWork mapOf(double elements, double operations) {
  ProgramWork w;
  w.bytes = 8 * elements;
  w.operations = operations * elements;
  return w;
}

bool movesTo(const ProgramWork &w, const DeviceSpeed &other) {
  return timeOnOther(w, other) < timeOnHost(w, kHost, other);
}

TEST(Choose, SmallProgramsStay) {
  EXPECT_FALSE(movesTo(mapOf(1000, 1), kGpu));
  EXPECT_FALSE(movesTo(mapOf(1000, 100), kGpu));
}

TEST(Choose, LargeProgramsGoWhereTheirDataIs) {
  ProgramWork w = mapOf(1 << 24, 4);
  EXPECT_TRUE(movesTo(w, kGpu)); // there already
  w.onHostOnly = w.bytes / 2;
  EXPECT_TRUE(movesTo(w, kGpu)); // PCIe is a little faster than the memory of the host
  DeviceSpeed slowLink = kGpu;
  slowLink.up = 8;
  EXPECT_FALSE(movesTo(w, slowLink));
  w.onHostOnly = 0;
  w.onOtherOnly = w.bytes;
  EXPECT_TRUE(movesTo(w, slowLink));
}

TEST(Choose, MuchArithmeticIsWorthTheWay) {
  ProgramWork w = mapOf(1 << 22, 400);
  w.onHostOnly = w.bytes / 2;
  EXPECT_TRUE(movesTo(w, kGpu));
  ProgramWork product;
  product.bytes = 3.0 * 4 * 2048 * 2048;
  product.products = 2.0 * 2048 * 2048 * 2048;
  product.onHostOnly = product.bytes * 2 / 3;
  EXPECT_TRUE(movesTo(product, kGpu));
}

// A product of 256 x 256 has four tiles for all processors: each takes as long as one of the timed
// product for its depth.
TEST(Choose, FewTilesLeaveProcessorsIdle) {
  DeviceSpeed cores{2500, 150, 400, 1200, 10, 10};
  DeviceSpeed gpu{5'000, 4000, 20'000, 3800, 50, 50, 1};
  ProgramWork small;
  small.bytes = 2.0 * 4 * 256 * 256;
  small.products = 2.0 * 256 * 256 * 256;
  small.tiledProducts = 2 * kTimedProduct * 256;
  EXPECT_GT(timeOnOther(small, gpu), timeOnHost(small, cores, gpu));
  gpu.tiles = 0; // cores share what there is
  EXPECT_LT(timeOnOther(small, gpu), timeOnHost(small, cores, gpu));
}

// What is read and written of 2^16 elements is nothing; that lanes, cores and groups wait for each
// other is.
TEST(Choose, RunningSumsTakeTheirOwnTime) {
  DeviceSpeed cores{2500, 150, 400, 1200, 10, 10}, gpu{12'000, 4000, 20'000, 3800, 50, 50, 1};
  ProgramWork sums = mapOf(1 << 16, 1);
  EXPECT_GT(timeOnOther(sums, gpu), timeOnHost(sums, cores, gpu));
  cores.scans = 2;
  gpu.scans = 20;
  sums.scans = 1 << 16;
  EXPECT_DOUBLE_EQ(timeOnHost(sums, cores, gpu), timeOnHost(mapOf(1 << 16, 1), cores, gpu) + 32768);
  EXPECT_LT(timeOnOther(sums, gpu), timeOnHost(sums, cores, gpu));
}

TEST(Choose, TheSameCoresBehindADriverAreNotWorthIt) {
  for (double elements : {1e3, 1e5, 1e7, 1e9})
    for (double operations : {1.0, 30.0, 1000.0}) {
      ProgramWork w = mapOf(elements, operations);
      w.onHostOnly = w.bytes / 2;
      EXPECT_FALSE(movesTo(w, kSame)) << elements << " " << operations;
    }
}

// What is chosen is the better of the two estimates, from any size on.
TEST(Choose, OneBoundary) {
  bool moved = false;
  for (double elements = 8; elements < 1e9; elements *= 1.5) {
    bool moves = movesTo(mapOf(elements, 3), kGpu);
    EXPECT_TRUE(moves || !moved) << elements;
    moved = moves;
  }
  EXPECT_TRUE(moved);
}

TEST(Choose, WhatIsReadAgainMoves) {
  ProgramWork w;
  w.bytes = w.onHostOnly = 1e8;
  w.operations = 2.5e7;
  DeviceSpeed gpu{.launchNanos = 1e4, .bytes = 4000, .operations = 4000, .up = 7, .down = 7};
  double lost = 0, here = timeOnHost(w, kHost, gpu), way = w.onHostOnly / gpu.up;
  int runs = 0;
  for (; !runsOnOther(w, kHost, gpu, lost) && runs < 1000; ++runs)
    lost += here;
  EXPECT_GT(runs, 0) << "what is read once stays";
  EXPECT_LE(lost, way + here) << "no more is lost than the way takes, but for one run";
}

// A program that takes longer here than its operations would is better there.
TEST(Choose, RunsOnTheHostAreMeasured) {
  ProgramWork w = mapOf(1 << 16, 2);
  DeviceSpeed host{1000, 150, 400, 1200, 10, 10}, gpu{8000, 4000, 20'000, 3800, 50, 50, 1};
  EXPECT_FALSE(runsOnOther(w, host, gpu, 0));
  w.hostNanos = 18'000;
  EXPECT_TRUE(runsOnOther(w, host, gpu, 0));
  w.onHostOnly = w.bytes; // 16 us of way
  EXPECT_FALSE(runsOnOther(w, host, gpu, 0));
  w.onHostOnly = 8;
  EXPECT_TRUE(runsOnOther(w, host, gpu, 0));
  gpu.wayNanos = 20'000; // however little
  EXPECT_FALSE(runsOnOther(w, host, gpu, 0));
  EXPECT_TRUE(runsOnOther(w, host, gpu, 20'000)) << "once as much was lost";
  w.hostNanos = timeOnHost(mapOf(1 << 16, 2), host, gpu);
  w.onHostOnly = 0;
  EXPECT_FALSE(runsOnOther(w, host, gpu, 0));
}

TEST(Choose, WhoWaitsPaysForTheAnswer) {
  ProgramWork w = mapOf(1 << 16, 2);
  DeviceSpeed host{1000, 150, 400, 1200, 10, 10}, gpu{8000, 4000, 20'000, 3800, 50, 50, 1};
  gpu.answerNanos = 12'000;
  w.hostNanos = 20'000;
  EXPECT_TRUE(runsOnOther(w, host, gpu, 0));
  w.waits = 1;
  EXPECT_FALSE(runsOnOther(w, host, gpu, 0));
  w.answerNanos = 15'000; // what it did take
  EXPECT_TRUE(runsOnOther(w, host, gpu, 0));
}

TEST(Choose, WhatWasDisturbedIsTriedAgain) {
  ProgramWork w = mapOf(1 << 16, 2);
  w.waits = 1;
  w.onHostOnly = 8 << 16;
  DeviceSpeed host{1000, 150, 400, 1200, 10, 10}, gpu{8000, 4000, 20'000, 3800, 50, 50, 1};
  gpu.answerNanos = 12'000;
  EXPECT_FALSE(runsOnOther(w, host, gpu, 0));
  w.hostNanos = 200'000; // other work on its cores
  EXPECT_TRUE(runsOnOther(w, host, gpu, 0));
  EXPECT_EQ(hopeful(w, host, gpu).hostNanos, 12'500) << "the first runs met threads that slept";
  w.hostPeriod = 210'000; // of a trial
  EXPECT_EQ(hopeful(w, host, gpu).hostNanos, 100'000);
  w.hostNanos = 20'000;
  EXPECT_LT(hopeful(w, host, gpu).hostNanos, 12'000);
  w.hostNanos = 3000; // less than expected
  w.answerNanos = 500'000;
  EXPECT_EQ(hopeful(w, host, gpu).hostNanos, 3000);
  EXPECT_EQ(hopeful(w, host, gpu).answerNanos, 250'000);
  w.queuedNanos = 30'000;
  EXPECT_LT(hopeful(w, host, gpu).queuedNanos, 30'000);
}

TEST(Choose, EstimatesThatAreCloseAreTried) {
  ProgramWork w = mapOf(1 << 16, 2);
  DeviceSpeed host{1000, 150, 400, 1200, 10, 10}, gpu{8000, 4000, 20'000, 3800, 50, 50, 1};
  w.isTrial = true;
  w.run = 2048;
  w.hostNanos = 0.8 * timeOnOther(w, gpu); // a little less than is expected of the other
  EXPECT_TRUE(isWorthTrying(w, false, host, gpu));
  w.run = 16;
  EXPECT_FALSE(isWorthTrying(w, false, host, gpu)) << "code for it would take longer";
  w.run = 2048;
  w.queuedNanos = 3 * w.hostNanos; // it was disturbed
  EXPECT_TRUE(isWorthTrying(w, false, host, gpu));
  w.isTrial = false;
  EXPECT_FALSE(isWorthTrying(w, false, host, gpu));
  w.isTrial = true;
  w.hostNanos /= 4;
  EXPECT_FALSE(isWorthTrying(w, false, host, gpu)) << "nothing to be hoped for";
  w.hostNanos *= 8;
  EXPECT_TRUE(isWorthTrying(w, true, host, gpu)) << "the host may have been disturbed";
  w.trialAfter = 1e12;
  EXPECT_TRUE(isWorthTrying(w, true, host, gpu)) << "it has the code";
  w.isHostTimed = false;
  EXPECT_FALSE(isWorthTrying(w, true, host, gpu));
  w.isHostTimed = true;
  w.onOtherOnly = 8;
  EXPECT_FALSE(isWorthTrying(w, true, host, gpu)) << "nothing moves back";
  w.givenThere = 8;
  EXPECT_TRUE(isWorthTrying(w, true, host, gpu)) << "but for numbers that the host has";
}

// Copies of the host's numbers are no part of a run there, but go with it.
TEST(Choose, WhatIsGivenIsTried) {
  ProgramWork w = mapOf(1 << 20, 1);
  DeviceSpeed host{1000, 150, 400, 1200, 10, 10}, gpu{8000, 4000, 20'000, 3800, 25, 25, 1};
  w.isTrial = true;
  w.run = 2048;
  w.hostNanos = 50'000;
  w.onHostOnly = 8 << 20;
  EXPECT_FALSE(isWorthTrying(w, false, host, gpu)) << "the way is 336 us";
  w.hostPeriod = 900'000;
  EXPECT_FALSE(isWorthTrying(w, false, host, gpu)) << "whatever the caller does with it";
  w.givenHere = w.onHostOnly; // 839 us
  EXPECT_TRUE(isWorthTrying(w, false, host, gpu));
  host.up = 100; // in a cache, which these do not fit
  EXPECT_TRUE(isWorthTrying(w, false, host, gpu));
  w.hostPeriod = 0;
  EXPECT_FALSE(isWorthTrying(w, false, host, gpu)) << "84 us, as far as is known";
}

TEST(Choose, WhatWasTriedAndQueuedCounts) {
  ProgramWork w = mapOf(1 << 16, 2);
  DeviceSpeed host{1000, 150, 400, 1200, 10, 10}, gpu{8000, 4000, 20'000, 3800, 50, 50, 1};
  w.hostNanos = 0.8 * timeOnOther(w, gpu);
  EXPECT_FALSE(runsOnOther(w, host, gpu, 0));
  w.queuedNanos = 0.8 * w.hostNanos;
  EXPECT_TRUE(runsOnOther(w, host, gpu, 0));
}

TEST(Choose, ResultsThatAreReadCount) {
  ProgramWork w = mapOf(1 << 20, 20);
  DeviceSpeed host{1000, 150, 400, 1200, 10, 10}, gpu{8000, 4000, 20'000, 3800, 50, 50, 1};
  EXPECT_TRUE(runsOnOther(w, host, gpu, 0));
  w.read = 4 << 20; // 80 us of way back
  EXPECT_FALSE(runsOnOther(w, host, gpu, 0));
}

TEST(Choose, HowResultsAreUsedIsRemembered) {
  rt::Device &device = rt::choiceDevice();
  auto use = std::make_shared<rt::ResultUse>();
  auto run = [&](int64_t read) {
    use->beginRun();
    use->queued(3000);
    rt::BufferRef result = rt::chosenBuffer(rt::choicesOf(device)->cpu->allocate(64).take(), use);
    for (int64_t count : {int64_t{0}, read, read}) // a wait, a read, and what is known already
      if (read > 0)
        rt::ReadScope scope(*result, count);
  };
  for (int i = 0; i < 3; ++i)
    run(64);
  EXPECT_EQ(use->waits(), 1);
  EXPECT_EQ(use->bytes(), 64);
  EXPECT_EQ(use->answerNanos(), 0);
  for (int i = 0; i < 4; ++i)
    run(64);
  EXPECT_GE(use->answerNanos(), 3000);
  for (int i = 0; i < 60; ++i)
    run(0);
  EXPECT_LT(use->waits(), 0.01);
  ASSERT_TRUE(device.queue().finish().isOk());
  double before = use->waits();
  run(0);
  EXPECT_GT(use->waits(), before) << "everything was waited for";
}

TEST(Choose, WhatIsGivenGoesWhereTheLastWent) {
  const rt::Choices &choices = *rt::choicesOf(rt::choiceDevice());
  if (!choices.other)
    GTEST_SKIP() << "there is no other device";
  std::vector<float> values(50'000, 2.5f);
  const auto bytes = static_cast<int64_t>(values.size() * sizeof(float));
  auto give = [&] { return rt::givenBuffer(values.data(), bytes).take(); };
  for (int i = 0; i < 4; ++i) {
    rt::BufferRef given = give();
    EXPECT_FALSE(rt::isOn(*given, *choices.other));
    ASSERT_TRUE(rt::memoryOn(given, *choices.other));
  }
  rt::BufferRef away = give();
  EXPECT_TRUE(rt::isOn(*away, *choices.other));
  EXPECT_FALSE(rt::isOn(*away, *choices.cpu));
  values.assign(values.size(), 0.f); // the caller's again
  std::vector<float> read(values.size());
  ASSERT_TRUE(away->device().queue().download(read.data(), *away, bytes).isOk());
  EXPECT_EQ(read, std::vector<float>(values.size(), 2.5f));
  std::vector<rt::BufferRef> stay;
  for (int i = 0; i < 128; ++i)
    if (rt::BufferRef given = give(); !rt::isOn(*given, *choices.other))
      stay.push_back(std::move(given));
  EXPECT_EQ(stay.size(), 4U) << "those of a call may choose now and then, together";
  stay.clear();
  EXPECT_FALSE(rt::isOn(*give(), *choices.other)) << "those that stayed were not wanted there";
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(rt::memoryOn(give(), *choices.other));
  rt::BufferRef back = give();
  EXPECT_TRUE(rt::isOn(*back, *choices.other));
  ASSERT_TRUE(rt::memoryOn(back, *choices.cpu));
  EXPECT_FALSE(rt::isOn(*give(), *choices.other)) << "the host wanted the last one";
}

TEST(Choose, WhatTheHostReadsInPartsComesBack) {
  const rt::Choices &choices = *rt::choicesOf(rt::choiceDevice());
  if (!choices.other)
    GTEST_SKIP() << "there is no other device";
  constexpr int64_t kBytes = int64_t{8} << 20;
  rt::Tensor whole{
      rt::chosenBuffer(choices.other->allocate(kBytes).take()), DType::Float64, {kBytes / 8}};
  DeviceSpeed host, other;
  host.launchNanos = 500;
  other.launchNanos = 3000;
  other.answerNanos = 8000;
  host.bytes = other.bytes = 10;
  other.down = 20;
  ProgramWork row;
  row.bytes = 3200;
  row.waits = 1;
  row.onOtherOnly = kBytes;
  auto runs = [&](const ProgramWork &work) {
    constexpr int kMost = 1000;
    int stays = 0;
    while (stays < kMost && !comesBack(work, {&whole, 1}, choices, host, other))
      ++stays;
    return stays;
  };
  ProgramWork all = row;
  all.bytes = kBytes;
  host.bytes = 1;
  EXPECT_EQ(runs(all), 1000) << "they are shorter there";
  host.bytes = 10;
  const double way = kBytes / 20.0, lost = 11'320 - 820 / 0.95;
  EXPECT_NEAR(runs(row), way / lost, 0.1 * way / lost);
}

TEST(Choose, WhoIsAloneWithAValueMayWriteIt) {
  const rt::Choices &choices = *rt::choicesOf(rt::choiceDevice());
  rt::BufferRef memory = choices.cpu->allocate(64).take();
  void *address = memory->host();
  rt::BufferRef value = rt::chosenBuffer(memory);
  EXPECT_EQ(value->host(), address);
  EXPECT_FALSE(rt::isAlone(*value)) << "somebody has its memory";
  memory = nullptr;
  EXPECT_TRUE(rt::isAlone(*value));
  rt::BufferRef counted =
      rt::chosenBuffer(choices.cpu->allocate(64).take(), std::make_shared<rt::ResultUse>());
  EXPECT_EQ(counted->host(), nullptr) << "its reads are told";
  EXPECT_FALSE(rt::isAlone(*counted));
  EXPECT_TRUE(rt::isAlone(*choices.cpu->allocate(64).take()));
  if (!choices.other)
    return;
  ASSERT_TRUE(rt::memoryOn(value, *choices.other));
  EXPECT_FALSE(rt::isAlone(*value)) << "the other device has a copy";
}

TEST(Choose, ReadsOfSeveralRunsAreShared) {
  auto use = std::make_shared<rt::ResultUse>();
  for (int i = 0; i < 16; ++i)
    use->beginRun();
  EXPECT_EQ(use->waits(), 0);
  for (int i = 0; i < 2; ++i)
    use->read(100, 50);
  use->beginRun(8);
  EXPECT_EQ(use->waits(), 0.25);
  EXPECT_EQ(use->bytes(), 25);
  for (int i = 0; i < 20; ++i) // several results of a run
    use->read(100, 50);
  use->beginRun(8);
  EXPECT_EQ(use->waits(), 1);
}

TEST(Choose, ReadsOfOneRunStandForThoseThatFollowIt) {
  auto use = std::make_shared<rt::ResultUse>();
  for (int i = 0; i < 16; ++i)
    use->beginRun();
  use->read(100, 50);
  use->beginRun(8, 1);
  EXPECT_EQ(use->waits(), 1);
  EXPECT_EQ(use->bytes(), 100);
  for (int i = 0; i < 4; ++i) // nobody reads what runs, and now and then all is waited for
    use->beginRun(8, 1);
  EXPECT_LT(use->waits(), 0.1);
  ASSERT_TRUE(rt::choiceDevice().queue().finish());
  for (int i = 0; i < 8; ++i)
    use->beginRun();
  ASSERT_TRUE(rt::choiceDevice().queue().finish());
  use->beginRun(8, 1);
  EXPECT_LT(use->waits(), 0.2) << "one wait of eight runs, not of the one that is counted";
}

TEST(Choose, FirstAndDisturbedRunsDoNotCount) {
  rt::TypicalTime time;
  for (double nanos : {1e9, 3000.0, 1000.0})
    time.add(nanos);
  EXPECT_EQ(time.nanos(), 0);
  for (double nanos : {1100.0, 50'000.0, 1000.0})
    time.add(nanos);
  EXPECT_NEAR(time.nanos(), 1000, 150);
  for (int i = 0; i < 100; ++i)
    time.add(i % 2 ? 3000 : 5000); // a larger size, say: the middle counts, not the best
  EXPECT_NEAR(time.nanos(), 3400, 400);
}

} // namespace
