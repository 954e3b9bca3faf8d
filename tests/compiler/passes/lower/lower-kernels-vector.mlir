// Products with vectors: a group reads pieces of 32 rows, and its first work-items go on with the chains of their rows.
// RUN: graphc-opt %s "--graphc-pipeline=to=lower groups=true vector-bytes=0" | FileCheck %s

// CHECK-LABEL: func.func @rows
// CHECK-SAME: graphc.group = 256
// CHECK-DAG: memref.alloca() : memref<64xf64, #gpu.address_space<workgroup>>
// CHECK-DAG: memref.alloca() : memref<2080xf64, #gpu.address_space<workgroup>>
// CHECK: gpu.barrier
// CHECK: math.fma
// CHECK: graphc.unroll = 16
// CHECK: gpu.barrier
func.func @rows(%a: tensor<?x?xf64>, %x: tensor<?x1xf64>) -> tensor<?x1xf64> {
  %0 = graph.matmul %a, %x : tensor<?x?xf64>, tensor<?x1xf64> -> tensor<?x1xf64>
  return %0 : tensor<?x1xf64>
}

// Columns are neighbours as they are, and lie in local memory as rows do.
// CHECK-LABEL: func.func @columns
// CHECK-SAME: graphc.group = 256
// CHECK-DAG: memref.alloca() : memref<2080xf64, #gpu.address_space<workgroup>>
// CHECK: gpu.barrier
// CHECK: math.fma
// CHECK: gpu.barrier
// Blocks of k are chains that are added by another kernel.
// CHECK-LABEL: func.func @columns
// CHECK-SAME: _fold
func.func @columns(%a: tensor<?x?xf64>, %x: tensor<1x?xf64>) -> tensor<1x?xf64> {
  %0 = graph.matmul %x, %a : tensor<1x?xf64>, tensor<?x?xf64> -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}

// Neighbours of both loops lie apart: an item a work-item.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: gpu.barrier
// CHECK: math.fma
func.func @apart(%a: tensor<33x800xf64>, %x: tensor<400x1xf64>) -> tensor<33x1xf64> {
  %0 = graph.slice %a from [0, 0] step [1, 2] : tensor<33x800xf64> -> tensor<33x400xf64>
  %1 = graph.matmul %0, %x : tensor<33x400xf64>, tensor<400x1xf64> -> tensor<33x1xf64>
  return %1 : tensor<33x1xf64>
}
