//===- Compile.cpp - graphc compile -----------------------------------------------------------===//
#include "compiler/api/Loader.h"
#include "runtime/base/Strings.h"
#include "runtime/drivers/Drivers.h"
#include "runtime/drivers/cpu/CpuFeatures.h"
#include "runtime/program/Archive.h"
#include "runtime/program/Reader.h"
#include "tools/graphc/Commands.h"

#include <memory>

namespace graphc::cli {
namespace {

struct Options {
  std::string input;
  std::string output;
  std::vector<std::string> targets{"cpu"};
  std::string emit;
  std::string cpuFeatures;
  std::string openclFeatures;
  std::string numerics = "exact";
  bool verify = false;
};

TargetDesc describeTarget(const std::string &name, const Options &options) {
  TargetDesc target;
  target.fastProducts = options.numerics == "fast";
  if (name == "cpu") {
    target.kind = program::Target::Cpu;
    target.features =
        options.cpuFeatures.empty() ? rt::cpu::allowedFeatures() : options.cpuFeatures;
    if (target.features == "none")
      target.features.clear();
    return target;
  }
  // Without an OpenCL device here, code is made for one that has everything a GPU of today has.
  target.kind = program::Target::OpenCL;
  std::string features = "fp64";
  if (!options.openclFeatures.empty())
    features = options.openclFeatures == "none" ? "" : options.openclFeatures;
  else if (auto device = rt::findDevice("opencl"))
    features = (*device)->info().features;
  // The target's name is a form of code; what the features say of forms chooses its version.
  std::string form = name == "opencl" ? "c" : name == "spirv" ? "spirv1.2" : "sm_90";
  for (std::string_view feature : strings::split(features, ',')) {
    bool isForm = feature == "c" || feature.starts_with("spirv") || feature.starts_with("sm_");
    if (isForm && feature.substr(0, 2) == form.substr(0, 2))
      form = feature;
    else if (!isForm && !feature.empty())
      target.features += strings::format("{},", feature);
  }
  target.features += form;
  return target;
}

/// The target whose stage is printed.
std::string targetOfStage(const Options &options) {
  if (options.emit == "opencl" || options.emit == "spirv" || options.emit == "ptx")
    return options.emit;
  return options.emit == "asm" || options.emit == "llvm" ? "cpu" : options.targets[0];
}

int compile(const Options &options) {
  std::string name = options.input == "-" ? "<stdin>" : options.input;
  auto source = readFile(options.input);
  if (!source)
    return report(source.status(), name);
  std::string_view text(reinterpret_cast<const char *>(source->data()), source->size());
  // MLIR's bytecode reader is not safe on files of others, and its parser would accept such a file
  // silently.
  if (text.starts_with("ML\xefR") || text.find('\0') != std::string_view::npos)
    return report({ErrorCode::InvalidArgument, "this is not MLIR text (bytecode is not accepted)"},
                  name);
  auto compiler = loadCompiler();
  if (!compiler)
    return report(compiler.status(), "graphc");
  if (!options.emit.empty()) {
    TargetDesc target = describeTarget(targetOfStage(options), options);
    auto stage = (*compiler)->printStageText(text, name, target, options.emit);
    if (!stage)
      return report(stage.status(), name);
    std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t *>(stage->data()), stage->size());
    Status written = writeFile(options.output.empty() ? "-" : options.output, std::span(&bytes, 1));
    return written ? kOk : report(written, name);
  }
  std::vector<std::vector<uint8_t>> programs;
  CompileOptions compileOptions;
  compileOptions.verifyPhases = options.verify;
  for (const std::string &target : options.targets) {
    auto blob =
        (*compiler)->compileText(text, name, describeTarget(target, options), compileOptions);
    if (!blob)
      return report(blob.status(), name);
    if (auto checked = program::Program::parse(*blob); !checked)
      return report({ErrorCode::Internal, checked.status().message()}, name);
    programs.push_back(blob.take());
  }
  auto archive = program::writeArchive(programs);
  if (!archive)
    return report(archive.status(), name);
  std::span<const uint8_t> bytes(*archive);
  Status written = writeFile(options.output, std::span(&bytes, 1));
  return written ? kOk : report(written, options.output);
}

} // namespace

void addCompile(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand("compile", "compile MLIR text to a program");
  command
      ->add_option("input", options->input,
                   "file with one function in the graph dialect; - is stdin")
      ->required();
  command->add_option("-o,--output", options->output, "program file (.gco); - is stdout");
  command
      ->add_option("--target", options->targets,
                   "cpu, opencl (OpenCL C), spirv, ptx; several separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"cpu", "opencl", "spirv", "ptx"}));
  command->add_option("--emit", options->emit, "print a stage instead of writing a program")
      ->check(CLI::IsMember({"graph", "kernel", "schedule", "plan", "lower", "llvm", "asm",
                             "opencl", "spirv", "ptx", "explain"}));
  command->add_option(
      "--cpu-features", options->cpuFeatures,
      "LLVM features of the cpu target (default: those of this CPU; none: baseline)");
  command->add_option(
      "--opencl-features", options->openclFeatures,
      "fp64, cpu or gpu, straight, groups1024, tickets, ordered, ptx90, wgmma, tensormaps, "
      "dependent, and "
      "forms of code: "
      "c, "
      "spirv1.0, spirv1.2, sm_90 (default: those of the first OpenCL device; none)");
  command
      ->add_option("--numerics", options->numerics,
                   "exact, or fast: tensor cores may sum products of 16-bit floats in any order")
      ->check(CLI::IsMember({"exact", "fast"}));
  command->add_flag("--verify", options->verify, "verify the program at every phase border");
  command->footer("examples:\n  graphc compile f.mlir -o f.gco --target=cpu,opencl\n"
                  "  graphc compile f.mlir --emit=kernel");
  command->callback([options, &action] {
    if (options->emit.empty() && options->output.empty())
      throw CLI::ValidationError("--output", "-o or --emit is required");
    action = [options] { return compile(*options); };
  });
}

} // namespace graphc::cli
