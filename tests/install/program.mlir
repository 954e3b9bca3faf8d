// y = x * x + x, for the consumer of an installed graphc.
func.func @main(%x: tensor<?xf64>) -> tensor<?xf64> {
  %0 = graph.mul %x, %x : tensor<?xf64>
  %1 = graph.add %0, %x : tensor<?xf64>
  return %1 : tensor<?xf64>
}
