#include "compiler/emit/cpu/CodeParts.h"

#include "runtime/base/Threads.h"
#include "runtime/base/Trace.h"

#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/TargetSelect.h"

using namespace graphc;
using namespace graphc::emit;

static Result<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine(llvm::StringRef features) {
  auto create = [](llvm::StringRef list) {
    return makeMachine("x86_64-unknown-linux-gnu", "x86-64", list, llvm::CodeGenOptLevel::Default);
  };
  GRAPHC_ASSIGN(auto baseline, create(""));
  std::string list;
  for (llvm::StringRef feature : llvm::split(features, ',')) {
    // Which processor it is, and nothing that is used.
    if (feature.empty() || feature == "sse4a" || feature == "avx512fp16" ||
        feature == "avx512vp2intersect")
      continue;
    // LLVM ignores an unknown feature with a line on stderr.
    if (llvm::none_of(baseline->getMCSubtargetInfo()->getAllProcessorFeatures(),
                      [&](const llvm::SubtargetFeatureKV &known) { return feature == known.Key; }))
      return Status(ErrorCode::InvalidArgument, "[cpu] unknown CPU feature '" + feature.str() +
                                                    "'; features are LLVM's names, such as avx2");
    list += (list.empty() ? "+" : ",+") + feature.str();
  }
  return create(list);
}

Result<llvm::TargetMachine *> Coder::machine(const std::string &features) {
  auto &machine = machines[features];
  if (!machine) {
    GRAPHC_ASSIGN(machine, makeTargetMachine(features));
  }
  return machine.get();
}

Result<CodeGenerator *> Coder::generator(const std::string &features, llvm::CodeGenFileType kind,
                                         bool counted) {
  auto &generator = generators[{features, kind, counted}];
  if (!generator) {
    GRAPHC_ASSIGN(llvm::TargetMachine * target, machine(features));
    GRAPHC_ASSIGN(generator, CodeGenerator::make(*target, kind, counted));
  }
  return generator.get();
}

/// What the code of a function is made for: functions with the same share LLVM's subtarget.
static void addTuning(llvm::Function &function) {
  function.addFnAttr("prefer-vector-width", "512");
  function.addFnAttr("tune-cpu", "skylake-avx512");
}

Coders &Coders::ofProcess() {
  // Never destroyed: exit may come while a thread compiles.
  static Coders *current = nullptr;
  static int owner = 0;
  int self = llvm::sys::Process::getProcessId();
  if (owner != self) {
    current = new Coders;
    owner = self;
  }
  return *current;
}

void Coders::begin(std::string wanted) {
  if (!made.empty())
    return;
  features = std::move(wanted);
  extend(1);
  ready = false;
  auto entry = [](void *coders) -> void * {
    static_cast<Coders *>(coders)->prepare();
    return nullptr;
  };
  if (!startThread(entry, this, thread.emplace(), kStackBytes)) {
    thread.reset();
    ready = true;
  }
}

void Coders::extend(size_t count) {
  if (made.empty()) {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  }
  while (made.size() < count)
    made.push_back(std::make_unique<Coder>());
}

void Coders::join() {
  if (thread)
    pthread_join(*thread, nullptr);
  thread.reset();
}

void Coders::prepare() {
  Coder &first = *made.front();
  const llvm::TargetInstrInfo *instructions = nullptr;
  llvm::LLVMContext context;
  llvm::Module module("graphc", context);
  Result<llvm::TargetMachine *> machine = first.machine(features);
  if (machine && first.generator(features, llvm::CodeGenFileType::ObjectFile, /*counted=*/true)) {
    auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
    auto *function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "first", module);
    addTuning(*function);
    instructions = (*machine)->getSubtargetImpl(*function)->getInstrInfo();
  }
  {
    std::lock_guard lock(mutex);
    ready = true;
  }
  changed.notify_all();
  // Sorts thousands of instructions, for which the first function waits only when it comes there.
  if (instructions)
    (void)instructions->getOpcodeAfterMemoryUnfold(0, /*UnfoldLoad=*/true, /*UnfoldStore=*/false);
}

llvm::SmallVector<Coder *> Coders::get(size_t threads) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return ready; });
  extend(threads);
  llvm::SmallVector<Coder *> result;
  for (size_t i = 0; i < threads; ++i)
    result.push_back(made[i].get());
  return result;
}

void emit::prepare(llvm::Module &module, llvm::TargetMachine &machine) {
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple());
  for (llvm::Function &function : module) {
    if (function.isIntrinsic())
      continue;
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.setDSOLocal(true);
    if (function.isDeclaration())
      continue;
    addTuning(function);
    // Registers that are spilled would straddle cache lines otherwise: LLVM finds out that there
    // are some when it is too late to keep a frame pointer.
    function.addFnAttr("stackrealign");
    function.addFnAttr(
        llvm::Attribute::getWithStackAlignment(function.getContext(), llvm::Align(64)));
  }
  llvm::StringRef features = machine.getTargetFeatureString();
  unsigned bits = features.contains("+avx512f") ? 512 : features.contains("+avx") ? 256 : 128;
  optimize(module, machine, /*combine=*/true, bits);
}

PartQueue::PartQueue(llvm::ArrayRef<Coder *> coders, std::string features)
    : coders(coders), features(std::move(features)) {}

PartQueue::~PartQueue() {
  {
    std::lock_guard lock(mutex);
    waiting.clear();
    complete = true;
  }
  changed.notify_all();
  for (pthread_t thread : threads)
    pthread_join(thread, nullptr);
}

/// When the system grants fewer threads than wanted, the others do their work.
void PartQueue::startThread() {
  auto entry = [](void *queue) -> void * {
    auto *self = static_cast<PartQueue *>(queue);
    size_t mine;
    {
      std::lock_guard lock(self->mutex);
      mine = ++self->started;
    }
    self->work(*self->coders[mine], /*waits=*/true);
    return nullptr;
  };
  pthread_t thread;
  if (graphc::startThread(entry, this, thread, kStackBytes))
    threads.push_back(thread);
}

void PartQueue::add(CodePart &part) {
  bool wantsThread;
  {
    std::lock_guard lock(mutex);
    waiting.push_back(&part);
    wantsThread = waiting.size() > idle;
  }
  if (wantsThread && threads.size() + 1 < coders.size())
    startThread();
  changed.notify_one();
}

void PartQueue::finish() {
  {
    std::lock_guard lock(mutex);
    complete = true;
  }
  changed.notify_all();
  work(*coders.front(), /*waits=*/false);
  for (pthread_t thread : threads)
    pthread_join(thread, nullptr);
  threads.clear();
}

void PartQueue::work(Coder &coder, bool waits) {
  std::unique_lock lock(mutex);
  while (true) {
    if (waits) {
      ++idle;
      changed.wait(lock, [&] { return complete || !waiting.empty(); });
      --idle;
    }
    if (waiting.empty())
      return;
    CodePart &part = *waiting.front();
    waiting.pop_front();
    lock.unlock();
    part.status = compile(coder, part);
    lock.lock();
  }
}

Status PartQueue::compile(Coder &coder, CodePart &part) {
  GRAPHC_ASSIGN(llvm::TargetMachine * machine, coder.machine(features));
  GRAPHC_ASSIGN(CodeGenerator * generator,
                coder.generator(features, llvm::CodeGenFileType::ObjectFile, part.counted));
  {
    TraceSpan span("compile", "optimize");
    prepare(*part.module, *machine);
  }
  TraceSpan span("compile", "generate code");
  part.object = generator->run(*part.module);
  part.module.reset();
  part.context.reset();
  return Status::ok();
}
