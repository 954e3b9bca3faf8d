// Vectors of 8 and 16 bits of which the first lanes are there: a function for each type, for reading and for writing.
// RUN: graphc-opt %s --graphc-outline-masks | FileCheck %s

// Wider elements, other lanes than the first, and what is not 0 elsewhere stay.
// CHECK-LABEL: func.func @all
// CHECK: %[[X:.*]] = call @load_first_0(%arg0, %arg4, %arg5) : (memref<?xi8>, index, index) -> vector<16xi8>
// CHECK: call @store_first_1(%arg0, %arg4, %arg5, %[[X]])
// CHECK: %[[Y:.*]] = call @load_first_0(%arg0, %arg5, %arg5)
// CHECK: call @load_first_2(%arg1, %arg4, %arg5) : (memref<?xi16>, index, index) -> vector<32xi16>
// CHECK: vector.maskedload %arg2
// CHECK: vector.maskedload %arg0
// CHECK: vector.maskedstore %arg0
// CHECK: return

// Sixteen bytes are two integers; no element takes a branch of its own.
// CHECK-LABEL: func.func private @load_first_0
// CHECK-SAME: (%[[M:.*]]: memref<?xi8>, %[[FIRST:.*]]: index, %[[COUNT:.*]]: index) -> vector<16xi8>
// CHECK: %[[ALL:.*]] = arith.cmpi sge, %[[COUNT]], %c16
// CHECK: scf.if %[[ALL]] -> (vector<16xi8>)
// CHECK: vector.load %[[M]][%[[FIRST]]] : memref<?xi8>, vector<16xi8>
// CHECK-NOT: scf.for
// CHECK: vector.from_elements %{{.*}}, %{{.*}} : vector<2xi64>
// CHECK-LABEL: func.func private @store_first_1
// CHECK-NOT: scf.for
// CHECK: return

// More of them pass through the stack.
// CHECK-LABEL: func.func private @load_first_2
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<32xi16>
// CHECK: scf.for
func.func @all(%a: memref<?xi8>, %b: memref<?xi16>, %c: memref<?xf32>, %m: vector<16xi1>, %i: index, %n: index) {
  %zero = arith.constant dense<0> : vector<16xi8>
  %one = arith.constant dense<1> : vector<16xi8>
  %zeros = arith.constant dense<0> : vector<32xi16>
  %none = arith.constant dense<0.0> : vector<8xf32>
  %first = vector.create_mask %n : vector<16xi1>
  %firsts = vector.create_mask %n : vector<32xi1>
  %few = vector.create_mask %n : vector<8xi1>
  %x = vector.maskedload %a[%i], %first, %zero : memref<?xi8>, vector<16xi1>, vector<16xi8> into vector<16xi8>
  vector.maskedstore %a[%i], %first, %x : memref<?xi8>, vector<16xi1>, vector<16xi8>
  %y = vector.maskedload %a[%n], %first, %zero : memref<?xi8>, vector<16xi1>, vector<16xi8> into vector<16xi8>
  %z = vector.maskedload %b[%i], %firsts, %zeros : memref<?xi16>, vector<32xi1>, vector<32xi16> into vector<32xi16>
  %f = vector.maskedload %c[%i], %few, %none : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  %o = vector.maskedload %a[%i], %first, %one : memref<?xi8>, vector<16xi1>, vector<16xi8> into vector<16xi8>
  vector.maskedstore %a[%i], %m, %y : memref<?xi8>, vector<16xi1>, vector<16xi8>
  return
}
