// A kernel ends where another pass over memory costs less than what it would hold.
// RUN: graphc-opt %s --graphc-form-kernels=most-partial=96 -split-input-file | FileCheck %s
// RUN: %python %S/columns.py 110 | graphc-opt --graphc-form-kernels | FileCheck %s --check-prefix=COLUMNS
// RUN: %python %S/columns.py 30 "complex<f64>" | graphc-opt --graphc-form-kernels | FileCheck %s --check-prefix=COLUMNS
// RUN: %python %S/loops.py 47 | graphc-opt --graphc-form-kernels | FileCheck %s --check-prefix=TURNS --implicit-check-not=kernel.func
// RUN: %python %S/loops.py 52 | graphc-opt --graphc-form-kernels | FileCheck %s --check-prefixes=TURNS,MORE --implicit-check-not=kernel.func

// Turns that begin after 48 elements were read are in the next kernel, also of a loop behind the longest.
// TURNS: kernel.func
// MORE: kernel.func

// A kernel writes 44 columns, 12 complex ones at places that are values; the next one needs the last of them only.
// COLUMNS-COUNT-3: kernel.func
// COLUMNS-NOT: kernel.func
// COLUMNS: %[[FIRST:.*]]:2 = kernel.call
// COLUMNS: %[[NEXT:.*]]:2 = kernel.call @{{.*}}(%[[FIRST]]#1, %[[FIRST]]#0, %{{.*}})
// COLUMNS: %[[LAST:.*]] = kernel.call @{{.*}}(%[[NEXT]]#1, %[[NEXT]]#0, %{{.*}})
// COLUMNS: return %[[LAST]]

// CHECK: graphc.cuts = ["graph.exp at {{[^ ]*}} not fused with kernel 0: the kernel reached its size limit"]
// CHECK-COUNT-2: kernel.func
// CHECK-NOT: kernel.func
func.func @chain(%0: tensor<8xf32>) -> tensor<8xf32> {
  %1 = graph.exp %0 : tensor<8xf32>
  %2 = graph.exp %1 : tensor<8xf32>
  %3 = graph.exp %2 : tensor<8xf32>
  %4 = graph.exp %3 : tensor<8xf32>
  %5 = graph.exp %4 : tensor<8xf32>
  %6 = graph.exp %5 : tensor<8xf32>
  %7 = graph.exp %6 : tensor<8xf32>
  %8 = graph.exp %7 : tensor<8xf32>
  %9 = graph.exp %8 : tensor<8xf32>
  %10 = graph.exp %9 : tensor<8xf32>
  %11 = graph.exp %10 : tensor<8xf32>
  %12 = graph.exp %11 : tensor<8xf32>
  %13 = graph.exp %12 : tensor<8xf32>
  %14 = graph.exp %13 : tensor<8xf32>
  %15 = graph.exp %14 : tensor<8xf32>
  %16 = graph.exp %15 : tensor<8xf32>
  %17 = graph.exp %16 : tensor<8xf32>
  %18 = graph.exp %17 : tensor<8xf32>
  %19 = graph.exp %18 : tensor<8xf32>
  %20 = graph.exp %19 : tensor<8xf32>
  %21 = graph.exp %20 : tensor<8xf32>
  %22 = graph.exp %21 : tensor<8xf32>
  %23 = graph.exp %22 : tensor<8xf32>
  %24 = graph.exp %23 : tensor<8xf32>
  %25 = graph.exp %24 : tensor<8xf32>
  return %25 : tensor<8xf32>
}

// -----

// CHECK: graphc.cuts = ["graph.sin at {{[^ ]*}} not fused with kernel 0: reading a tensor again costs less than a larger kernel"]
// CHECK-COUNT-2: kernel.func
// CHECK-NOT: kernel.func
func.func @siblings(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = graph.exp %x : tensor<8xf32>
  %1 = graph.sin %x : tensor<8xf32>
  %2 = graph.cos %x : tensor<8xf32>
  %3 = graph.tanh %x : tensor<8xf32>
  %4 = graph.log %x : tensor<8xf32>
  %5 = graph.erf %x : tensor<8xf32>
  %6 = graph.sinh %x : tensor<8xf32>
  %7 = graph.cosh %x : tensor<8xf32>
  %8 = graph.sin %x : tensor<8xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// Partial results of a kernel's reductions share local memory: 96 bytes a lane.
// CHECK: graphc.cuts = ["graph.reduce at {{[^ ]*}} not fused with kernel 0: the kernel reached its size limit"]
// CHECK-COUNT-8: kernel.reduce
// CHECK: kernel.func
// CHECK: kernel.reduce
// CHECK-NOT: kernel.reduce
func.func @partial(%x: tensor<8xf64>) -> (tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<i64>, tensor<i64>, tensor<i1>, tensor<f64>, tensor<i64>) {
  %0 = graph.reduce <argmax> %x axes [0] : tensor<8xf64> -> tensor<i64>
  %a = graph.abs %x : tensor<8xf64>
  %1 = graph.reduce <sum> %a axes [0] : tensor<8xf64> -> tensor<f64>
  %2 = graph.reduce <max> %x axes [0] : tensor<8xf64> -> tensor<f64>
  %3 = graph.reduce <min> %x axes [0] : tensor<8xf64> -> tensor<f64>
  %4 = graph.reduce <argmin> %x axes [0] : tensor<8xf64> -> tensor<i64>
  %5 = graph.reduce <argmax> %a axes [0] : tensor<8xf64> -> tensor<i64>
  %b = graph.cast %x : tensor<8xf64> -> tensor<8xi1>
  %6 = graph.reduce <any> %b axes [0] : tensor<8xi1> -> tensor<i1>
  %7 = graph.reduce <prod> %x axes [0] : tensor<8xf64> -> tensor<f64>
  %8 = graph.reduce <argmin> %a axes [0] : tensor<8xf64> -> tensor<i64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<i64>, tensor<i64>, tensor<i1>, tensor<f64>, tensor<i64>
}
