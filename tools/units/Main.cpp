//===- Main.cpp - Writes the file of programs that come with the compiler ---------------------===//
#include "frontends/record/UnitPack.h"

#include <cstdio>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: graphc-units FILE\n");
    return 2;
  }
  graphc::Status status = graphc::writeUnitPack(argv[1]);
  if (!status)
    std::fprintf(stderr, "graphc-units: %s\n", status.message().c_str());
  return status ? 0 : 1;
}
