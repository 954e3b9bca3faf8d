//===- Commands.h - The sub-commands of graphc ------------------------------------------------===//
#ifndef GRAPHC_TOOLS_GRAPHC_COMMANDS_H
#define GRAPHC_TOOLS_GRAPHC_COMMANDS_H

#include "runtime/base/Status.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace graphc::cli {

/// Exit statuses; part of the interface.
enum Exit : int {
  kOk = 0,
  kBadInput = 1,
  kUsage = 2,
  kNoDevice = 3,
  kMismatch = 4,
  kNoMemory = 5,
  kInternal = 70,
  kInterrupted = 130,
};

/// What the chosen sub-command does; set by the parser, run after it.
using Action = std::function<int()>;

void addCompile(CLI::App &app, Action &action);
void addRun(CLI::App &app, Action &action);
void addInspect(CLI::App &app, Action &action);
void addDevices(CLI::App &app, Action &action);
void addCache(CLI::App &app, Action &action);

/// Prints an error to stderr and returns the exit status for its code. Messages that already have
/// the form "file:line:col: error: ..." are printed as they are, others after `subject`.
int report(const Status &status, const std::string &subject);

/// The bytes of a file; "-" is the standard input.
Result<std::vector<uint8_t>> readFile(const std::string &path);
/// Replaces a file in one step; "-" is the standard output. The pieces are written one after the
/// other.
Status writeFile(const std::string &path, std::span<const std::span<const uint8_t>> pieces);

} // namespace graphc::cli

#endif // GRAPHC_TOOLS_GRAPHC_COMMANDS_H
