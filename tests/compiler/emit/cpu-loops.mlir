// What the inner loops of named kernels are made of: vectors as wide as the machine's, no mask on loads and stores of the
// main loop, nothing spilled, no call, one element of the tree an instruction.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=asm --cpu-features=avx,avx2,fma,avx512f,avx512vl,avx512bw,avx512dq,avx512cd > %t.s
// RUN: FileCheck %s < %t.s
// No kernel calls anything but its own body, and none divides integers per element.
// RUN: FileCheck %s --check-prefix=NONE < %t.s
// NONE-NOT: {{idiv|call.*(exp|tanh|sin|memcpy|memset)}}

// Two vectors of loads in flight, and memory is asked for ahead of them. Large results pass the caches by.
// CHECK-LABEL: triad_0:
// CHECK: prefetcht0
// CHECK: jge
// CHECK-NEXT: vmovups {{.*}}(%[[X:[a-z0-9]+]],%[[I:[a-z0-9]+]],4), %zmm
// CHECK-NEXT: vmovups {{.*}}(%[[X]],%[[I]],4), %zmm
// CHECK-NEXT: vmulps
// CHECK-NEXT: vmulps
// CHECK-NEXT: vaddps
// CHECK-NEXT: vaddps
// CHECK: vmovntps %zmm{{[0-9]+}}, (
// CHECK-NEXT: vmovntps %zmm{{[0-9]+}}, 64(
// CHECK: ret
func.func @triad(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.mul %x, %y : tensor<?xf32>
  %1 = graph.add %0, %x : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// A long chain: four vectors overlap and stay in registers, and memory is asked for ahead of them, far ahead into the second cache.
// CHECK-LABEL: chain_0:
// CHECK: jmp [[LOOP:.LBB[0-9]+_[0-9]+]]
// CHECK-COUNT-4: prefetcht0
// CHECK-COUNT-4: prefetcht1
// CHECK-NEXT: addq $64,
// CHECK-NEXT: [[LOOP]]:
// CHECK-NOT: {{rsp|vmov.*\{%k}}
// CHECK: vfmadd
// CHECK-NOT: {{rsp|vmov.*\{%k}}
// CHECK-COUNT-4: vmovntps
// CHECK: ret
func.func @chain(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.exp %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// All 256 lanes in registers, rows read in order.
// CHECK-LABEL: total_0:
// CHECK: shlq $10, %[[I:[a-z0-9]+]]
// CHECK-NEXT: vaddps {{(64)?}}(%[[X:[a-z0-9]+]],%[[I]]), %zmm
// CHECK-NEXT: vaddps {{(64)?}}(%[[X]],%[[I]]), %zmm
// CHECK-NEXT: vaddps 128(%[[X]],%[[I]]), %zmm
// CHECK-NEXT: vaddps 192(%[[X]],%[[I]]), %zmm
// CHECK-NEXT: vaddps 256(%[[X]],%[[I]]), %zmm
// CHECK-NEXT: vaddps 320(%[[X]],%[[I]]), %zmm
// CHECK-NEXT: vaddps 384(%[[X]],%[[I]]), %zmm
// CHECK-NEXT: vaddps 448(%[[X]],%[[I]]), %zmm
// CHECK-NEXT: vaddps 512(%[[X]],%[[I]]), %zmm
// CHECK-NEXT: vaddps 576(%[[X]],%[[I]]), %zmm
// CHECK-NEXT: vaddps 640(%[[X]],%[[I]]), %zmm
// CHECK-NEXT: vaddps 704(%[[X]],%[[I]]), %zmm
// CHECK-NEXT: vaddps 768(%[[X]],%[[I]]), %zmm
// CHECK-NEXT: vaddps 832(%[[X]],%[[I]]), %zmm
// CHECK-NEXT: vaddps 896(%[[X]],%[[I]]), %zmm
// CHECK-NEXT: vaddps 960(%[[X]],%[[I]]), %zmm
// CHECK-NEXT: incq
// CHECK-NEXT: cmpq
// CHECK-NEXT: jl
// CHECK: ret
func.func @total(%x: tensor<?xf32>) -> tensor<f32> {
  %0 = graph.reduce <sum> %x axes [0] : tensor<?xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

// Rows as well, and none of their lanes waits in memory.
// CHECK-LABEL: rows_0:
// CHECK: shlq $8, %[[I:[a-z0-9]+]]
// CHECK-NOT: {{rsp.*zmm|zmm.*rsp}}
// CHECK-COUNT-16: vaddps {{.*}}), %zmm{{[0-9]+}}, %zmm{{[0-9]+$}}
// CHECK-NOT: {{rsp.*zmm|zmm.*rsp}}
// CHECK: jl
// CHECK: .size rows_0
func.func @rows(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %0 = graph.reduce <sum> %x axes [1] : tensor<?x?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// argmax: the value alone, in three operations; where lanes have it of is written down once in eight turns of the loop.
// CHECK-LABEL: place_0:
// CHECK: prefetcht1
// CHECK-COUNT-4: vcmpunordps
// CHECK-NOT: rsp
// CHECK-COUNT-4: vaddps {{.*}} {%k
// CHECK-NOT: rsp
// CHECK: vcmpnleps {{.*}} {%k
// CHECK-NEXT: vpbroadcastd %{{[er].*}}, %zmm{{.*}} {%k
// CHECK: ret
func.func @place(%x: tensor<?xf32>) -> tensor<i64> {
  %0 = graph.reduce <argmax> %x axes [0] : tensor<?xf32> -> tensor<i64>
  return %0 : tensor<i64>
}

// A count: masks become bytes, 64 at a time, which hold the rows of a block. Two operands are read in order, four rows of a strip at a time, with its
// lanes in registers.
// CHECK-LABEL: inside_0:
// CHECK-COUNT-8: vcmpleps {{.*}}, %k{{[0-7]$}}
// CHECK-COUNT-16: prefetcht0
// CHECK-NOT: rsp
// CHECK: vpmovm2b
// CHECK-NEXT: vpsubb
// CHECK-NOT: rsp
// CHECK: jl
// CHECK: ret
func.func @inside(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<i64> {
  %0 = graph.mul %x, %x : tensor<?xf32>
  %1 = graph.mul %y, %y : tensor<?xf32>
  %2 = graph.add %0, %1 : tensor<?xf32>
  %3 = graph.less_equal %2, %x : tensor<?xf32>
  %4 = graph.cast %3 : tensor<?xi1> -> tensor<?xi64>
  %5 = graph.reduce <sum> %4 axes [0] : tensor<?xi64> -> tensor<i64>
  return %5 : tensor<i64>
}

// Two outputs of one pass, selects by mask registers.
// CHECK-LABEL: escape_0:
// CHECK: jge
// CHECK-NOT: rsp
// CHECK-NOT: ({{.*}}{%k
// CHECK-COUNT-4: vmovaps %zmm{{[0-9]+}}, %zmm{{[0-9]+}} {%k
// CHECK-NOT: rsp
// CHECK: vmovntps
// CHECK-NOT: rsp
// CHECK-COUNT-4: vmovntdq
// CHECK: ret
func.func @escape(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: tensor<?xi32>) -> (tensor<?xf32>, tensor<?xi32>) {
  %0 = graph.mul %x, %x : tensor<?xf32>
  %1 = graph.add %0, %y : tensor<?xf32>
  %2 = graph.less %1, %y : tensor<?xf32>
  %3 = graph.select %2, %1, %x : tensor<?xf32>
  %4 = graph.cast %2 : tensor<?xi1> -> tensor<?xi32>
  %5 = graph.add %n, %4 : tensor<?xi32>
  return %3, %5 : tensor<?xf32>, tensor<?xi32>
}

// Small integers and bools are packed: 64 an instruction.
// CHECK-LABEL: bytes_0:
// CHECK: jge
// CHECK-NEXT: vmovdqu64 {{.*}}(
// CHECK-NEXT: vpaddb {{.*}}zmm
// CHECK: vpcmp{{.*}}zmm
// CHECK: vmovntdq %zmm
// CHECK: ret
func.func @bytes(%x: tensor<?xi8>, %y: tensor<?xi8>) -> tensor<?xi1> {
  %0 = graph.add %x, %y : tensor<?xi8>
  %1 = graph.less %0, %x : tensor<?xi8>
  return %1 : tensor<?xi1>
}

// Eight rows of 64 columns are written out, with nothing on the stack.
// (Last, as its code is not beside that of the others.)
// CHECK-LABEL: columns_0:
// CHECK: vaddps {{.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vaddps {{[0-9]*\(%r.*}},4), %zmm
// CHECK-NEXT: vmovups %zmm
// CHECK: ret
func.func @columns(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %0 = graph.reduce <sum> %x axes [0] : tensor<?x?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
