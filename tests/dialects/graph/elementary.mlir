// The elementary functions read back what they printed.
// RUN: graphc-opt %s | graphc-opt | FileCheck %s
// RUN: graphc-opt %s --mlir-print-op-generic | graphc-opt | FileCheck %s

// CHECK-LABEL: @of_one(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>)
// CHECK-NEXT: %[[R0:.*]] = graph.square %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R1:.*]] = graph.exp2 %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R2:.*]] = graph.log2 %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R3:.*]] = graph.log10 %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R4:.*]] = graph.tan %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R5:.*]] = graph.asin %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R6:.*]] = graph.acos %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R7:.*]] = graph.atan %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R8:.*]] = graph.sinh %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R9:.*]] = graph.cosh %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R10:.*]] = graph.asinh %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R11:.*]] = graph.acosh %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R12:.*]] = graph.atanh %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R13:.*]] = graph.cbrt %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R14:.*]] = graph.reciprocal %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R15:.*]] = graph.rsqrt %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R16:.*]] = graph.erf %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R17:.*]] = graph.erfc %[[X]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R18:.*]] = graph.lgamma %[[X]] : tensor<?x4xf32>
func.func @of_one(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = graph.square %x : tensor<?x4xf32>
  %1 = graph.exp2 %x : tensor<?x4xf32>
  %2 = graph.log2 %x : tensor<?x4xf32>
  %3 = graph.log10 %x : tensor<?x4xf32>
  %4 = graph.tan %x : tensor<?x4xf32>
  %5 = graph.asin %x : tensor<?x4xf32>
  %6 = graph.acos %x : tensor<?x4xf32>
  %7 = graph.atan %x : tensor<?x4xf32>
  %8 = graph.sinh %x : tensor<?x4xf32>
  %9 = graph.cosh %x : tensor<?x4xf32>
  %10 = graph.asinh %x : tensor<?x4xf32>
  %11 = graph.acosh %x : tensor<?x4xf32>
  %12 = graph.atanh %x : tensor<?x4xf32>
  %13 = graph.cbrt %x : tensor<?x4xf32>
  %14 = graph.reciprocal %x : tensor<?x4xf32>
  %15 = graph.rsqrt %x : tensor<?x4xf32>
  %16 = graph.erf %x : tensor<?x4xf32>
  %17 = graph.erfc %x : tensor<?x4xf32>
  %18 = graph.lgamma %x : tensor<?x4xf32>
  return %18 : tensor<?x4xf32>
}

// CHECK-LABEL: @of_two(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>, %[[Y:.*]]: tensor<?x4xf32>)
// CHECK-NEXT: %[[R0:.*]] = graph.atan2 %[[X]], %[[Y]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R1:.*]] = graph.hypot %[[X]], %[[Y]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R2:.*]] = graph.logaddexp %[[X]], %[[Y]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R3:.*]] = graph.copysign %[[X]], %[[Y]] : tensor<?x4xf32>
// CHECK-NEXT: %[[R4:.*]] = graph.nextafter %[[X]], %[[Y]] : tensor<?x4xf32>
func.func @of_two(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = graph.atan2 %x, %y : tensor<?x4xf32>
  %1 = graph.hypot %x, %y : tensor<?x4xf32>
  %2 = graph.logaddexp %x, %y : tensor<?x4xf32>
  %3 = graph.copysign %x, %y : tensor<?x4xf32>
  %4 = graph.nextafter %x, %y : tensor<?x4xf32>
  return %4 : tensor<?x4xf32>
}

// CHECK-LABEL: @sign_bit(
// CHECK-SAME: %[[X:.*]]: vector<8xf64>)
// CHECK-NEXT: %[[R:.*]] = graph.signbit %[[X]] : vector<8xf64>
func.func @sign_bit(%x: vector<8xf64>) -> vector<8xi1> {
  %0 = graph.signbit %x : vector<8xf64>
  return %0 : vector<8xi1>
}
