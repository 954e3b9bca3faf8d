//===- Math.h - The meaning of every elementwise op -------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_MATH_H
#define GRAPHC_COMPILER_MATH_MATH_H

#include "compiler/math/Builder.h"
#include "compiler/math/Convert.h"
#include "compiler/math/DivideConst.h"
#include "compiler/math/ErrorFunction.h"
#include "compiler/math/Exp.h"
#include "compiler/math/FloatDivide.h"
#include "compiler/math/Gamma.h"
#include "compiler/math/Hyperbolic.h"
#include "compiler/math/Integer.h"
#include "compiler/math/InverseTrig.h"
#include "compiler/math/Log.h"
#include "compiler/math/Pow.h"
#include "compiler/math/Random.h"
#include "compiler/math/Roots.h"
#include "compiler/math/Samplers.h"
#include "compiler/math/Select.h"
#include "compiler/math/Trig.h"

#endif // GRAPHC_COMPILER_MATH_MATH_H
