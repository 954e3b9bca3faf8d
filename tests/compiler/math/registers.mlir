// With registers of 512 bits: sin and cos choose coefficients, not results; and whether any angle is large is seen at once.
// RUN: graphc-opt %s --pass-pipeline='builtin.module(func.func(graphc-expand-scalar-ops{scale-operation},cse))' | FileCheck %s
// RUN: graphc-opt %s --pass-pipeline='builtin.module(func.func(graphc-expand-scalar-ops,cse))' | FileCheck %s --check-prefix=ELSEWHERE

// The results of arithmetic, none of which is a signaling NaN.
// CHECK-LABEL: @of_products(
// CHECK: %[[MOST:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.range.ps.512"
// CHECK: %[[LARGE:.*]] = arith.cmpf ogt, %[[MOST]], %{{.*}} : vector<16xf32>
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[LARGE]]
// CHECK: scf.if %[[ANY]]
// CHECK: } else {
// CHECK: %[[ODD:.*]] = arith.cmpi ne
// CHECK-COUNT-3: arith.select %[[ODD]], %{{.*}}, %{{.*}} : vector<32xi1>, vector<32xf32>
// ELSEWHERE-LABEL: @of_products(
// ELSEWHERE-NOT: avx512
// ELSEWHERE: arith.cmpf ogt, %{{.*}}, %{{.*}} : vector<32xf32>
// ELSEWHERE: scf.if
// ELSEWHERE: } else {
// ELSEWHERE: %[[ODD:.*]] = arith.cmpi ne
// ELSEWHERE-COUNT-1: arith.select %[[ODD]]
// ELSEWHERE-NOT: arith.select
// ELSEWHERE: return
func.func @of_products(%x: vector<32xf32>, %y: vector<32xf32>) -> vector<32xf32> {
  %0 = graph.mul %x, %y : vector<32xf32>
  %1 = graph.sin %0 : vector<32xf32>
  return %1 : vector<32xf32>
}

// Values from memory are compared register by register.
// CHECK-LABEL: @of_values(
// CHECK-NOT: avx512
// CHECK: %[[LARGE:.*]] = arith.cmpf ogt, %{{.*}}, %{{.*}} : vector<16xf64>
// CHECK-DAG: %[[FIRST:.*]] = vector.extract_strided_slice %[[LARGE]] {offsets = [0], sizes = [8]
// CHECK-DAG: %[[SECOND:.*]] = vector.extract_strided_slice %[[LARGE]] {offsets = [8], sizes = [8]
// CHECK: %[[BOTH:.*]] = arith.ori %[[FIRST]], %[[SECOND]] : vector<8xi1>
// CHECK: vector.reduction <or>, %[[BOTH]]
func.func @of_values(%x: vector<16xf64>) -> vector<16xf64> {
  %0 = graph.cos %x : vector<16xf64>
  return %0 : vector<16xf64>
}
