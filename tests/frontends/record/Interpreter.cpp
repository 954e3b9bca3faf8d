#include "tests/frontends/record/Interpreter.h"

#include <bit>

namespace graphc::test {
namespace {

using Sizes = std::vector<int64_t>;

int64_t countOf(const Sizes &shape) {
  int64_t n = 1;
  for (int64_t s : shape)
    n *= s;
  return n;
}

/// Calls fn(position) for every position of a shape, in row-major order.
template <typename Fn>
void forEach(const Sizes &shape, Fn fn) {
  Sizes at(shape.size(), 0);
  for (int64_t n = countOf(shape); n > 0; --n) {
    fn(at);
    for (size_t i = shape.size(); i-- > 0 && ++at[i] == shape[i];)
      at[i] = 0;
  }
}

int64_t flat(const Sizes &shape, const Sizes &at) {
  int64_t index = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    index = index * shape[i] + at[i];
  return index;
}

struct Tensor {
  Sizes shape;
  Values values;
};

class Machine {
public:
  Machine(const Segment &segment, std::string &error)
      : segment(segment), graph(segment.graph(false)), error(error) {}

  std::vector<Values> run(const std::vector<Values> &inputs) {
    for (size_t i = 0; i < inputs.size(); ++i)
      tensors.push_back({concrete(graph.inputs[i].shape), inputs[i]});
    for (const op::NodeDesc &node : graph.nodes)
      tensors.push_back(compute(node));
    std::vector<Values> out;
    for (uint32_t v : graph.outputs)
      out.push_back(tensors[v].values);
    return out;
  }

private:
  Sizes concrete(std::span<const op::Extent> extents) const {
    Sizes out;
    for (op::Extent e : extents)
      out.push_back(op::isSymbol(e) ? segment.symbols[op::symbolOf(e)] : e);
    return out;
  }

  Tensor compute(const op::NodeDesc &node) {
    Tensor out{concrete(node.shape), {}};
    out.values.resize(static_cast<size_t>(countOf(out.shape)));
    size_t n = 0;
    auto each = [&](auto fn) {
      forEach(out.shape, [&](const Sizes &at) { out.values[n++] = fn(at); });
    };
    auto operand = [&](size_t i) -> const Tensor & { return tensors[node.operands[i]]; };
    switch (node.kind) {
    case op::OpKind::Full: {
      double v = std::bit_cast<double>(node.attrs[0]);
      each([&](const Sizes &) { return v; });
      return out;
    }
    case op::OpKind::Iota:
      each([&](const Sizes &at) { return static_cast<double>(at[0]); });
      return out;
    case op::OpKind::Add:
      each([&](const Sizes &) { return operand(0).values[n] + operand(1).values[n]; });
      return out;
    case op::OpKind::Mul:
      each([&](const Sizes &) { return operand(0).values[n] * operand(1).values[n]; });
      return out;
    case op::OpKind::Reshape:
      out.values = operand(0).values;
      return out;
    default:
      return move(node, std::move(out));
    }
  }

  Tensor move(const op::NodeDesc &node, Tensor out) {
    const Tensor &x = tensors[node.operands[0]];
    size_t n = 0;
    auto from = [&](auto map) {
      forEach(out.shape, [&](const Sizes &at) {
        out.values[n++] = x.values[static_cast<size_t>(flat(x.shape, map(at)))];
      });
    };
    if (op::BroadcastAttrs a; node.kind == op::OpKind::Broadcast && a.decode(node.attrs)) {
      from([&](const Sizes &at) {
        Sizes source;
        for (size_t i = 0; i < a.dims.size(); ++i)
          source.push_back(x.shape[i] == 1 ? 0 : at[static_cast<size_t>(a.dims[i])]);
        return source;
      });
    } else if (op::TransposeAttrs t; node.kind == op::OpKind::Transpose && t.decode(node.attrs)) {
      from([&](const Sizes &at) {
        Sizes source(at.size());
        for (size_t i = 0; i < at.size(); ++i)
          source[static_cast<size_t>(t.permutation[i])] = at[i];
        return source;
      });
    } else if (op::SliceAttrs s; node.kind == op::OpKind::Slice && s.decode(node.attrs)) {
      Sizes starts = concrete(s.starts);
      from([&](const Sizes &at) {
        Sizes source;
        for (size_t i = 0; i < at.size(); ++i)
          source.push_back(starts[i] + at[i] * s.steps[i]);
        return source;
      });
    } else if (op::UpdateSliceAttrs u;
               node.kind == op::OpKind::UpdateSlice && u.decode(node.attrs)) {
      out.values = x.values;
      const Tensor &value = tensors[node.operands[1]];
      Sizes starts = concrete(u.starts);
      forEach(value.shape, [&](const Sizes &at) {
        Sizes target;
        for (size_t i = 0; i < at.size(); ++i)
          target.push_back(starts[i] + at[i] * u.steps[i]);
        out.values[static_cast<size_t>(flat(out.shape, target))] = value.values[n++];
      });
    } else {
      error = "no meaning for " + std::string(op::opInfo(node.kind).name);
    }
    return out;
  }

  const Segment &segment;
  op::GraphDesc graph;
  std::string &error;
  std::vector<Tensor> tensors;
};

} // namespace

std::vector<Values> interpret(const Segment &segment, const std::vector<Values> &inputs,
                              std::string &error) {
  return Machine(segment, error).run(inputs);
}

Values valueOf(const NodeRef &node, std::string &error) {
  auto snapshot = Snapshot::take({&node, 1}, false);
  if (!snapshot) {
    error = snapshot.status().message();
    return {};
  }
  std::unordered_map<const Node *, Values> known;
  for (size_t i = 0; i < snapshot->segmentCount(); ++i) {
    Segment segment = snapshot->build(i);
    std::vector<Values> inputs;
    for (const NodeRef &input : segment.inputs)
      inputs.push_back(known[input.get()]);
    std::vector<Values> outputs = interpret(segment, inputs, error);
    for (size_t k = 0; k < outputs.size(); ++k)
      known[segment.outputs[k].get()] = std::move(outputs[k]);
  }
  return known[node.get()];
}

} // namespace graphc::test
