// Calls become launches into allocated buffers; sizes, aliases and returns.
// RUN: graphc-opt %s --graphc-pipeline=to=plan | FileCheck %s

// Element counts are products of sizes; checks come before any work.
// CHECK-LABEL: plan.program @sizes inputs [tensor<?x4xf32>, tensor<?x4xf32>] outputs [tensor<?x4xf32>] {
// CHECK-NEXT: ^bb0(%[[X:.*]]: !plan.buffer<f32>, %[[Y:.*]]: !plan.buffer<f32>):
// CHECK-DAG: %[[N:.*]] = plan.dim input 0, 0
// CHECK-DAG: %[[M:.*]] = plan.dim input 1, 0
// CHECK: plan.check %[[N]] equals %[[M]], "axis 0 of the operands of graph.add"
// CHECK: %[[E:.*]] = arith.muli %[[N]], %{{.*}} : index
// CHECK: %[[O:.*]] = plan.alloc %[[E]] {donor = 0 : i64} : <f32>
// CHECK: plan.launch @sizes_0(%[[X]], %[[Y]], %[[O]] : {{.*}}) sizes(%[[N]]) over %[[E]]
// CHECK-NEXT: plan.return %[[O]] : !plan.buffer<f32> sizes(%[[N]])
func.func @sizes(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = graph.add %x, %y : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// Index arguments are the call's size arguments, numbered by their symbols.
// CHECK-LABEL: plan.program @size_arguments inputs [] outputs [tensor<?xf32>, tensor<?xf32>] {
// CHECK-DAG: %[[A:.*]] = plan.size 7
// CHECK-DAG: %[[B:.*]] = plan.size 1
// CHECK: plan.return {{.*}} sizes(%[[A]], %[[B]])
func.func @size_arguments(%a: index {graph.symbol = 7 : i64}, %b: index) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = graph.full 1.0 : f32 to (%a) : tensor<?xf32>
  %1 = graph.iota to (%b) : tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// A reshape is the same buffer.
// CHECK-LABEL: plan.program @alias inputs [tensor<4x6xf32>] outputs [tensor<24xf32>] {
// CHECK: %[[A:.*]] = plan.alloc
// CHECK: plan.launch @alias_0(%{{.*}}, %[[A]] :
// CHECK-NOT: plan.copy
// CHECK-NOT: plan.launch
// CHECK: plan.return %[[A]] :
func.func @alias(%x: tensor<4x6xf32>) -> tensor<24xf32> {
  %a = graph.exp %x : tensor<4x6xf32>
  %0 = graph.reshape %a : tensor<4x6xf32> -> tensor<24xf32>
  return %0 : tensor<24xf32>
}

// The caller owns what it gets: inputs and what is returned twice are copied.
// CHECK-LABEL: plan.program @owned inputs [tensor<?xf32>] outputs [tensor<?xf32>, tensor<?xf32>, tensor<?xf32>] {
// CHECK-NEXT: ^bb0(%[[X:.*]]: !plan.buffer<f32>):
// CHECK: %[[A:.*]] = plan.alloc
// CHECK: plan.launch @owned_0(%[[X]], %[[A]] :
// CHECK: %[[B:.*]] = plan.alloc
// CHECK: plan.copy %[[X]] to %[[B]]
// CHECK: %[[C:.*]] = plan.alloc
// CHECK: plan.copy %[[A]] to %[[C]]
// CHECK: plan.return %[[B]], %[[A]], %[[C]] :
func.func @owned(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %a = graph.exp %x : tensor<?xf32>
  return %x, %a, %a : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// An alias of an input is the input.
// CHECK-LABEL: plan.program @owned_alias inputs [tensor<4x6xi8>] outputs [tensor<24xi8>] {
// CHECK-NEXT: ^bb0(%[[X:.*]]: !plan.buffer<i8>):
// CHECK: %[[B:.*]] = plan.alloc %{{.*}} : <i8>
// CHECK: plan.copy %[[X]] to %[[B]]
// CHECK: plan.return %[[B]] :
func.func @owned_alias(%x: tensor<4x6xi8>) -> tensor<24xi8> {
  %0 = graph.reshape %x : tensor<4x6xi8> -> tensor<24xi8>
  return %0 : tensor<24xi8>
}

// A full reduction: an item a block of 8192 elements. Only when there are several do their results take memory, and one
// item folds them.
// CHECK-LABEL: plan.program @full inputs [tensor<?xf64>] outputs [tensor<f64>] {
// CHECK-NEXT: ^bb0(%[[X:.*]]: !plan.buffer<f64>):
// CHECK-DAG: %[[N:.*]] = plan.dim input 0, 0
// CHECK-DAG: %[[BLOCK:.*]] = arith.constant 8192 : index
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[R:.*]] = plan.alloc %[[ONE]] : <f64>
// CHECK: %[[CEIL:.*]] = arith.ceildivsi %[[N]], %[[BLOCK]] : index
// CHECK: %[[COUNT:.*]] = arith.maxsi %[[CEIL]], %[[ONE]] : index
// CHECK: %[[MORE:.*]] = arith.subi %[[COUNT]], %[[ONE]] : index
// CHECK: %[[SEVERAL:.*]] = arith.minsi %[[MORE]], %[[ONE]] : index
// CHECK: %[[ITEMS:.*]] = arith.muli %[[ONE]], %[[COUNT]] : index
// CHECK: %[[KEPT:.*]] = arith.muli %[[ITEMS]], %[[SEVERAL]] : index
// CHECK: %[[P:.*]] = plan.alloc %[[KEPT]] : <f64>
// CHECK: %[[EACH:.*]] = arith.minsi %[[N]], %[[BLOCK]] : index
// CHECK: plan.launch @full_0(%[[X]], %[[R]], %[[P]] : {{.*}}) sizes(%[[N]]) over %[[ITEMS]] work %[[EACH]]
// CHECK: %[[FOLDS:.*]] = arith.muli %[[ONE]], %[[SEVERAL]] : index
// What is read at points is not named by the fold.
// CHECK: plan.launch @full_0_fold(%[[R]], %[[R]], %[[P]] : {{.*}}) sizes(%[[N]]) over %[[FOLDS]] work %[[COUNT]]
// CHECK: plan.return %[[R]] :
func.func @full(%x: tensor<?xf64>) -> tensor<f64> {
  %0 = graph.reduce <sum> %x axes [0] : tensor<?xf64> -> tensor<f64>
  return %0 : tensor<f64>
}

// argmax: values and indices of the blocks.
// CHECK-LABEL: plan.program @full_arg inputs [tensor<?xui8>] outputs [tensor<i64>] {
// CHECK: %[[V:.*]] = plan.alloc %[[COUNT:.*]] : <i8>
// CHECK: %[[I:.*]] = plan.alloc %[[COUNT]] : <i64>
// CHECK: plan.launch @full_arg_0(%{{.*}}, %{{.*}}, %[[V]], %[[I]] :
// CHECK: plan.launch @full_arg_0_fold(
func.func @full_arg(%x: tensor<?xui8>) -> tensor<i64> {
  %0 = graph.reduce <argmax> %x axes [0] : tensor<?xui8> -> tensor<i64>
  return %0 : tensor<i64>
}

// A product is launched over its tiles: 6 rows by 4 vectors of 16.
// CHECK-LABEL: plan.program @tiles inputs
// CHECK-DAG: %[[N:.*]] = plan.dim input 0, 0
// CHECK-DAG: %[[ROWS:.*]] = arith.ceildivsi %[[N]], %[[SIX:.*]] : index
// CHECK-DAG: %[[SIX]] = arith.constant 6 : index
// CHECK: plan.launch @tiles_0
func.func @tiles(%x: tensor<?x8xf32>, %y: tensor<8x128xf32>) -> tensor<?x128xf32> {
  %0 = graph.matmul %x, %y : tensor<?x8xf32>, tensor<8x128xf32> -> tensor<?x128xf32>
  return %0 : tensor<?x128xf32>
}

// Rows are items of a row reduction.
// CHECK-LABEL: plan.program @rows inputs
// CHECK: %[[N:.*]] = plan.dim input 0, 0
// CHECK: plan.launch @rows_0({{.*}}) sizes(%[[N]]) over %[[N]]
func.func @rows(%x: tensor<?x8xf32>) -> tensor<?xf32> {
  %0 = graph.reduce <max> %x axes [1] : tensor<?x8xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Blocks of 1024 rows are items of a column reduction; a length that is known to fit one block needs no fold.
// CHECK-LABEL: plan.program @columns inputs
// CHECK-DAG: %[[N:.*]] = plan.dim input 0, 0
// CHECK-DAG: %[[BLOCK:.*]] = arith.constant 1024 : index
// CHECK: arith.ceildivsi %[[N]], %[[BLOCK]] : index
// CHECK: plan.launch @columns_0(
// CHECK: plan.launch @columns_0_fold(
// CHECK-LABEL: plan.program @columns_known inputs
// CHECK: plan.launch
// CHECK-NOT: plan.launch
// CHECK: plan.return
func.func @columns(%x: tensor<?x8xf32>) -> tensor<8xf32> {
  %0 = graph.reduce <max> %x axes [0] : tensor<?x8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @columns_known(%x: tensor<1024x8xf32>) -> tensor<8xf32> {
  %0 = graph.reduce <max> %x axes [0] : tensor<1024x8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: plan.program @nothing inputs [] outputs [] {
// CHECK-NEXT: plan.return sizes()
func.func @nothing() {
  return
}

// What is read for the last time only where the result is written becomes the result: a temporary at once, an input as its
// owner allows. What is read elsewhere too does not, nor what has another type.
// CHECK-LABEL: plan.program @reuse
// CHECK: plan.call "sort"({{.*}}) to %[[A:[0-9]+]] :
// CHECK: plan.call "sort"({{.*}}) to %[[C:[0-9]+]] :
// CHECK-NOT: plan.alloc
// CHECK: plan.launch @reuse_{{[0-9]}}(%[[A]], %[[C]], %[[C]] :
// CHECK: plan.return %[[C]] :
func.func @reuse(%x: tensor<5x5xf32>) -> tensor<5x5xf32> {
  %a = graph.library "sort" %x params [0] : tensor<5x5xf32> -> tensor<5x5xf32>
  %c = graph.library "sort" %x params [1] : tensor<5x5xf32> -> tensor<5x5xf32>
  %0 = graph.transpose %a permutation [1, 0] : tensor<5x5xf32> -> tensor<5x5xf32>
  %1 = graph.add %0, %c : tensor<5x5xf32>
  return %1 : tensor<5x5xf32>
}
// CHECK-LABEL: plan.program @other_type
// CHECK-NOT: donor
// CHECK: plan.return
func.func @other_type(%x: tensor<?x?xf32>) -> tensor<?x?xf64> {
  %0 = graph.cast %x : tensor<?x?xf32> -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}
// CHECK-LABEL: plan.program @turned
// CHECK-NOT: donor
// CHECK: plan.return
func.func @turned(%x: tensor<5x5xf32>) -> tensor<5x5xf32> {
  %0 = graph.transpose %x permutation [1, 0] : tensor<5x5xf32> -> tensor<5x5xf32>
  %1 = graph.add %0, %x : tensor<5x5xf32>
  return %1 : tensor<5x5xf32>
}
