func.func @main(%x: tensor<?xf64>) -> tensor<?xf64> {
  %0 = graph.fma %x, %x, %x : tensor<?xf64>
  return %0 : tensor<?xf64>
}
