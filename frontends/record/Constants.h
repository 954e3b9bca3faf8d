//===- Constants.h - Which literals are arguments ---------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_CONSTANTS_H
#define GRAPHC_FRONTENDS_RECORD_CONSTANTS_H

#include "frontends/record/Snapshot.h"

namespace graphc {

/// The constant rule. A float literal is part of the structure at first. When the same structure
/// comes back with another value of it, that literal is an argument from then on: the program is
/// compiled a second time and never again. Exponents and integers stay constants, because they
/// change the code; so do divisors for their first three values, since a program that knows one
/// divides faster, but not so much that each were worth a program; streams and keys of random
/// numbers are arguments from the first time. Remembers structures for the process; thread-safe.
/// `structure` is code.structure(); fills segment.literals.
void promoteLiterals(Segment &segment, const Digest &structure);
/// Forgets all structures (tests).
void forgetLiterals();

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_CONSTANTS_H
