#include "compiler/emit/cpu/CodeParts.h"

#include "llvm/MC/MCSubtargetInfo.h"

#include <csignal>

using namespace graphc;
using namespace graphc::emit;

/// LLVM goes down into long expressions; without a limit of its own a process gives threads little.
static constexpr size_t kStackBytes = size_t{8} << 20;

static Result<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine(llvm::StringRef features) {
  auto create = [](llvm::StringRef list) {
    return makeMachine("x86_64-unknown-linux-gnu", "x86-64", list, llvm::CodeGenOptLevel::Default);
  };
  GRAPHC_ASSIGN(auto baseline, create(""));
  std::string list;
  for (llvm::StringRef feature : llvm::split(features, ',')) {
    // Which processor it is, and nothing that is used.
    if (feature.empty() || feature == "sse4a" || feature == "avx512fp16")
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

Result<CodeGenerator *> Coder::generator(const std::string &features, llvm::CodeGenFileType kind) {
  auto &generator = generators[{features, kind}];
  if (!generator) {
    GRAPHC_ASSIGN(llvm::TargetMachine * target, machine(features));
    GRAPHC_ASSIGN(generator, CodeGenerator::make(*target, kind));
  }
  return generator.get();
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
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr("tune-cpu", "skylake-avx512");
    // Registers that are spilled would straddle cache lines otherwise: LLVM finds out that there
    // are some when it is too late to keep a frame pointer.
    function.addFnAttr("stackrealign");
    function.addFnAttr(
        llvm::Attribute::getWithStackAlignment(function.getContext(), llvm::Align(64)));
  }
  optimize(module, machine);
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
void PartQueue::start() {
  // Signals belong to the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
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
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  for (size_t i = 1; i < coders.size(); ++i)
    if (pthread_create(&thread, &attributes, entry, this) == 0)
      threads.push_back(thread);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void PartQueue::add(CodePart &part) {
  {
    std::lock_guard lock(mutex);
    waiting.push_back(&part);
  }
  if (threads.empty() && coders.size() > 1)
    start();
  changed.notify_one();
}

Status PartQueue::finish() {
  {
    std::lock_guard lock(mutex);
    complete = true;
  }
  changed.notify_all();
  work(*coders.front(), /*waits=*/false);
  for (pthread_t thread : threads)
    pthread_join(thread, nullptr);
  threads.clear();
  return std::move(failure);
}

void PartQueue::work(Coder &coder, bool waits) {
  std::unique_lock lock(mutex);
  while (true) {
    if (waits)
      changed.wait(lock, [&] { return complete || !waiting.empty(); });
    if (waiting.empty())
      return;
    CodePart &part = *waiting.front();
    waiting.pop_front();
    lock.unlock();
    Status status = compile(coder, part);
    lock.lock();
    if (!status && failure) {
      failure = std::move(status);
      waiting.clear();
    }
  }
}

Status PartQueue::compile(Coder &coder, CodePart &part) {
  GRAPHC_ASSIGN(llvm::TargetMachine * machine, coder.machine(features));
  GRAPHC_ASSIGN(CodeGenerator * generator,
                coder.generator(features, llvm::CodeGenFileType::ObjectFile));
  prepare(*part.module, *machine);
  part.object = generator->run(*part.module);
  part.module.reset();
  part.context.reset();
  return Status::ok();
}
