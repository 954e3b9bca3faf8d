//===- ProgramHistoryTest.cpp - Trials of "auto", and what was measured -----------------------===//
#include "frontends/record/ProgramHistory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

using namespace graphc;

namespace {

std::vector<uint32_t> trialsOf(double nanos, double ratio, uint32_t runs) {
  TrialPlan plan;
  std::vector<uint32_t> begins;
  for (uint32_t run = 0; run < runs; ++run)
    if (plan.at(run, nanos, ratio).isFirst)
      begins.push_back(run);
  return begins;
}

TEST(ProgramHistory, TrialsAreSeldomWhereMuchIsLost) {
  EXPECT_EQ(trialsOf(0, 0, 2000), (std::vector<uint32_t>{16, 32, 64, 128, 256, 512, 1024}));
  EXPECT_EQ(trialsOf(1e6, 1.1, 1300), (std::vector<uint32_t>{16, 64, 128, 256, 512, 896, 1280}))
      << "24 runs each, of 16 times as many";
  for (double nanos : {1e3, 1e4, 1e6})
    for (double ratio : {1.1, 1.4, 2.0, 3.0, 7.0}) {
      auto begins = trialsOf(nanos, ratio, 200'000);
      const double each = nanos < 5e3 ? 96 : nanos < 3e4 ? 40 : 12;
      const double length = ratio < 1.25 ? 2 * each : each;
      const auto later =
          static_cast<double>(begins.size()) - 3; // than the first, whatever they say
      EXPECT_LT(later * length * (ratio - 1), 0.025 * 200'000) << ratio;
      EXPECT_TRUE(std::ranges::all_of(begins, [](uint32_t b) { return b % 32 == 0 || b == 16; }));
      EXPECT_GT(begins.size(), 5u) << "what changed is found";
    }
  EXPECT_EQ(trialsOf(1e6, 4, 5000), (std::vector<uint32_t>{16, 160, 320, 640, 1280, 2560, 4608}))
      << "36 runs' time each, as far as is known at first";
}

TEST(ProgramHistory, TrialsThatWerePutOffBeginLater) {
  TrialPlan plan;
  EXPECT_TRUE(plan.at(16, 0, 0).isFirst);
  plan.putOff(16);
  EXPECT_FALSE(plan.at(17, 0, 0).isTrial);
  EXPECT_TRUE(plan.at(32, 0, 0).isFirst);
  EXPECT_TRUE(plan.at(43, 0, 0).isTrial);
  EXPECT_EQ(plan.at(43, 0, 0).trial, 0u);
  EXPECT_FALSE(plan.at(44, 0, 0).isTrial);
  EXPECT_EQ(plan.at(44, 0, 0).trial, 1u);
  EXPECT_TRUE(plan.at(64, 0, 0).isFirst);
  EXPECT_FALSE(plan.at(1003, 0, 0).isTrial) << "it was not asked in between";
  EXPECT_TRUE(plan.at(1024, 0, 0).isFirst);
}

TEST(ProgramHistory, ShortRunsHaveLongTrials) {
  TrialPlan plan;
  EXPECT_EQ(plan.at(16, 1e6, 2).length, 12u);
  EXPECT_EQ(plan.at(17, 1e4, 2).length, 12u) << "once it began";
  TrialPlan other;
  EXPECT_EQ(other.at(16, 2.5e4, 2).length, 40u);
  TrialPlan third;
  EXPECT_EQ(third.at(16, 1e3, 2).length, 96u);
  TrialPlan close;
  EXPECT_EQ(close.at(16, 2.5e4, 1.1).length, 80u);
}

TEST(ProgramHistory, PeriodsFollowWhatIsUsual) {
  Period period;
  EXPECT_EQ(period.nanos(), 0);
  period.add(9000);
  EXPECT_EQ(period.nanos(), 9000) << "one is enough";
  period.add(5000);
  EXPECT_EQ(period.nanos(), 5000) << "the first was disturbed";
  for (int i = 0; i < 100; ++i) // the caller does something else in every fourth
    period.add(i % 4 ? 5000 : 1e7);
  EXPECT_NEAR(period.nanos(), 5000, 50);
  for (int i = 0; i < 20; ++i)
    period.add(20'000);
  EXPECT_NEAR(period.nanos(), 20'000, 200) << "other work on these cores, say";
  for (int i = 0; i < 40; ++i)
    period.add(i % 2 ? 25'000 : 21'000);
  EXPECT_NEAR(period.nanos(), 22'500, 1500);
}

TEST(ProgramHistory, WhatWasMeasuredDecides) {
  ProgramWork w;
  w.hostPeriod = 1000;
  EXPECT_FALSE(betterOnOther(w).has_value()) << "the other one was not";
  w.otherPeriod = 900;
  EXPECT_TRUE(*betterOnOther(w));
  w.otherPeriod = 990;
  EXPECT_FALSE(*betterOnOther(w)) << "not worth a change";
  w.isOnOther = true;
  EXPECT_TRUE(*betterOnOther(w)) << "nor back";
  w.otherPeriod = 1060;
  EXPECT_FALSE(*betterOnOther(w));
  w.onOtherOnly = 64;
  EXPECT_FALSE(betterOnOther(w).has_value()) << "something would move";
  w.givenThere = 64;
  EXPECT_FALSE(*betterOnOther(w)) << "the host gives the next one anew";
}

TEST(ProgramHistory, RunsAreTimedFromOneToTheNext) {
  ProgramHistory history;
  ProgramWork w = history.next({});
  EXPECT_EQ(w.run, 0u);
  EXPECT_EQ(w.runsSince, 1);
  EXPECT_EQ(w.hostPeriod + w.otherPeriod, 0) << "no choice was made";
  int trials = 0;
  for (int i = 1; i < 1000; ++i)
    trials += history.next({}).isTrial;
  EXPECT_EQ(trials, 6 * 12); // from runs 16 to 512 on
}

} // namespace
