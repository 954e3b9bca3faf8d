// Much that is computed of the results of rows is a kernel over rows of its own; little of it, and what rows wait for, is not.
// RUN: graphc-opt %s --split-input-file --graphc-form-kernels | FileCheck %s

// CHECK-LABEL: kernel.func @main_0
// CHECK: kernel.reduce <max>
// CHECK-NOT: graph.add
// CHECK: kernel.return
// CHECK: kernel.func @main_1
// CHECK-COUNT-17: graph.add
// CHECK: kernel.return
func.func @main(%x: tensor<40x9xf32>) -> tensor<40xf32> {
  %r = graph.reduce <max> %x axes [1] : tensor<40x9xf32> -> tensor<40xf32>
  %0 = graph.add %r, %r : tensor<40xf32>
  %1 = graph.add %0, %r : tensor<40xf32>
  %2 = graph.add %1, %0 : tensor<40xf32>
  %3 = graph.add %2, %1 : tensor<40xf32>
  %4 = graph.add %3, %2 : tensor<40xf32>
  %5 = graph.add %4, %3 : tensor<40xf32>
  %6 = graph.add %5, %4 : tensor<40xf32>
  %7 = graph.add %6, %5 : tensor<40xf32>
  %8 = graph.add %7, %6 : tensor<40xf32>
  %9 = graph.add %8, %7 : tensor<40xf32>
  %10 = graph.add %9, %8 : tensor<40xf32>
  %11 = graph.add %10, %9 : tensor<40xf32>
  %12 = graph.add %11, %10 : tensor<40xf32>
  %13 = graph.add %12, %11 : tensor<40xf32>
  %14 = graph.add %13, %12 : tensor<40xf32>
  %15 = graph.add %14, %13 : tensor<40xf32>
  %16 = graph.add %15, %14 : tensor<40xf32>
  return %16 : tensor<40xf32>
}

// -----

// CHECK-LABEL: kernel.func @main_0
// CHECK: kernel.reduce <max>
// CHECK: graph.log
// CHECK: graph.add
// CHECK: kernel.return
// CHECK-NOT: kernel.func
func.func @main(%x: tensor<40x9xf32>) -> tensor<40xf32> {
  %r = graph.reduce <max> %x axes [1] : tensor<40x9xf32> -> tensor<40xf32>
  %0 = graph.log %r : tensor<40xf32>
  %1 = graph.add %0, %r : tensor<40xf32>
  return %1 : tensor<40xf32>
}

// -----

// Every element waits for five elementary functions of its row's result.
// CHECK-LABEL: kernel.func @main_0
// CHECK: kernel.reduce <max>
// CHECK-COUNT-5: graph.sin
// CHECK: graph.sub
// CHECK: kernel.return
// CHECK-NOT: kernel.func
func.func @main(%x: tensor<40x9xf32>) -> tensor<40x9xf32> {
  %r = graph.reduce <max> %x axes [1] : tensor<40x9xf32> -> tensor<40xf32>
  %0 = graph.sin %r : tensor<40xf32>
  %1 = graph.sin %0 : tensor<40xf32>
  %2 = graph.sin %1 : tensor<40xf32>
  %3 = graph.sin %2 : tensor<40xf32>
  %4 = graph.sin %3 : tensor<40xf32>
  %5 = graph.broadcast %4 dims [0] : tensor<40xf32> -> tensor<40x9xf32>
  %6 = graph.sub %x, %5 : tensor<40x9xf32>
  return %6 : tensor<40x9xf32>
}
