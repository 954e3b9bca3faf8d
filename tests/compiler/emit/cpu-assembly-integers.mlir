// Integer division and remainder by constants, and by values that do not vary, never divide integers.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=asm --cpu-features=avx,avx2,fma | FileCheck %s
// RUN: graphc compile %s --emit=asm --cpu-features=avx,avx2,fma,avx512f,avx512vl,avx512bw,avx512dq | FileCheck %s

// The loop count of a chunk is divided by the vector width: a shift.
// CHECK-LABEL: chain_0:
// CHECK-NOT: idiv
// CHECK-NOT: {{[^a-z]}}divq
// CHECK-NOT: call
// CHECK: ret
func.func @chain(%x: tensor<?xi64>) -> tensor<?xi64> {
  %z = graph.dim %x, 0 : tensor<?xi64>
  %p = graph.full 6700417 : i64 to(%z) : tensor<?xi64>
  %0 = graph.mul %x, %x : tensor<?xi64>
  %1 = graph.remainder %0, %p : tensor<?xi64>
  %2 = graph.mul %1, %1 : tensor<?xi64>
  %3 = graph.remainder %2, %p : tensor<?xi64>
  return %3 : tensor<?xi64>
}

// CHECK-LABEL: by_scalar_0:
// CHECK-NOT: idiv
// CHECK-NOT: call
// CHECK: ret
func.func @by_scalar(%x: tensor<?xi64>, %p: tensor<i64>) -> tensor<?xi64> {
  %z = graph.dim %x, 0 : tensor<?xi64>
  %b = graph.broadcast %p to(%z) dims [] : tensor<i64> -> tensor<?xi64>
  %0 = graph.remainder %x, %b : tensor<?xi64>
  %1 = graph.floor_divide %x, %b : tensor<?xi64>
  %2 = graph.add %0, %1 : tensor<?xi64>
  return %2 : tensor<?xi64>
}
