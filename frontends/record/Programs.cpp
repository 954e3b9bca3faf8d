// From a segment to the program that computes it.
#include "compiler/api/Loader.h"
#include "frontends/record/Constants.h"
#include "frontends/record/FloatErrors.h"
#include "frontends/record/Interpret.h"
#include "frontends/record/SelfTest.h"
#include "frontends/record/Session.h"
#include "frontends/record/UnitPack.h"
#include "runtime/base/Fork.h"
#include "runtime/base/Trace.h"
#include "runtime/drivers/Choice.h"
#include "runtime/drivers/Drivers.h"
#include "runtime/exec/ProgramStore.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <unordered_map>

namespace graphc {
namespace {

std::atomic<int64_t> kernelCount{0};
/// So many evaluations of small values cost less than compiling what computes them, or loading it.
constexpr int kSeldom = 256;
/// Code for a product takes several times as long to compile.
constexpr int kSeldomOfProducts = 1024;
/// Nor is anything compiled before so much time went by: compiling takes several times as long.
constexpr int64_t kWorthCompiling = 5'000'000;
/// Of larger values fewer: each so many bytes count as one evaluation more.
constexpr int64_t kHeavy = 32 << 10;
/// Programs on more bytes that lie on the disk are loaded sooner than computed otherwise.
constexpr int64_t kWorthLoading = 256 << 10;

/// Keys of the programs of segments that were met before, so that the canonical bytes are written
/// once. Programs are held by ProgramStore, which may forget them.
class KnownKeys {
public:
  static KnownKeys &instance() {
    static auto *known = new KnownKeys; // in use until the process ends
    return *known;
  }
  std::optional<Digest> find(const Digest &segment) {
    std::lock_guard lock(mutex);
    auto it = keys.find(segment);
    return it == keys.end() ? std::nullopt : std::optional(it->second);
  }
  void add(const Digest &segment, const Digest &key) {
    std::lock_guard lock(mutex);
    if (keys.size() >= kMost)
      keys.clear();
    keys.insert_or_assign(segment, key);
  }

private:
  static constexpr size_t kMost = 1 << 16;
  ForkSafeMutex mutex;
  std::unordered_map<Digest, Digest> keys;
};

/// How often a segment without a program was met.
class Meetings {
public:
  static Meetings &instance() {
    static auto *met = new Meetings; // in use until the process ends
    return *met;
  }
  struct Entry {
    int times = 0;
    int64_t nanos = 0; ///< that its interpretations took
    int64_t least = 0; ///< that one took for each part of its weight; 0 before the first
  };
  /// As many meetings as `weight` says.
  Entry count(const Digest &segment, int64_t weight) {
    std::lock_guard lock(mutex);
    if (entries.size() >= kMost)
      entries.clear();
    Entry &now = entries[segment];
    now.times = static_cast<int>(std::min<int64_t>(now.times + weight, kMostTimes));
    return now;
  }
  /// One that other processes kept waiting counts as a few like it; products grow as the power 3/2
  /// of their bytes.
  void took(const Digest &segment, int weight, int64_t nanos) {
    constexpr double kMostOfLeast = 8;
    std::lock_guard lock(mutex);
    auto it = entries.find(segment);
    if (it == entries.end())
      return;
    int64_t &least = it->second.least;
    const int64_t each = std::max<int64_t>(nanos / weight, 1);
    least = least ? std::min(least, each) : each;
    const double most = kMostOfLeast * static_cast<double>(least) * std::pow(weight, 1.5);
    it->second.nanos += std::min(nanos, static_cast<int64_t>(std::min(most, 1e18)));
  }

private:
  static constexpr size_t kMost = 1 << 14;
  static constexpr int64_t kMostTimes = 1 << 20;
  ForkSafeMutex mutex;
  std::unordered_map<Digest, Entry> entries;
};

/// Everything that decides the program: the structure, the device, and the literals that are no
/// arguments.
Digest segmentDigest(const Segment &segment, const Digest &structure, const rt::Device &device) {
  thread_local std::vector<uint64_t> words;
  words = {structure.low, structure.high, reinterpret_cast<uintptr_t>(&device)};
  for (const SegmentCode::Literal &literal : segment.code.literals) {
    words.push_back(literal.isArgument);
    words.push_back(literal.isArgument ? 0 : literal.bits);
  }
  return digestOf(
      std::span(reinterpret_cast<const uint8_t *>(words.data()), words.size() * sizeof(uint64_t)));
}

/// What decides the program of a graph.
struct Wanted {
  std::vector<uint8_t> graph; ///< its canonical bytes
  std::vector<uint8_t> key;   ///< these with the device and the compiler
  Digest digest;              ///< of the key

  Wanted(const op::GraphDesc &desc, rt::Device &device) {
    op::appendCanonicalBytes(desc, graph);
    key = rt::ProgramStore::key(graph, compilerBuildId(), device);
    digest = digestOf(key);
  }
};

/// From memory, or one that came with the compiler.
std::shared_ptr<rt::LoadedProgram> inMemory(const Wanted &wanted, rt::Device &device) {
  rt::ProgramStore &store = rt::ProgramStore::instance();
  auto program = store.find(wanted.digest);
  if (!program && (program = packedProgram(wanted.graph, device)))
    store.keep(wanted.digest, program);
  return program;
}

Programs compileFor(std::span<const op::GraphDesc> graphs, rt::Device &device) {
  auto compiler = loadCompiler();
  if (!compiler)
    return {}; // told when one of them is asked for alone
  TargetDesc target{device.info().target, device.info().features};
  CompileOptions options;
  // Also of another device's code; the cpu is always there.
  options.threads = static_cast<unsigned>(rt::findDevice("cpu").take()->info().threads);
  return (*compiler)->compile(graphs, target, options);
}

void countKernels(const rt::LoadedProgram &program) {
  kernelCount.fetch_add(static_cast<int64_t>(program.program().kernels().size()),
                        std::memory_order_relaxed);
}

Result<std::shared_ptr<rt::LoadedProgram>>
makeProgram(const Segment &segment, std::span<const uint8_t> key, rt::Device &device) {
  TraceSpan span("record", "program");
  bool compiled = false;
  auto compile = [&]() -> Result<std::vector<uint8_t>> {
    compiled = true;
    GRAPHC_TRY(loadCompiler().takeStatus());
    const op::GraphDesc graph = segment.graph(true);
    return std::move(compileFor({&graph, 1}, device).front());
  };
  auto program = rt::ProgramStore::instance().get(key, device, "main", compile);
  if (program && compiled)
    countKernels(**program);
  return program;
}

bool isFastProduct(const op::NodeDesc &node) {
  op::MatmulAttrs attrs;
  return node.kind == op::OpKind::Matmul && attrs.decode(node.attrs) && attrs.fast;
}

} // namespace

/// Settles what decides the program, and gives the structure.
static Digest settled(Segment &segment) {
  // What literals become is learnt once, however values are watched: segments are settled again.
  bool isWatched = segment.code.watch != op::Watch::None;
  Digest structure = segment.code.structure(isWatched ? op::Watch::Values : op::Watch::None);
  promoteLiterals(segment, structure);
  if (segment.code.watch == op::Watch::Values && tellingOf(structure) == Telling::Operations)
    segment.code.watch = op::Watch::Operations;
  return segment.code.watch == op::Watch::Operations ? segment.code.structure() : structure;
}

Result<std::shared_ptr<rt::LoadedProgram>> programFor(Segment &segment, rt::Device &device) {
  Digest structure = settled(segment);
  return programOf(segment, structure, device);
}

static std::shared_ptr<rt::LoadedProgram> stored(const Segment &segment, const Digest &digest,
                                                 rt::Device &device) {
  const Wanted wanted(segment.graph(false), device);
  auto program = inMemory(wanted, device);
  if (!program)
    program = rt::ProgramStore::instance().stored(wanted.key, device);
  if (program)
    KnownKeys::instance().add(digest, wanted.digest);
  return program;
}

std::shared_ptr<rt::LoadedProgram> knownProgram(Segment &segment, rt::Device &device, Met &met) {
  met = {0, segmentDigest(segment, settled(segment), device), 1};
  int64_t bytes = 0;
  for (const auto *nodes : {&segment.inputs, &segment.outputs})
    for (const NodeRef &n : *nodes)
      bytes += n->bytes();
  if (auto key = KnownKeys::instance().find(met.segment))
    if (auto program = rt::ProgramStore::instance().find(*key))
      return program;
  const auto weight = static_cast<int>(1 + bytes / kHeavy);
  const auto [now, nanos, least] = Meetings::instance().count(met.segment, weight);
  met.weight = weight;
  const int seldom = segment.has(op::OpKind::Matmul) ? kSeldomOfProducts : kSeldom;
  if (now > seldom && nanos > kWorthCompiling)
    return nullptr;
  met.times = std::max(1, now / weight);
  const bool isFirst = now == weight && bytes >= kWorthLoading;
  const bool isOften = now > seldom && now - weight <= seldom;
  return isFirst || isOften ? stored(segment, met.segment, device) : nullptr;
}

void tookToInterpret(const Met &met, int64_t nanos) {
  Meetings::instance().took(met.segment, met.weight, nanos);
}

std::shared_ptr<rt::LoadedProgram> storedProgram(Segment &segment, rt::Device &device) {
  return stored(segment, segmentDigest(segment, settled(segment), device), device);
}

Result<std::shared_ptr<rt::LoadedProgram>> programOf(const Segment &segment,
                                                     const Digest &structure, rt::Device &device) {
  Digest known = segmentDigest(segment, structure, device);
  if (auto key = KnownKeys::instance().find(known))
    if (auto program = rt::ProgramStore::instance().find(*key))
      return program;
  op::GraphDesc graph = segment.graph(false);
  GRAPHC_TRY(selfTest(device, std::ranges::any_of(graph.nodes, isFastProduct)));
  const Wanted wanted(graph, device);
  auto program = inMemory(wanted, device);
  if (!program) {
    GRAPHC_ASSIGN(program, makeProgram(segment, wanted.key, device));
  }
  KnownKeys::instance().add(known, wanted.digest);
  return program;
}

/// Whether a segment has a program that runs, and it is not in memory.
static bool isMissing(Segment &segment, rt::Device &device) {
  auto key = KnownKeys::instance().find(segmentDigest(segment, settled(segment), device));
  return !key || !rt::ProgramStore::instance().contains(*key);
}

size_t compileAhead(const Snapshot &snapshot, size_t first, Segment &segment, rt::Device &device,
                    bool mayInterpret) {
  constexpr size_t kTogether = 16; // whose modules the compiler holds at a time
  const size_t end = std::min(snapshot.segmentCount(), first + kTogether);
  auto wants = [&](const Segment &s) {
    return !s.outputs.empty() && !computesNothing(s) && (!mayInterpret || isTooLarge(s));
  };
  const rt::DeviceInfo &info = device.info();
  if (end - first < 2 || info.target != program::Target::Cpu || info.threads < 2 ||
      rt::choicesOf(device) || !wants(segment) || !isMissing(segment, device))
    return first + 1;
  std::vector<Segment> segments;
  for (size_t i = first; i < end; ++i)
    if (Segment s = snapshot.build(i); wants(s)) {
      settled(s); // their literals become what those of all of them make of them
      segments.push_back(std::move(s));
    }
  std::vector<const Segment *> missing;
  std::vector<std::vector<uint8_t>> keys;
  for (Segment &s : segments)
    if (isMissing(s, device))
      if (Wanted wanted(s.graph(false), device); !inMemory(wanted, device)) {
        missing.push_back(&s);
        keys.push_back(std::move(wanted.key));
      }
  TraceSpan span("record", "programs");
  auto compile = [&](std::span<const size_t> numbers) {
    std::vector<op::GraphDesc> graphs;
    for (size_t number : numbers)
      graphs.push_back(missing[number]->graph(true));
    return compileFor(graphs, device);
  };
  if (keys.size() > 1)
    for (const auto &program : rt::ProgramStore::instance().prepare(keys, device, "main", compile))
      countKernels(*program);
  return end;
}

int64_t kernelsCompiled() { return kernelCount.load(std::memory_order_relaxed); }

} // namespace graphc
