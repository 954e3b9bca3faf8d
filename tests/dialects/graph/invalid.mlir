// One function per numbered rule of the op descriptions (dialects/graph/GraphOps.td): @<op>_c<number>.
// RUN: graphc-opt %s -split-input-file -verify-diagnostics

func.func @full_c1() {
  // expected-error @+1 {{'graph.full' op C1: literal of type 'f64' in 'tensor<3xf32>'}}
  %0 = graph.full 1.0 : f64 : tensor<3xf32>
  return
}

// -----

func.func @full_c2(%n: index) {
  // expected-error @+1 {{'graph.full' op needs one size operand per '?' of its result: 2 expected, 1 given}}
  %0 = graph.full 1.0 : f32 to (%n) : tensor<?x3x?xf32>
  return
}

// -----

func.func @full_c2_static(%n: index) {
  // expected-error @+1 {{'graph.full' op needs one size operand per '?' of its result: 0 expected, 1 given}}
  %0 = graph.full 1.0 : f32 to (%n) : tensor<3xf32>
  return
}

// -----

func.func @broadcast_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.broadcast' op C1: dims must be strictly increasing and inside the result's rank}}
  %0 = graph.broadcast %x dims [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  return
}

// -----

func.func @broadcast_c1_outside(%x: tensor<3xf32>) {
  // expected-error @+1 {{'graph.broadcast' op C1: dims must be strictly increasing and inside the result's rank}}
  %0 = graph.broadcast %x dims [2] : tensor<3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_c1_count(%x: tensor<3xf32>) {
  // expected-error @+1 {{'graph.broadcast' op C1: dims needs one entry per operand axis}}
  %0 = graph.broadcast %x dims [] : tensor<3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_c2(%x: tensor<2xf32>) {
  // expected-error @+1 {{'graph.broadcast' op C2: cannot broadcast size 2 to 3}}
  %0 = graph.broadcast %x dims [1] : tensor<2xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func @transpose_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.transpose' op C1: not a permutation}}
  %0 = graph.transpose %x permutation [0, 0] : tensor<2x3xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @transpose_c1_range(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.transpose' op C1: not a permutation}}
  %0 = graph.transpose %x permutation [1, -1] : tensor<2x3xf32> -> tensor<3x2xf32>
  return
}

// -----

func.func @transpose_c1_count(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.transpose' op C1: permutation needs one entry per axis}}
  %0 = graph.transpose %x permutation [0] : tensor<2x3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @reshape_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reshape' op C1: element counts differ: 'tensor<2x3xf32>' and 'tensor<7xf32>'}}
  %0 = graph.reshape %x : tensor<2x3xf32> -> tensor<7xf32>
  return
}

// -----

func.func @slice_c1(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{'graph.slice' op C1: needs one start and one step per axis (2)}}
  %0 = graph.slice %x from [0] step [1, 1] : tensor<8x8xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @slice_c2(%x: tensor<8xf32>) {
  // expected-error @+1 {{'graph.slice' op a step is 0}}
  %0 = graph.slice %x from [0] step [0] : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @slice_c3(%x: tensor<8xf32>) {
  // expected-error @+1 {{'graph.slice' op C3: axis 0 reaches outside size 8}}
  %0 = graph.slice %x from [2] step [3] : tensor<8xf32> -> tensor<3xf32>
  return
}

// -----

func.func @slice_c3_below(%x: tensor<8xf32>) {
  // expected-error @+1 {{'graph.slice' op C3: axis 0 reaches outside size 8}}
  %0 = graph.slice %x from [1] step [-1] : tensor<8xf32> -> tensor<3xf32>
  return
}

// -----

func.func @flip_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.flip' op C1: axes must be distinct and in range}}
  %0 = graph.flip %x axes [1, 1] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @flip_c1_range(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.flip' op C1: axes must be distinct and in range}}
  %0 = graph.flip %x axes [2] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @concatenate_c1(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'graph.concatenate' op C1: operand 'tensor<3xf32>' does not fit result 'tensor<3x3xf32>'}}
  %0 = graph.concatenate %x, %y axis 0 : tensor<2x3xf32>, tensor<3xf32> -> tensor<3x3xf32>
  return
}

// -----

func.func @concatenate_c1_dtype(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error @+1 {{'graph.concatenate' op C1: operand 'tensor<2xf64>' does not fit result 'tensor<4xf32>'}}
  %0 = graph.concatenate %x, %y axis 0 : tensor<2xf32>, tensor<2xf64> -> tensor<4xf32>
  return
}

// -----

func.func @concatenate_c2(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{'graph.concatenate' op C2: sizes differ on axis 1}}
  %0 = graph.concatenate %x, %y axis 0 : tensor<2x3xf32>, tensor<2x4xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func @concatenate_c3(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.concatenate' op C3: axis 2 is out of range for rank 2}}
  %0 = graph.concatenate %x, %x axis 2 : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func @update_slice_c1(%x: tensor<8x8xf32>, %v: tensor<2x2xf32>) {
  // expected-error @+1 {{'graph.update_slice' op C1: needs one start and one step per axis (2)}}
  %0 = graph.update_slice %v into %x from [0, 0] step [1] : tensor<2x2xf32> into tensor<8x8xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @update_slice_c1_rank(%x: tensor<8x8xf32>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'graph.update_slice' op C1: value and tensor must have the same rank}}
  %0 = graph.update_slice %v into %x from [0, 0] step [1, 1] : tensor<2xf32> into tensor<8x8xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @update_slice_c2(%x: tensor<8xf32>, %v: tensor<2xf64>) {
  // expected-error @+1 {{'graph.update_slice' op element types differ: 'tensor<2xf64>' and 'tensor<8xf32>'}}
  %0 = graph.update_slice %v into %x from [0] step [1] : tensor<2xf64> into tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @update_slice_c1_step(%x: tensor<8xf32>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'graph.update_slice' op a step is 0}}
  %0 = graph.update_slice %v into %x from [0] step [0] : tensor<2xf32> into tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @update_slice_c3(%x: tensor<8xf32>, %v: tensor<3xf32>) {
  // expected-error @+1 {{'graph.update_slice' op C3: axis 0 reaches outside size 8}}
  %0 = graph.update_slice %v into %x from [6] step [1] : tensor<3xf32> into tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @scan_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.scan' op C1: axis 2 is out of range for rank 2}}
  %0 = graph.scan <sum> %x axis 2 : tensor<2x3xf32>
  return
}

// -----

func.func @scan_c2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.scan' op C2: scans are sums, products or extremes}}
  %0 = graph.scan <any> %x axis 0 : tensor<2x3xf32>
  return
}

// -----

func.func @scan_c2_bool(%x: tensor<2x3xi1>) {
  // expected-error @+1 {{'graph.scan' op C2: scans do not take bool}}
  %0 = graph.scan <sum> %x axis 0 : tensor<2x3xi1>
  return
}

// -----

func.func @reduce_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reduce' op C1: axes must be increasing and in range for rank 2}}
  %0 = graph.reduce <sum> %x axes [1, 0] : tensor<2x3xf32> -> tensor<f32>
  return
}

// -----

func.func @reduce_c1_range(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reduce' op C1: axes must be increasing and in range for rank 2}}
  %0 = graph.reduce <sum> %x axes [2] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @reduce_c1_negative(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reduce' op C1: axes must be increasing and in range for rank 2}}
  %0 = graph.reduce <sum> %x axes [-1] : tensor<2x3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reduce' op C2: any and all take bool, not 'f32'}}
  %0 = graph.reduce <any> %x axes [1] : tensor<2x3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c2_sum(%x: tensor<2x3xi1>) {
  // expected-error @+1 {{'graph.reduce' op C2: sum and prod do not take bool}}
  %0 = graph.reduce <sum> %x axes [1] : tensor<2x3xi1> -> tensor<2xi1>
  return
}

// -----

func.func @reduce_c3(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reduce' op C3: argmin and argmax give i64}}
  %0 = graph.reduce <argmax> %x axes [1] : tensor<2x3xf32> -> tensor<2xi32>
  return
}

// -----

func.func @reduce_c3_axes(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reduce' op C3: argmin and argmax reduce one axis}}
  %0 = graph.reduce <argmin> %x axes [0, 1] : tensor<2x3xf32> -> tensor<i64>
  return
}

// -----

func.func @reduce_c4(%x: tensor<4x0xf32>) {
  // expected-error @+1 {{'graph.reduce' op C4: axis 1 has no elements}}
  %0 = graph.reduce <min> %x axes [1] : tensor<4x0xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c4_arg(%x: tensor<0xf32>) {
  // expected-error @+1 {{'graph.reduce' op C4: axis 0 has no elements}}
  %0 = graph.reduce <argmax> %x axes [0] : tensor<0xf32> -> tensor<i64>
  return
}

// -----

// A sum of nothing is fine.
func.func @reduce_c4_sum(%x: tensor<0xf32>) -> tensor<f32> {
  %0 = graph.reduce <sum> %x axes [0] : tensor<0xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @reduce_c5(%x: tensor<2x3xi32>) {
  // expected-error @+1 {{'graph.reduce' op C5: mean takes a float or complex dtype, not 'i32'}}
  %0 = graph.reduce <mean> %x axes [1] : tensor<2x3xi32> -> tensor<2xi32>
  return
}

// -----

func.func @matmul_c1(%x: tensor<3xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'graph.matmul' op C1: operands and result need the same rank, at least 2}}
  %0 = graph.matmul %x, %y : tensor<3xf32>, tensor<3xf32> -> tensor<f32>
  return
}

// -----

func.func @matmul_c1_dtype(%x: tensor<2x3xf32>, %y: tensor<3x2xf64>) {
  // expected-error @+1 {{'graph.matmul' op element types differ: 'tensor<2x3xf32>' and 'tensor<3x2xf64>'}}
  %0 = graph.matmul %x, %y : tensor<2x3xf32>, tensor<3x2xf64> -> tensor<2x2xf32>
  return
}

// -----

func.func @matmul_c2(%x: tensor<2x3xf32>, %y: tensor<4x2xf32>) {
  // expected-error @+1 {{'graph.matmul' op C2: contracted sizes differ: 'tensor<2x3xf32>' and 'tensor<4x2xf32>'}}
  %0 = graph.matmul %x, %y : tensor<2x3xf32>, tensor<4x2xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @matmul_c3(%x: tensor<2x3x4xf32>, %y: tensor<5x4x2xf32>) {
  // expected-error @+1 {{'graph.matmul' op C3: batch sizes differ on axis 0}}
  %0 = graph.matmul %x, %y : tensor<2x3x4xf32>, tensor<5x4x2xf32> -> tensor<2x3x2xf32>
  return
}
