//===- Run.cpp - graphc run -------------------------------------------------------------------===//
#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"
#include "runtime/drivers/Drivers.h"
#include "runtime/exec/Executor.h"
#include "runtime/program/Archive.h"
#include "tools/graphc/Commands.h"
#include "tools/graphc/Compare.h"
#include "tools/graphc/Npy.h"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace graphc::cli {
namespace {

using strings::format;
using strings::jsonQuote;

struct Options {
  std::string program;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> checks;
  std::vector<int64_t> sizes;
  std::string device;
  int repeat = 1;
  double rtol = 0;
  double atol = 0;
  bool time = false;
  bool sum = false;
  bool json = false;
};

struct Timings {
  double loadMs = 0;
  std::vector<double> runsMs;
};

double milliseconds(int64_t since) { return static_cast<double>(TraceSpan::now() - since) / 1e6; }

/// An output on the host.
struct HostArray {
  DType dtype;
  Shape shape;
  std::vector<uint8_t> bytes;
};

// Loads the first member of the archive that the device can run.
Result<std::unique_ptr<rt::LoadedProgram>> loadFor(rt::Device &device,
                                                   std::span<const uint8_t> file) {
  GRAPHC_ASSIGN(auto members, program::readArchive(file));
  Status last;
  for (const program::ArchiveMember &m : members) {
    if (m.target != device.info().target && device.info().runsKernels)
      continue;
    auto loaded = rt::load({m.blob.begin(), m.blob.end()}, device);
    if (loaded || loaded.status().code() != ErrorCode::Unsupported)
      return loaded;
    last = loaded.takeStatus();
  }
  if (!last)
    return Status(ErrorCode::Device, last.message());
  return Status(ErrorCode::Device, format("the program was not compiled for {} (--target={})",
                                          device.info().name, targetName(device.info().target)));
}

Result<rt::Tensor> loadInput(const std::string &path, rt::Device &device) {
  GRAPHC_ASSIGN(std::vector<uint8_t> file, readFile(path));
  GRAPHC_ASSIGN(NpyHeader header, parseNpy(file, path));
  int64_t bytes = *byteCount(header.shape, header.dtype);
  GRAPHC_ASSIGN(rt::BufferRef buffer, device.allocate(bytes));
  GRAPHC_TRY(device.queue().upload(*buffer, file.data() + header.dataOffset, bytes));
  return rt::Tensor{std::move(buffer), header.dtype, std::move(header.shape)};
}

Result<HostArray> download(const rt::Tensor &t) {
  HostArray array{t.dtype, t.shape, {}};
  array.bytes.resize(static_cast<size_t>(*byteCount(t.shape, t.dtype)));
  GRAPHC_TRY(t.buffer->device().queue().download(array.bytes.data(), *t.buffer,
                                                 static_cast<int64_t>(array.bytes.size())));
  return array;
}

Status execute(const Options &options, const rt::LoadedProgram &program, Timings &timings,
               std::vector<HostArray> &results) {
  rt::Queue &queue = program.device().queue();
  std::vector<rt::Tensor> inputs, outputs;
  for (const std::string &path : options.inputs) {
    GRAPHC_ASSIGN(rt::Tensor input, loadInput(path, program.device()));
    inputs.push_back(std::move(input));
  }
  for (int i = 0; i < options.repeat; ++i) {
    // The previous outputs go first, so that their memory serves this run.
    outputs.clear();
    int64_t start = TraceSpan::now();
    GRAPHC_TRY(rt::run(program, inputs, options.sizes, outputs));
    GRAPHC_TRY(queue.finish());
    timings.runsMs.push_back(milliseconds(start));
  }
  for (const rt::Tensor &t : outputs) {
    GRAPHC_ASSIGN(HostArray array, download(t));
    results.push_back(std::move(array));
  }
  return Status::ok();
}

Status writeOutputs(const Options &options, const std::vector<HostArray> &results) {
  for (size_t i = 0; i < options.outputs.size(); ++i) {
    std::vector<uint8_t> header = npyHeader(results[i].dtype, results[i].shape);
    std::span<const uint8_t> pieces[] = {header, results[i].bytes};
    GRAPHC_TRY(writeFile(options.outputs[i], pieces));
  }
  return Status::ok();
}

// The differences found, one line each; empty when everything agrees.
Result<std::string> checkOutputs(const Options &options, const std::vector<HostArray> &results) {
  std::string differences;
  for (size_t i = 0; i < options.checks.size(); ++i) {
    GRAPHC_ASSIGN(std::vector<uint8_t> file, readFile(options.checks[i]));
    GRAPHC_ASSIGN(NpyHeader header, parseNpy(file, options.checks[i]));
    const HostArray &got = results[i];
    if (header.dtype != got.dtype || !(header.shape == got.shape)) {
      differences += format("output {} is {} {}, {} has {} {}\n", i, dtypeName(got.dtype),
                            shapeText(got.shape), options.checks[i], dtypeName(header.dtype),
                            shapeText(header.shape));
      continue;
    }
    std::string difference =
        compareArrays(got.dtype, got.shape, got.bytes.data(), file.data() + header.dataOffset,
                      {options.rtol, options.atol});
    if (!difference.empty())
      differences += format("output {} differs from {}: {}\n", i, options.checks[i], difference);
  }
  return differences;
}

std::string summary(const Options &options, const rt::LoadedProgram &program,
                    const Timings &timings, const std::vector<HostArray> &results) {
  std::string outputs, runs;
  for (size_t i = 0; i < results.size(); ++i) {
    const HostArray &r = results[i];
    const program::Program &p = program.program();
    std::string name(p.text(p.outputs()[i].name));
    if (name.empty())
      name = format("out{}", i);
    std::string sum = options.sum ? sumText(r.dtype, r.shape, r.bytes.data()) : "";
    if (options.json) {
      std::string dims;
      for (size_t d = 0; d < r.shape.size(); ++d)
        dims += format("{}{}", d ? "," : "", r.shape[d]);
      outputs += format("{}{{\"name\":{},\"dtype\":\"{}\",\"shape\":[{}]{}}}", i ? "," : "",
                        jsonQuote(name), dtypeName(r.dtype), dims,
                        options.sum ? format(",\"sum\":{}", jsonQuote(sum)) : "");
    } else {
      outputs += format("{}: {} {}{}\n", name, dtypeName(r.dtype), shapeText(r.shape),
                        options.sum ? ", sum " + sum : "");
    }
  }
  for (double ms : timings.runsMs)
    runs += format("{}{:.6f}", runs.empty() ? "" : ",", ms);
  if (options.json)
    return format("{{\"device\":{},\"load_ms\":{:.6f},\"runs_ms\":[{}],\"outputs\":[{}]}}\n",
                  jsonQuote(program.device().info().name), timings.loadMs, runs, outputs);
  std::string text = outputs;
  if (options.time) {
    std::vector<double> sorted = timings.runsMs;
    std::sort(sorted.begin(), sorted.end());
    text += format("{}: load {:.3f} ms, run min {:.3f} ms, median {:.3f} ms, first {:.3f} ms ({} "
                   "run{})\n",
                   program.device().info().name, timings.loadMs, sorted.front(),
                   sorted[sorted.size() / 2], timings.runsMs.front(), sorted.size(),
                   sorted.size() == 1 ? "" : "s");
  }
  return text;
}

int runCommand(const Options &options) {
  auto device = rt::findDevice(options.device);
  if (!device)
    return report(device.status(), "graphc");
  auto file = readFile(options.program);
  if (!file)
    return report(file.status(), options.program);
  Timings timings;
  int64_t start = TraceSpan::now();
  auto program = loadFor(**device, *file);
  timings.loadMs = milliseconds(start);
  if (!program)
    return report(program.status(), options.program);
  size_t count = (*program)->program().outputs().size();
  if (options.outputs.size() > count || options.checks.size() > count)
    return report({ErrorCode::InvalidArgument,
                   format("the program has {} output{}", count, count == 1 ? "" : "s")},
                  options.program);
  std::vector<HostArray> results;
  if (Status status = execute(options, **program, timings, results); !status)
    return report(status, options.program);
  if (Status status = writeOutputs(options, results); !status)
    return report(status, options.program);
  auto differences = checkOutputs(options, results);
  if (!differences)
    return report(differences.status(), options.program);
  bool toStdout =
      std::find(options.outputs.begin(), options.outputs.end(), "-") != options.outputs.end();
  bool wanted = options.json || options.time || options.sum || options.outputs.empty();
  std::string text = wanted ? summary(options, **program, timings, results) : "";
  std::fputs(text.c_str(), toStdout ? stderr : stdout);
  if (!differences->empty()) {
    std::fputs(differences->c_str(), stderr);
    return kMismatch;
  }
  return kOk;
}

} // namespace

void addRun(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand("run", "run a program on .npy files");
  command->add_option("program", options->program, "program file (.gco); - is stdin")->required();
  command->add_option("inputs", options->inputs, "one .npy file for each input");
  command
      ->add_option("-o,--output", options->outputs, "a .npy file for the next output; - is stdout")
      ->allow_extra_args(false);
  command->add_option("--device", options->device,
                      "cpu, cuda, opencl, opencl:N, gpu, null (default: GRAPHC_DEVICE, else cpu)");
  command->add_option("--repeat", options->repeat, "how often to run")
      ->check(CLI::Range(1, 1000000000));
  command->add_option("--size", options->sizes, "a size argument, in order")
      ->allow_extra_args(false);
  command
      ->add_option("--check", options->checks,
                   "a .npy file that the next output must equal; exit status 4 if not")
      ->allow_extra_args(false);
  command->add_option("--rtol", options->rtol,
                      "relative difference that --check allows (default 0)");
  command->add_option("--atol", options->atol,
                      "absolute difference that --check allows (default 0)");
  command->add_flag("--time", options->time, "print times of loading and running");
  command->add_flag("--sum", options->sum, "print the sum of each output");
  command->add_flag("--json", options->json, "print JSON");
  command->footer("example:\n  graphc run f.gco x.npy -o y.npy --device=opencl --time");
  command->callback([options, &action] { action = [options] { return runCommand(*options); }; });
}

} // namespace graphc::cli
