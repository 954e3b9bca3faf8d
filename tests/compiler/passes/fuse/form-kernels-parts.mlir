// Parts of one value that are computed with a reduction are written where they are computed; work-items that share a row
// would write them far apart, but for one of a row.
// RUN: graphc-opt %s --graphc-form-kernels | FileCheck %s --check-prefixes=CHECK,CORE
// RUN: graphc-opt %s --graphc-form-kernels=most-partial=96 | FileCheck %s --check-prefixes=CHECK,GROUP

// CHECK-LABEL: kernel.func @points_0(
// CORE: kernel.store %{{.*}}, result 0
// CORE: kernel.store %{{.*}}, result 0
// GROUP: kernel.store %{{.*}}, result 0 at #[[WHOLE:.*]] : f32
// GROUP: kernel.store %{{.*}}, result 1 at #[[WHOLE]] : f32
// CHECK: kernel.return
// CORE-NOT: kernel.func @points_1(
// GROUP: kernel.func @points_1(
// GROUP: kernel.store %{{.*}}, result 0
// GROUP: kernel.store %{{.*}}, result 0
// CHECK: func.func @points(
func.func @points(%x: tensor<8x9xf32>) -> tensor<8x9x2xf32> {
  %m = graph.reduce <max> %x axes [1] : tensor<8x9xf32> -> tensor<8xf32>
  %b = graph.broadcast %m to() dims [0] : tensor<8xf32> -> tensor<8x9xf32>
  %y = graph.sub %x, %b : tensor<8x9xf32>
  %z = graph.mul %y, %y : tensor<8x9xf32>
  %first = graph.reshape %y to() : tensor<8x9xf32> -> tensor<8x9x1xf32>
  %second = graph.reshape %z to() : tensor<8x9xf32> -> tensor<8x9x1xf32>
  %0 = graph.full 0.0 : f32 {graphc.uninitialized} : tensor<8x9x2xf32>
  %1 = graph.update_slice %first into %0 from [0, 0, 0] step [1, 1, 1] : tensor<8x9x1xf32> into tensor<8x9x2xf32> -> tensor<8x9x2xf32>
  %2 = graph.update_slice %second into %1 from [0, 0, 1] step [1, 1, 1] : tensor<8x9x1xf32> into tensor<8x9x2xf32> -> tensor<8x9x2xf32>
  return %2 : tensor<8x9x2xf32>
}

// CHECK-LABEL: kernel.func @rows_0(
// CHECK: kernel.store %{{.*}}, result 0
// CHECK: kernel.store %{{.*}}, result 0
// CHECK-NOT: kernel.func @rows_1(
func.func @rows(%x: tensor<8x9xf32>) -> tensor<8x2xf32> {
  %m = graph.reduce <max> %x axes [1] : tensor<8x9xf32> -> tensor<8xf32>
  %n = graph.reduce <min> %x axes [1] : tensor<8x9xf32> -> tensor<8xf32>
  %first = graph.reshape %m to() : tensor<8xf32> -> tensor<8x1xf32>
  %second = graph.reshape %n to() : tensor<8xf32> -> tensor<8x1xf32>
  %0 = graph.full 0.0 : f32 {graphc.uninitialized} : tensor<8x2xf32>
  %1 = graph.update_slice %first into %0 from [0, 0] step [1, 1] : tensor<8x1xf32> into tensor<8x2xf32> -> tensor<8x2xf32>
  %2 = graph.update_slice %second into %1 from [0, 1] step [1, 1] : tensor<8x1xf32> into tensor<8x2xf32> -> tensor<8x2xf32>
  return %2 : tensor<8x2xf32>
}
