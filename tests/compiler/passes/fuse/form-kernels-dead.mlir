// Only what an output reads is computed; a size is known without computing what has it.
// RUN: graphc-opt %s --graphc-pipeline=to=lower | FileCheck %s --check-prefix=LOWER
// RUN: graphc-opt %s --graphc-form-kernels | FileCheck %s

// LOWER-NOT: f_1
// LOWER: plan.program @f inputs

// A dead reduction must not make a map kernel a reduction.
// CHECK-LABEL: kernel.func @f_0(
// CHECK-SAME: parallel = 1>
// CHECK-NOT: kernel.reduce
// CHECK-NOT: kernel.func
// CHECK-LABEL: func.func @f(
func.func @f(%x: tensor<40x1xf32>) -> tensor<40x1xf32> {
  %0 = graph.exp %x : tensor<40x1xf32>
  %1 = graph.transpose %0 permutation [1, 0] : tensor<40x1xf32> -> tensor<1x40xf32>
  %2 = graph.reduce <prod> %1 axes [1] : tensor<1x40xf32> -> tensor<1xf32>
  %3 = graph.reshape %2 : tensor<1xf32> -> tensor<f32>
  return %0 : tensor<40x1xf32>
}

// CHECK-LABEL: kernel.func @size_only_0(
// CHECK-SAME: %{{.*}}: index) -> tensor<f32>
// CHECK-NOT: graph.sin
// CHECK-NOT: kernel.func
// CHECK-LABEL: func.func @size_only(
func.func @size_only(%x: tensor<?xf32>) -> tensor<f32> {
  %0 = graph.sin %x : tensor<?xf32>
  %1 = graph.extent %0 axes [0] : tensor<?xf32> -> tensor<f32>
  return %1 : tensor<f32>
}
