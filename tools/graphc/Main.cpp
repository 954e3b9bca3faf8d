//===- Main.cpp - The graphc program ----------------------------------------------------------===//
#include "compiler/api/Loader.h"
#include "runtime/base/Setting.h"
#include "runtime/base/Strings.h"
#include "runtime/program/Program.h"
#include "tools/graphc/Commands.h"

#include <csignal>
#include <cstdio>
#include <unistd.h>

using namespace graphc;

namespace {

// Output files are put in place by rename, so nothing half-written stays but a temporary file.
void onInterrupt(int) { _exit(cli::kInterrupted); }

std::string versionText() {
  std::string_view id = compilerBuildId();
  return strings::format("graphc {}\nprogram format {}\ncompiler {}", GRAPHC_VERSION,
                         program::kVersion, id.empty() ? std::string_view("not found") : id);
}

void warnAboutSettings() {
  for (const UnknownSetting &s : unknownSettings())
    if (!s.nearest.empty())
      std::fprintf(stderr, "graphc: warning: no setting is called %s; did you mean %s?\n",
                   s.name.c_str(), s.nearest.c_str());
}

} // namespace

int main(int argc, char **argv) {
  std::signal(SIGINT, onInterrupt);
  CLI::App app{"graphc compiles and runs array programs", "graphc"};
  app.require_subcommand(1);
  app.set_version_flag("--version", versionText);
  app.footer("exit status: 0 fine, 1 bad input, 2 usage, 3 no device, 4 results differ, 5 out of "
             "memory,\n  70 internal error, 130 interrupted");
  cli::Action action;
  cli::addCompile(app, action);
  cli::addRun(app, action);
  cli::addInspect(app, action);
  cli::addDevices(app, action);
  cli::addCache(app, action);
  // CLI11 reports by exceptions; they end here.
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? cli::kOk : cli::kUsage;
  }
  warnAboutSettings();
  int status = action();
  if (std::fflush(stdout) != 0 && status == cli::kOk) {
    std::fprintf(stderr, "graphc: error: cannot write to the standard output\n");
    return cli::kBadInput;
  }
  return status;
}
