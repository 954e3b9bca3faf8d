#include "frontends/record/SelfTest.h"

#include "compiler/api/Loader.h"
#include "frontends/record/Record.h"
#include "frontends/record/Session.h"
#include "runtime/base/Setting.h"
#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"
#include "runtime/drivers/Drivers.h"
#include "runtime/exec/ProgramStore.h"
#include "runtime/exec/SelfTest.h"

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>

namespace graphc {
namespace {

using op::OpKind;
using op::ReduceKind;
using strings::format;

Setting selfTestSetting{
    "GRAPHC_SELF_TEST",
    "whether devices other than the cpu are tested before their first use: on or off", "on"};

/// More than one block of every tree.
constexpr int64_t kCount = 8200;

/// Programs on one device with what they must give.
class Answers {
public:
  explicit Answers(rt::Device &device) : device(device) {}

  /// Empty when all are right; an error when it could not be tried. `fast`: only fast products.
  Result<std::string> check(bool fast) {
    GRAPHC_TRY(fast ? products() : record());
    std::vector<NodeRef> roots;
    for (const Case &c : cases)
      roots.push_back(c.node);
    GRAPHC_TRY(computeNow(roots, device));
    for (const Case &c : cases) {
      std::vector<char> bytes(static_cast<size_t>(c.node->bytes()));
      const rt::BufferRef &buffer = c.node->buffer();
      GRAPHC_TRY(buffer->device().queue().download(bytes.data(), *buffer, c.node->bytes()));
      for (size_t i = 0; i < c.want.size(); ++i)
        if (double got = valueAt(bytes, c.node->dtype(), i); got != c.want[i])
          return format("{} gave {} instead of {}", c.what, got, c.want[i]);
    }
    return std::string();
  }

private:
  struct Case {
    std::string what;
    NodeRef node;
    std::vector<double> want;
  };

  static double valueAt(const std::vector<char> &bytes, DType dtype, size_t i) {
    if (dtype == DType::Bool)
      return bytes[i];
    if (dtype == DType::Int64) {
      int64_t v = 0;
      std::memcpy(&v, bytes.data() + i * sizeof v, sizeof v);
      return static_cast<double>(v);
    }
    float v = 0;
    std::memcpy(&v, bytes.data() + i * sizeof v, sizeof v);
    return v;
  }
  Result<NodeRef> make(OpKind kind, std::initializer_list<NodeRef> x) {
    return node::make(kind, {x.begin(), x.size()}, {}, {}, device);
  }
  Result<NodeRef> number(const NodeRef &like, double value) {
    bool isInteger = like->dtype() == DType::Int64;
    op::Scalar s =
        isInteger ? op::Scalar::ofInt(static_cast<int64_t>(value)) : op::Scalar::ofFloat(value);
    GRAPHC_ASSIGN(NodeRef n, node::scalar(s, like->dtype(), device));
    return node::broadcast(n, like->shape());
  }
  Result<NodeRef> counted(DType dtype, const Shape &shape) {
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    GRAPHC_ASSIGN(NodeRef n, node::make(OpKind::Iota, {}, {}, {dtype, Shape{count}}, device));
    return node::reshape(n, shape);
  }
  void add(std::string what, NodeRef node, std::vector<double> want) {
    cases.push_back({std::move(what), std::move(node), std::move(want)});
  }

  Status record() {
    GRAPHC_TRY(sums());
    GRAPHC_TRY(integers());
    GRAPHC_TRY(functions());
    return movement();
  }
  /// Trees and scans over several blocks.
  Status sums() {
    GRAPHC_ASSIGN(NodeRef x, counted(DType::Int64, Shape{kCount}));
    GRAPHC_ASSIGN(NodeRef sum, node::reduce(ReduceKind::Sum, x, {0}));
    add("a sum", std::move(sum), {kCount * (kCount - 1) / 2.0});
    GRAPHC_ASSIGN(NodeRef running, node::scan(ReduceKind::Sum, x, 0));
    std::vector<double> want;
    for (double i = 0; i < kCount; ++i)
      want.push_back(i * (i + 1) / 2);
    add("a running sum", std::move(running), std::move(want));
    return Status::ok();
  }
  Status integers() {
    GRAPHC_ASSIGN(NodeRef x, counted(DType::Int64, Shape{200}));
    GRAPHC_ASSIGN(NodeRef shift, number(x, -100));
    GRAPHC_ASSIGN(NodeRef seven, number(x, 7));
    GRAPHC_ASSIGN(x, make(OpKind::Add, {x, shift}));
    GRAPHC_ASSIGN(NodeRef rest, make(OpKind::Remainder, {x, seven}));
    GRAPHC_ASSIGN(NodeRef quotient, make(OpKind::FloorDivide, {x, seven}));
    std::vector<double> rests, quotients;
    for (int64_t i = -100; i < 100; ++i) {
      rests.push_back(static_cast<double>(((i % 7) + 7) % 7));
      quotients.push_back(std::floor(static_cast<double>(i) / 7));
    }
    add("a remainder", std::move(rest), std::move(rests));
    add("a floor division", std::move(quotient), std::move(quotients));
    return Status::ok();
  }
  /// NaN wins, and values near 0 are not lost.
  Status functions() {
    GRAPHC_ASSIGN(NodeRef x, counted(DType::Float32, Shape{kCount}));
    GRAPHC_ASSIGN(NodeRef place, number(x, 77));
    GRAPHC_ASSIGN(NodeRef nan, number(x, std::nan("")));
    GRAPHC_ASSIGN(NodeRef isThere, make(OpKind::Equal, {x, place}));
    GRAPHC_ASSIGN(NodeRef mixed, make(OpKind::Select, {isThere, nan, x}));
    GRAPHC_ASSIGN(NodeRef most, node::reduce(ReduceKind::Max, mixed, {0}));
    GRAPHC_ASSIGN(most, make(OpKind::IsNan, {most}));
    add("the maximum beside a NaN", std::move(most), {1});
    GRAPHC_ASSIGN(NodeRef small, number(x, 0x1p-30));
    GRAPHC_ASSIGN(NodeRef log, make(OpKind::Log1p, {small}));
    add("log1p", std::move(log), std::vector<double>(kCount, 0x1p-30));
    GRAPHC_ASSIGN(NodeRef zero, number(x, -0.0));
    GRAPHC_ASSIGN(NodeRef one, make(OpKind::Exp, {zero}));
    GRAPHC_ASSIGN(one, make(OpKind::Div, {one, one}));
    add("exp", std::move(one), std::vector<double>(kCount, 1.0));
    return Status::ok();
  }
  Status movement() {
    constexpr int64_t kRows = 100, kColumns = 82;
    GRAPHC_ASSIGN(NodeRef a, counted(DType::Float32, Shape{kRows, kColumns}));
    GRAPHC_ASSIGN(NodeRef turned, node::transpose(a, {1, 0}));
    GRAPHC_ASSIGN(NodeRef most, node::reduce(ReduceKind::Max, a, {1}));
    std::vector<double> moved, last;
    for (int64_t j = 0; j < kColumns; ++j)
      for (int64_t i = 0; i < kRows; ++i)
        moved.push_back(static_cast<double>(i * kColumns + j));
    for (int64_t i = 0; i < kRows; ++i)
      last.push_back(static_cast<double>(i * kColumns + kColumns - 1));
    add("a transposition", std::move(turned), std::move(moved));
    add("a maximum of rows", std::move(most), std::move(last));
    return Status::ok();
  }

  /// A few tiles, and as many as the kernels of large products begin with.
  Status products() {
    GRAPHC_TRY(product("a fast product", 256, 256));
    return product("a large fast product", 1536, 2048);
  }
  /// Numbers of which every sum is exact in bfloat16, in any order: -1, 0, 1 in turn, and so many
  /// that the stages of large products are filled again.
  Status product(const char *what, int64_t rows, int64_t columns) {
    constexpr int64_t kDepth = 328, kTurn = 3;
    auto operand = [&](const Shape &shape) -> Result<NodeRef> {
      GRAPHC_ASSIGN(NodeRef x, counted(DType::Int64, shape));
      GRAPHC_ASSIGN(NodeRef three, number(x, kTurn));
      GRAPHC_ASSIGN(x, make(OpKind::Remainder, {x, three}));
      GRAPHC_ASSIGN(NodeRef one, number(x, -1));
      GRAPHC_ASSIGN(x, make(OpKind::Add, {x, one}));
      return node::cast(x, DType::BFloat16);
    };
    GRAPHC_ASSIGN(NodeRef left, operand({rows, kDepth}));
    GRAPHC_ASSIGN(NodeRef right, operand({kDepth, columns}));
    op::MatmulAttrs attrs;
    attrs.fast = 1;
    NodeRef both[] = {left, right};
    GRAPHC_ASSIGN(NodeRef product, node::make(OpKind::Matmul, both, attrs.encode(), {}, device));
    GRAPHC_ASSIGN(product, node::cast(product, DType::Float32));
    double sums[kTurn][kTurn] = {};
    for (int64_t i = 0; i < kTurn; ++i)
      for (int64_t j = 0; j < kTurn; ++j)
        for (int64_t k = 0; k < kDepth; ++k)
          sums[i][j] +=
              static_cast<double>(((i * kDepth + k) % kTurn - 1) * ((k * columns + j) % kTurn - 1));
    std::vector<double> want;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        want.push_back(sums[i % kTurn][j % kTurn]);
    add(what, std::move(product), std::move(want));
    return Status::ok();
  }

  rt::Device &device;
  std::vector<Case> cases;
};

thread_local bool isTesting = false;

/// One form of code; what is wrong with it, or nothing.
Result<std::string> verdictOn(rt::Device &device, std::string_view form, bool fast) {
  std::string_view id = compilerBuildId();
  std::string key = format("{}{}", form, fast ? " of fast products" : "");
  if (auto known = rt::selfTestVerdict(device, key, id))
    return *known;
  TraceSpan span("record", "self-test");
  isTesting = true;
  auto found = Answers(device).check(fast);
  isTesting = false;
  std::string verdict;
  if (found)
    verdict = found.take();
  else if (ErrorCode code = found.status().code();
           code == ErrorCode::Compile || code == ErrorCode::Unsupported)
    verdict = found.status().message();
  else
    return found.takeStatus(); // says nothing about the form
  rt::rememberSelfTest(device, key, id, verdict);
  return verdict;
}

Status testForms(rt::Device &device, bool fast) {
  for (;;) {
    std::string_view form = fast ? device.productForm() : device.codeForm();
    if (fast && form.empty())
      return Status::ok();
    GRAPHC_ASSIGN(std::string verdict, verdictOn(device, form, fast));
    if (verdict.empty())
      return Status::ok();
    std::string text = format("[{}] {} fails its self-test with code in the form '{}': {}",
                              device.info().name, device.info().description, form, verdict);
    if (!device.refuseCodeForm(form))
      return Status(ErrorCode::Unsupported, text + "; GRAPHC_SELF_TEST=off uses it all the same");
    // What is loaded has the refused form.
    rt::ProgramStore::instance().clearMemory();
    emitEvent(EventLevel::Warning, "device", text + "; another form is used");
  }
}

} // namespace

Status selfTest(rt::Device &device, bool fast) {
  if (isTesting || device.codeForm().empty())
    return Status::ok();
  struct Passed {
    bool exact = false, fast = false;
  };
  static std::mutex mutex;
  static auto *passed = new std::map<rt::Device *, Passed>; // used until the process ends
  std::lock_guard lock(mutex);
  Passed &known = (*passed)[&device];
  if (selfTestSetting.get() == "off")
    return Status::ok();
  if (!known.exact)
    GRAPHC_TRY(testForms(device, /*fast=*/false));
  known.exact = true;
  if (!fast || known.fast)
    return Status::ok();
  GRAPHC_TRY(testForms(device, /*fast=*/true));
  GRAPHC_TRY(testForms(device, /*fast=*/false)); // the form may be another one now
  known.fast = true;
  return Status::ok();
}

Result<rt::Device *> findTested(std::string_view name) {
  static std::atomic<bool> isSettled{false}; // calls name their devices again and again
  std::string meant = name.empty() ? rt::defaultDeviceName() : std::string(name);
  while (!isSettled.load(std::memory_order_acquire) && (meant == "gpu" || meant == "auto")) {
    auto found = rt::findDevice("gpu");
    Status status = found ? selfTest(**found, /*fast=*/false) : Status::ok();
    isSettled.store(status && !isTesting, std::memory_order_release);
    if (status || status.code() != ErrorCode::Unsupported)
      break; // other errors are told by the first program
    // Several threads may have found the same GPU: one of them says so.
    if (rt::passOver(**found, status.message()))
      emitEvent(EventLevel::Warning, "device", status.message() + "; the next GPU is used");
  }
  return rt::findDevice(name);
}

} // namespace graphc
