// Options of the pipeline: register width, devices without vectors, targets without f64.
// RUN: graphc-opt %s --graphc-pipeline=to=lower | FileCheck %s --check-prefix=WIDE
// RUN: graphc-opt %s --graphc-pipeline='to=lower vector-bytes=32' | FileCheck %s --check-prefix=HALF
// RUN: graphc-opt %s --graphc-pipeline='to=lower vector-bytes=0' | FileCheck %s --check-prefix=DEVICE
// RUN: graphc-opt %s --graphc-pipeline='to=lower vector-bytes=0 float64=false' | FileCheck %s --check-prefixes=DEVICE,FLOAT32

// WIDE-LABEL: func.func @f_0(
// WIDE: vector.load {{.*}} vector<32xf32>
// HALF: vector.load {{.*}} vector<16xf32>
// DEVICE-NOT: vector
// DEVICE: memref.load
// DEVICE-NOT: vector
// FLOAT32-NOT: f64
func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.neg %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Vectors of integers divide through f64 where there is one.
// WIDE-LABEL: func.func @g_0(
// WIDE: f64
func.func @g(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %0 = graph.floor_divide %x, %y : tensor<?xi32>
  return %0 : tensor<?xi32>
}
