// A product of open sizes by groups of work-items has kernels with large and small tiles; the plan runs one of both, the
// other's launch has no items. Where the count of tiles is known at compile time, so is which.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=plan --opencl-features=fp64,gpu --target=opencl | FileCheck %s

// CHECK-LABEL: plan.program @open
// CHECK: [[STEPS:%.*]] = arith.muli {{.*}}, %c40
// CHECK: [[LARGE:%.*]] = arith.muli [[STEPS]], [[LENGTH:%.*]] :
// CHECK: [[FEWER:%.*]] = arith.muli {{.*}}, %c13
// CHECK: [[SMALL:%.*]] = arith.muli [[FEWER]], [[LENGTH]] :
// CHECK: [[SPARE:%.*]] = arith.subi [[LARGE]], [[SMALL]]
// CHECK: [[SOME:%.*]] = arith.maxsi [[SPARE]], %c0
// CHECK: [[BETTER:%.*]] = arith.minsi [[SOME]], %c1
// CHECK: arith.subi %c1{{.*}}, [[BETTER]]
// CHECK: plan.launch @open_0_small(
// CHECK: plan.launch @open_0(
// CHECK: plan.launch @open_0_fold(
func.func @open(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = graph.matmul %a, %b : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Sixteen large tiles for 132 multiprocessors, or 64 small ones.
// CHECK-LABEL: kernel.func @few_0
// CHECK-SAME: group = 128
// CHECK-LABEL: plan.program @few
// CHECK: arith.constant 64
// CHECK-NOT: _small
func.func @few(%a: tensor<512x64xf32>, %b: tensor<64x512xf32>) -> tensor<512x512xf32> {
  %0 = graph.matmul %a, %b : tensor<512x64xf32>, tensor<64x512xf32> -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// CHECK-LABEL: kernel.func @many_0
// CHECK-SAME: group = 256
// CHECK-LABEL: plan.program @many
// CHECK-NOT: _small
func.func @many(%a: tensor<4096x64xf32>, %b: tensor<64x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = graph.matmul %a, %b : tensor<4096x64xf32>, tensor<64x4096xf32> -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}

// What comes before and after the k's of a float64 tile counts: 1728 large tiles are fourteen in turn for a
// multiprocessor, and small ones fifty-three.
// CHECK-LABEL: kernel.func @short_0
// CHECK-SAME: group = 128
func.func @short(%a: tensor<256x128xf64>, %b: tensor<128x110592xf64>) -> tensor<256x110592xf64> {
  %0 = graph.matmul %a, %b : tensor<256x128xf64>, tensor<128x110592xf64> -> tensor<256x110592xf64>
  return %0 : tensor<256x110592xf64>
}

// CHECK-LABEL: kernel.func @long_0
// CHECK-SAME: group = 256
func.func @long(%a: tensor<256x256xf64>, %b: tensor<256x110592xf64>) -> tensor<256x110592xf64> {
  %0 = graph.matmul %a, %b : tensor<256x256xf64>, tensor<256x110592xf64> -> tensor<256x110592xf64>
  return %0 : tensor<256x110592xf64>
}
