// Scatters whose points lie in the order of their places, which points of a group combine in local memory.
// RUN: graphc-opt %s "--graphc-pipeline=to=lower groups=true vector-bytes=0" | FileCheck %s

// The group's points and those before and behind them; then, where a place goes on, pieces that all read ahead.
// CHECK-LABEL: func.func @add
// CHECK-SAME: graphc.group = 256
// CHECK-DAG: memref.alloca() : memref<1024xi64, #gpu.address_space<workgroup>>
// CHECK-DAG: memref.alloca() : memref<1024xf64, #gpu.address_space<workgroup>>
// CHECK: gpu.barrier
// CHECK: scf.while
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK: gpu.barrier
// CHECK: scf.while
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK: scf.condition
func.func @add(%x: tensor<?xf64>, %i: tensor<?xi64>, %v: tensor<?xf64>) -> tensor<?xf64> {
  %0 = graph.scatter %v into %x[%i] axes [0] at 0 combine "add" sorted : tensor<?xf64> into tensor<?xf64>[tensor<?xi64>] -> tensor<?xf64>
  return %0 : tensor<?xf64>
}

// Whoever has a place's last point writes it: nothing is combined.
// CHECK-LABEL: func.func @set
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func @set(%x: tensor<?xf64>, %i: tensor<?xi64>, %v: tensor<?xf64>) -> tensor<?xf64> {
  %0 = graph.scatter %v into %x[%i] axes [0] at 0 combine "" sorted : tensor<?xf64> into tensor<?xf64>[tensor<?xi64>] -> tensor<?xf64>
  return %0 : tensor<?xf64>
}

// Neighbours are elements of a row, and have places of their own.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func @rows(%x: tensor<?x8xf64>, %i: tensor<?xi64>, %v: tensor<?x8xf64>) -> tensor<?x8xf64> {
  %0 = graph.scatter %v into %x[%i] axes [0] at 0 combine "add" sorted : tensor<?x8xf64> into tensor<?x8xf64>[tensor<?xi64>] -> tensor<?x8xf64>
  return %0 : tensor<?x8xf64>
}
