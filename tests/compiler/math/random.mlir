// Lanes of consecutive elements share counters: 32 lanes of 32 bits come from 8 of them, where the first lane is a multiple
// of 32, and no branch computes a 64-bit product of more than 32 bits.
// RUN: graphc-opt %s --pass-pipeline='builtin.module(func.func(graphc-expand-scalar-ops,cse))' | FileCheck %s

// CHECK-LABEL: @consecutive(
// CHECK: %[[ALIGNED:.*]] = arith.cmpi eq
// CHECK: scf.if %[[ALIGNED]]
// CHECK-COUNT-20: arith.muli %{{.*}} : vector<8xi64>
// CHECK-NOT: arith.muli
// CHECK: vector.shuffle
// CHECK: } else {
// CHECK-COUNT-20: arith.muli %{{.*}} : vector<32xi64>
// CHECK-NOT: arith.muli
// CHECK: }
func.func @consecutive(%first: i64, %s: i64, %k: i64) -> vector<32xi64> {
  %steps = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
                                 26, 27, 28, 29, 30, 31]> : vector<32xi64>
  %f = vector.broadcast %first : i64 to vector<32xi64>
  %i = arith.addi %f, %steps : vector<32xi64>
  %sv = vector.broadcast %s : i64 to vector<32xi64>
  %kv = vector.broadcast %k : i64 to vector<32xi64>
  %iu = graph.cast %i : vector<32xi64> -> vector<32xui64>
  %su = graph.cast %sv : vector<32xi64> -> vector<32xui64>
  %ku = graph.cast %kv : vector<32xi64> -> vector<32xui64>
  %0 = graph.philox32 %iu, %su, %ku : vector<32xui64>
  %1 = graph.cast %0 : vector<32xui64> -> vector<32xi64>
  return %1 : vector<32xi64>
}

// Anything else is computed lane by lane.
// CHECK-LABEL: @scattered(
// CHECK-NOT: scf.if
// CHECK-COUNT-20: arith.muli %{{.*}} : vector<16xi64>
func.func @scattered(%i: vector<16xi64>, %s: i64) -> vector<16xi64> {
  %sv = vector.broadcast %s : i64 to vector<16xi64>
  %iu = graph.cast %i : vector<16xi64> -> vector<16xui64>
  %su = graph.cast %sv : vector<16xi64> -> vector<16xui64>
  %0 = graph.philox64 %iu, %su, %su : vector<16xui64>
  %1 = graph.cast %0 : vector<16xui64> -> vector<16xi64>
  return %1 : vector<16xi64>
}
