// Every elementwise op reads back what it printed: on tensors, and as the body of kernels on scalars and vectors.
// RUN: graphc-opt %s | graphc-opt | FileCheck %s
// RUN: graphc-opt %s --mlir-print-op-generic | graphc-opt | FileCheck %s

// CHECK-LABEL: @arithmetic(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>, %[[Y:.*]]: tensor<?x4xf32>)
// CHECK-NEXT: %[[R0:.*]] = graph.add %[[X]], %[[Y]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R1:.*]] = graph.sub %[[X]], %[[Y]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R2:.*]] = graph.mul %[[X]], %[[Y]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R3:.*]] = graph.div %[[X]], %[[Y]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R4:.*]] = graph.floor_divide %[[X]], %[[Y]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R5:.*]] = graph.remainder %[[X]], %[[Y]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R6:.*]] = graph.pow %[[X]], %[[Y]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R7:.*]] = graph.minimum %[[X]], %[[Y]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R8:.*]] = graph.maximum %[[X]], %[[Y]] : tensor<?x4xf32>
func.func @arithmetic(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = graph.add %x, %y : tensor<?x4xf32>
  %1 = graph.sub %x, %y : tensor<?x4xf32>
  %2 = graph.mul %x, %y : tensor<?x4xf32>
  %3 = graph.div %x, %y : tensor<?x4xf32>
  %4 = graph.floor_divide %x, %y : tensor<?x4xf32>
  %5 = graph.remainder %x, %y : tensor<?x4xf32>
  %6 = graph.pow %x, %y : tensor<?x4xf32>
  %7 = graph.minimum %x, %y : tensor<?x4xf32>
  %8 = graph.maximum %x, %y : tensor<?x4xf32>
  return %8 : tensor<?x4xf32>
}

// CHECK-LABEL: @unary(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>)
// CHECK-NEXT: %[[R0:.*]] = graph.neg %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R1:.*]] = graph.abs %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R2:.*]] = graph.sign %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R3:.*]] = graph.floor %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R4:.*]] = graph.ceil %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R5:.*]] = graph.trunc %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R6:.*]] = graph.round %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R7:.*]] = graph.sqrt %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R8:.*]] = graph.exp %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R9:.*]] = graph.log %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R10:.*]] = graph.sin %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R11:.*]] = graph.cos %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R12:.*]] = graph.tanh %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R13:.*]] = graph.expm1 %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R14:.*]] = graph.log1p %[[X]] : tensor<?x4xf32>
func.func @unary(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = graph.neg %x : tensor<?x4xf32>
  %1 = graph.abs %x : tensor<?x4xf32>
  %2 = graph.sign %x : tensor<?x4xf32>
  %3 = graph.floor %x : tensor<?x4xf32>
  %4 = graph.ceil %x : tensor<?x4xf32>
  %5 = graph.trunc %x : tensor<?x4xf32>
  %6 = graph.round %x : tensor<?x4xf32>
  %7 = graph.sqrt %x : tensor<?x4xf32>
  %8 = graph.exp %x : tensor<?x4xf32>
  %9 = graph.log %x : tensor<?x4xf32>
  %10 = graph.sin %x : tensor<?x4xf32>
  %11 = graph.cos %x : tensor<?x4xf32>
  %12 = graph.tanh %x : tensor<?x4xf32>
  %13 = graph.expm1 %x : tensor<?x4xf32>
  %14 = graph.log1p %x : tensor<?x4xf32>
  return %14 : tensor<?x4xf32>
}

// CHECK-LABEL: @ternary(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>, %[[Y:.*]]: tensor<?x4xf32>, %[[Z:.*]]: tensor<?x4xf32>)
// CHECK-NEXT: %[[R0:.*]] = graph.fma %[[X]], %[[Y]], %[[Z]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R1:.*]] = graph.clip %[[X]], %[[Y]], %[[Z]] : tensor<?x4xf32>
func.func @ternary(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>, %z: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = graph.fma %x, %y, %z : tensor<?x4xf32>
  %1 = graph.clip %x, %y, %z : tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// CHECK-LABEL: @comparison(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>, %[[Y:.*]]: tensor<?x4xf32>)
// CHECK-NEXT: %[[R0:.*]] = graph.equal %[[X]], %[[Y]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R1:.*]] = graph.not_equal %[[X]], %[[Y]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R2:.*]] = graph.less %[[X]], %[[Y]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R3:.*]] = graph.less_equal %[[X]], %[[Y]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R4:.*]] = graph.greater %[[X]], %[[Y]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R5:.*]] = graph.greater_equal %[[X]], %[[Y]] : tensor<?x4xf32>
func.func @comparison(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xi1> {
  %0 = graph.equal %x, %y : tensor<?x4xf32>
  %1 = graph.not_equal %x, %y : tensor<?x4xf32>
  %2 = graph.less %x, %y : tensor<?x4xf32>
  %3 = graph.less_equal %x, %y : tensor<?x4xf32>
  %4 = graph.greater %x, %y : tensor<?x4xf32>
  %5 = graph.greater_equal %x, %y : tensor<?x4xf32>
  return %5 : tensor<?x4xi1>
}

// CHECK-LABEL: @predicate(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>)
// CHECK-NEXT: %[[R0:.*]] = graph.isnan %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R1:.*]] = graph.isinf %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R2:.*]] = graph.isfinite %[[X]] : tensor<?x4xf32>
func.func @predicate(%x: tensor<?x4xf32>) -> tensor<?x4xi1> {
  %0 = graph.isnan %x : tensor<?x4xf32>
  %1 = graph.isinf %x : tensor<?x4xf32>
  %2 = graph.isfinite %x : tensor<?x4xf32>
  return %2 : tensor<?x4xi1>
}

// CHECK-LABEL: @logical(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xi1>, %[[Y:.*]]: tensor<?x4xi1>)
// CHECK-NEXT: %[[R0:.*]] = graph.logical_and %[[X]], %[[Y]] : tensor<?x4xi1>
// CHECK-NEXT: %[[R1:.*]] = graph.logical_or %[[X]], %[[Y]] : tensor<?x4xi1>
// CHECK-NEXT: %[[R2:.*]] = graph.logical_xor %[[X]], %[[Y]] : tensor<?x4xi1>
// CHECK-NEXT: %[[R3:.*]] = graph.logical_not %[[X]] : tensor<?x4xi1>
func.func @logical(%x: tensor<?x4xi1>, %y: tensor<?x4xi1>) -> tensor<?x4xi1> {
  %0 = graph.logical_and %x, %y : tensor<?x4xi1>
  %1 = graph.logical_or %x, %y : tensor<?x4xi1>
  %2 = graph.logical_xor %x, %y : tensor<?x4xi1>
  %3 = graph.logical_not %x : tensor<?x4xi1>
  return %3 : tensor<?x4xi1>
}

// CHECK-LABEL: @bits(
// CHECK-SAME: %[[X:.*]]: tensor<5xui16>, %[[Y:.*]]: tensor<5xui16>)
// CHECK-NEXT: %[[R0:.*]] = graph.bitwise_and %[[X]], %[[Y]] : tensor<5xui16>
// CHECK-NEXT: %[[R1:.*]] = graph.bitwise_or %[[X]], %[[Y]] : tensor<5xui16>
// CHECK-NEXT: %[[R2:.*]] = graph.bitwise_xor %[[X]], %[[Y]] : tensor<5xui16>
// CHECK-NEXT: %[[R3:.*]] = graph.shift_left %[[X]], %[[Y]] : tensor<5xui16>
// CHECK-NEXT: %[[R4:.*]] = graph.shift_right %[[X]], %[[Y]] : tensor<5xui16>
// CHECK-NEXT: %[[R5:.*]] = graph.bitwise_not %[[X]] : tensor<5xui16>
// CHECK-NEXT: %[[R6:.*]] = graph.bit_count %[[X]] : tensor<5xui16>
func.func @bits(%x: tensor<5xui16>, %y: tensor<5xui16>) -> tensor<5xui16> {
  %0 = graph.bitwise_and %x, %y : tensor<5xui16>
  %1 = graph.bitwise_or %x, %y : tensor<5xui16>
  %2 = graph.bitwise_xor %x, %y : tensor<5xui16>
  %3 = graph.shift_left %x, %y : tensor<5xui16>
  %4 = graph.shift_right %x, %y : tensor<5xui16>
  %5 = graph.bitwise_not %x : tensor<5xui16>
  %6 = graph.bit_count %x : tensor<5xui16>
  return %5 : tensor<5xui16>
}

// CHECK-LABEL: @choice(
// CHECK-SAME: %[[C:.*]]: tensor<?x4xi1>, %[[X:.*]]: tensor<?x4xf32>, %[[Y:.*]]: tensor<?x4xf32>)
// CHECK-NEXT: %[[R0:.*]] = graph.select %[[C]], %[[X]], %[[Y]] : tensor<?x4xf32>
func.func @choice(%c: tensor<?x4xi1>, %x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = graph.select %c, %x, %y : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
// CHECK-LABEL: @conversion(
// CHECK: graph.cast %{{.*}} : tensor<f32> -> tensor<i1>
// CHECK: graph.cast %{{.*}} : tensor<i1> -> tensor<ui64>
// CHECK: graph.cast %{{.*}} : tensor<ui64> -> tensor<f64>
func.func @conversion(%x: tensor<f32>) -> tensor<f64> {
  %0 = graph.cast %x : tensor<f32> -> tensor<i1>
  %1 = graph.cast %0 : tensor<i1> -> tensor<ui64>
  %2 = graph.cast %1 : tensor<ui64> -> tensor<f64>
  return %2 : tensor<f64>
}

// CHECK-LABEL: @bits_of_half(
// CHECK: graph.bitcast %{{.*}} : tensor<4xf16> -> tensor<4xui16>
func.func @bits_of_half(%x: tensor<4xf16>) -> tensor<4xui16> {
  %0 = graph.bitcast %x : tensor<4xf16> -> tensor<4xui16>
  return %0 : tensor<4xui16>
}

// CHECK-LABEL: @every_dtype(
// CHECK-COUNT-11: graph.add
// CHECK-NOT: graph.add
func.func @every_dtype(%b: tensor<2xi1>, %i8: tensor<2xi8>, %i16: tensor<2xi16>, %i32: tensor<2xi32>, %i64: tensor<2xi64>,
    %u8: tensor<2xui8>, %u16: tensor<2xui16>, %u32: tensor<2xui32>, %u64: tensor<2xui64>, %f: tensor<2xf32>, %d: tensor<2xf64>) {
  %0 = graph.add %b, %b : tensor<2xi1>
  %1 = graph.add %i8, %i8 : tensor<2xi8>
  %2 = graph.add %i16, %i16 : tensor<2xi16>
  %3 = graph.add %i32, %i32 : tensor<2xi32>
  %4 = graph.add %i64, %i64 : tensor<2xi64>
  %5 = graph.add %u8, %u8 : tensor<2xui8>
  %6 = graph.add %u16, %u16 : tensor<2xui16>
  %7 = graph.add %u32, %u32 : tensor<2xui32>
  %8 = graph.add %u64, %u64 : tensor<2xui64>
  %9 = graph.add %f, %f : tensor<2xf32>
  %10 = graph.add %d, %d : tensor<2xf64>
  return
}

// CHECK-LABEL: @scalars(
// CHECK: %[[S:.*]] = graph.add %{{.*}}, %{{.*}} : f32
// CHECK: %[[L:.*]] = graph.less %[[S]], %{{.*}} : f32
// CHECK: %[[P:.*]] = graph.select %[[L]], %[[S]], %{{.*}} : f32
// CHECK: graph.cast %[[P]] : f32 -> ui8
func.func @scalars(%x: f32, %y: f32) -> ui8 {
  %0 = graph.add %x, %y : f32
  %1 = graph.less %0, %y : f32
  %2 = graph.select %1, %0, %y : f32
  %3 = graph.cast %2 : f32 -> ui8
  return %3 : ui8
}

// CHECK-LABEL: @vectors(
// CHECK: %[[S:.*]] = graph.mul %{{.*}}, %{{.*}} : vector<16xui32>
// CHECK: %[[L:.*]] = graph.greater %[[S]], %{{.*}} : vector<16xui32>
// CHECK: %[[P:.*]] = graph.select %[[L]], %[[S]], %{{.*}} : vector<16xui32>
// CHECK: graph.cast %[[P]] : vector<16xui32> -> vector<16xf64>
func.func @vectors(%x: vector<16xui32>, %y: vector<16xui32>) -> vector<16xf64> {
  %0 = graph.mul %x, %y : vector<16xui32>
  %1 = graph.greater %0, %y : vector<16xui32>
  %2 = graph.select %1, %0, %y : vector<16xui32>
  %3 = graph.cast %2 : vector<16xui32> -> vector<16xf64>
  return %3 : vector<16xf64>
}
