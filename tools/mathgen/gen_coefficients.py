#!/usr/bin/env python3
"""Writes compiler/math/Coefficients.h: polynomial coefficients and constants split into parts.

Needs `sollya` (Debian package of that name). The output is checked in; run this only to change it:

    python3 tools/mathgen/gen_coefficients.py > compiler/math/Coefficients.h && clang-format -i compiler/math/Coefficients.h

Every polynomial is relative-error minimax (fpminimax) with the listed leading terms fixed. The comment above each array
in the output gives the function, the interval and the error of the polynomial itself, before rounding.
"""

import math
import struct
import subprocess
import sys
from dataclasses import dataclass, field
from fractions import Fraction

HALF_LN2 = "(log(2)/2*1.002)"
QUARTER_PI = "(pi/4*1.002)"
EULER = "0.57721566490153286060651209008240243104215933593992359880576723488486772677766467"


def bernoulli(count: int) -> list[Fraction]:
    """B_0, B_1, ... up to `count` - 1."""
    b = [Fraction(1)]
    for m in range(1, count):
        b.append(-sum(math.comb(m + 1, k) * b[k] for k in range(m)) / (m + 1))
    return b


def zeta_minus_1(k: int, bits: int = 220) -> Fraction:
    """By Euler and Maclaurin's formula after 30 terms, truncated to `bits`."""
    n, numbers = 30, bernoulli(42)
    total = sum(Fraction(1, i**k) for i in range(2, n)) + Fraction(1, 2 * n**k) + Fraction(1, (k - 1) * n ** (k - 1))
    rising = Fraction(k)
    for j in range(1, 21):
        total += numbers[2 * j] / math.factorial(2 * j) * rising / n ** (k + 2 * j - 1)
        rising *= (k + 2 * j - 1) * (k + 2 * j)
    return Fraction(int(total * 2**bits), 2**bits)


def log_gamma_near_2() -> str:
    """log gamma(2 + x) as its series about x = 0, which converges within |x| < 2."""
    terms = [f"(1-{EULER})*x"]
    terms += [f"{'-' if k % 2 else ''}({zeta_minus_1(k).numerator}/{zeta_minus_1(k).denominator})/{k}*x^{k}" for k in range(2, 64)]
    return "(" + "+".join(f"({t})" for t in terms) + ")"


def stirling() -> str:
    """log gamma(1/x) without its leading terms: an asymptotic series, good to 2^-70 for x <= 1/8."""
    numbers = bernoulli(46)
    terms = [f"({numbers[2 * k].numerator}/{numbers[2 * k].denominator})/{2 * k * (2 * k - 1)}*x^{2 * k - 1}" for k in range(1, 23)]
    return "(" + "+".join(f"({t})" for t in terms) + ")"


# (1 + 2 y) erfc(y) e^(y^2) where x = (y - k) / (y + k)
ERFCX = "(1+2*({k}*(1+x)/(1-x)))*exp(({k}*(1+x)/(1-x))^2)*erfc({k}*(1+x)/(1-x))"
SQRT_LO, SQRT_HI = "(sqrt(1/2)-1-1b-20)", "(sqrt(2)-1+1b-20)"


@dataclass
class Poly:
    """Coefficients of `name`: target ~ fixed + sum of c[i] * x^monomials[i], x in [lo, hi]."""

    name: str
    bits: int  # 24 or 53
    target: str
    monomials: list[int]
    lo: str
    hi: str
    fixed: str = "0"
    fixed_terms: str = ""
    first_formats: list[str] = field(default_factory=list)  # e.g. "DD" for a leading double-double
    title: str = ""  # the target in the comment, where its expression is long


def run_sollya(source: str) -> list[str]:
    # sollya's exit status tells of warnings, so the output is checked instead.
    result = subprocess.run(["sollya", "--warnonstderr"], input=source + 'print("END");', capture_output=True, text=True)
    lines = [line for line in result.stdout.splitlines() if line.strip() and not line.startswith(("The precision", "Display mode"))]
    if not lines or lines[-1] != "END" or any("error" in line for line in lines):
        raise RuntimeError(f"sollya failed on: {source}\n{result.stdout}{result.stderr}")
    return lines[:-1]


def fit(poly: Poly) -> tuple[str, list[str]]:
    """Returns the relative error as text and the coefficients as sollya expressions in hexadecimal."""
    formats = poly.first_formats + [str(poly.bits)] * (len(poly.monomials) - len(poly.first_formats))
    monomials = "|".join(["", ",".join(map(str, poly.monomials)), ""])
    lines = run_sollya(
        f"prec=300;f={poly.target};c={poly.fixed};"
        f"p=fpminimax(f,[{monomials}],[|{','.join(formats)}|],[{poly.lo};{poly.hi}],floating,relative,c);"
        f'display=decimal;print(round(log2(dirtyinfnorm(p/f-1,[{poly.lo};{poly.hi}])),20,RN));print("COEFFICIENTS");'
        f"display=hexadecimal!;" + "".join(f"print(coeff(p,{m})-coeff(c,{m}));" for m in poly.monomials)
    )
    at = lines.index("COEFFICIENTS")
    return lines[at - 1], lines[at + 1 :]


def split(value: str, widths: list[int], down: bool = False) -> list[str]:
    """value = sum of parts, part i rounded to widths[i] bits; down: parts but the last toward zero."""
    source = f"prec=2000;display=hexadecimal!;v={value};"
    for i, width in enumerate(widths):
        source += f"h=round(v,{width},{'RZ' if down and i + 1 < len(widths) else 'RN'});print(h);v=v-h;"
    return run_sollya(source)


def hexfloat(text: str, bits: int) -> str:
    return text.strip() + ("f" if bits == 24 else "")


def r(*args: int) -> list[int]:
    return list(range(*args))


POLYS = [
    # exp(x) = 1 + x + x^2 P(x)
    Poly("kExpF32", 24, "exp(x)", r(2, 7), f"-{HALF_LN2}", HALF_LN2, "1+x", "1 + x"),
    Poly("kExpF64", 53, "exp(x)", r(2, 12), f"-{HALF_LN2}", HALF_LN2, "1+x", "1 + x"),
    # expm1(x) = x + x^2 P(x)
    Poly("kExpm1F32", 24, "expm1(x)", r(2, 8), f"-{HALF_LN2}", HALF_LN2, "x", "x"),
    Poly("kExpm1F64", 53, "expm1(x)", r(2, 13), f"-{HALF_LN2}", HALF_LN2, "x", "x"),
    # log1p(x) = x - x^2/2 + x^3 P(x)
    Poly("kLogF32", 24, "log1p(x)", r(3, 11), SQRT_LO, SQRT_HI, "x-x^2/2", "x - x^2 / 2"),
    Poly("kLogF64", 53, "log1p(x)", r(3, 22), SQRT_LO, SQRT_HI, "x-x^2/2", "x - x^2 / 2"),
    # sin(x) = x + x^3 P(x^2), cos(x) = 1 - x^2/2 + x^4 P(x^2)
    Poly("kSinF32", 24, "sin(x)", r(3, 8, 2), "1b-6", QUARTER_PI, "x", "x"),
    Poly("kCosF32", 24, "cos(x)", r(4, 9, 2), "1b-4", QUARTER_PI, "1-x^2/2", "1 - x^2 / 2"),
    Poly("kSinF64", 53, "sin(x)", r(3, 14, 2), "1b-6", QUARTER_PI, "x", "x"),
    Poly("kCosF64", 53, "cos(x)", r(4, 15, 2), "1b-4", QUARTER_PI, "1-x^2/2", "1 - x^2 / 2"),
    # tanh(x) = x + x^3 P(x^2) up to the crossing (Hyperbolic.h); of f32 in pieces
    Poly("kTanhF64", 53, "tanh(x)", r(3, 32, 2), "1b-6", "1", "x", "x"),
    # log2((1 + s) / (1 - s)) = (2 s + 2 s^3 / 3) / ln 2 + s^5 P(s^2)
    Poly("kPowLogF32", 24, "log((1+x)/(1-x))/log(2)", r(5, 10, 2), "1b-5", "0.1718", "(2*x+2*x^3/3)/log(2)",
         "(2 x + 2 x^3 / 3) / ln 2"),
    Poly("kPowLogF64", 53, "log((1+x)/(1-x))/log(2)", r(5, 20, 2), "1b-5", "0.1718", "(2*x+2*x^3/3)/log(2)",
         "(2 x + 2 x^3 / 3) / ln 2"),
    # 2^x = 1 + x P(x)
    Poly("kExp2F32", 24, "2^x", r(1, 7), "-0.5", "0.5", "1", "1"),
    Poly("kExp2F64", 53, "2^x", r(1, 12), "-0.5", "0.5", "1", "1"),
    # asin and atan on the reduced range (InverseTrig.h)
    Poly("kAsinF32", 24, "asin(x)", r(3, 13, 2), "1b-6", "0.5", "x", "x"),
    Poly("kAsinF64", 53, "asin(x)", r(3, 27, 2), "1b-6", "0.5", "x", "x"),
    Poly("kAtanF32", 24, "atan(x)", r(3, 13, 2), "1b-6", "0.4143", "x", "x"),
    Poly("kAtanF64", 53, "atan(x)", r(3, 25, 2), "1b-6", "0.4143", "x", "x"),
    # sinh(x) = x + x^3 P(x^2), cosh(x) = 1 + x^2 / 2 + x^4 P(x^2)
    Poly("kSinhF32", 24, "sinh(x)", r(3, 8, 2), "1b-6", HALF_LN2, "x", "x"),
    Poly("kSinhF64", 53, "sinh(x)", r(3, 12, 2), "1b-6", HALF_LN2, "x", "x"),
    Poly("kCoshF32", 24, "cosh(x)", r(4, 7, 2), "1b-4", HALF_LN2, "1+x^2/2", "1 + x^2 / 2"),
    Poly("kCoshF64", 53, "cosh(x)", r(4, 13, 2), "1b-4", HALF_LN2, "1+x^2/2", "1 + x^2 / 2"),
    # erf(x) = x + x P(x^2), and the scaled complement (ErrorFunction.h)
    Poly("kErfF32", 24, "erf(x)", r(1, 14, 2), "1b-6", "0.9", "x", "x"),
    Poly("kErfF64", 53, "erf(x)", r(1, 24, 2), "1b-6", "0.9", "x", "x"),
    Poly("kErfcxF32", 24, ERFCX.format(k="2"), r(0, 12), "-1", "(10.1-2)/(10.1+2)", "1.25", "1.25"),
    Poly("kErfcxF64", 53, ERFCX.format(k="2.5"), r(0, 24), "-1", "(27.3-2.5)/(27.3+2.5)", "1.25", "1.25"),
    # log gamma(2 + x) = c x + x^2 P(x), and what Stirling's leading terms leave (Gamma.h)
    Poly("kGammaF32", 24, log_gamma_near_2(), r(2, 11), "-0.5", "0.5", f"(1-{EULER})*x", "(1 - Euler's constant) x",
         title="log gamma(2 + x)"),
    Poly("kGammaF64", 53, log_gamma_near_2(), r(2, 22), "-0.5", "0.5", f"(1-{EULER})*x", "(1 - Euler's constant) x",
         title="log gamma(2 + x)"),
    Poly("kStirlingF32", 24, stirling(), r(1, 6, 2), "1b-6", "1/8", title="log gamma(1 / x) less its leading terms"),
    Poly("kStirlingF64", 53, stirling(), r(1, 18, 2), "1b-6", "1/8", title="log gamma(1 / x) less its leading terms"),
]


@dataclass
class Pieces:
    """An odd function that is 1 in float32 from `last` on, in sixteen pieces (Pieces.h). `peak`: where the number of the
    piece would begin to fall; the nearer it is to `last`, the longer are the pieces there."""

    name: str
    function: str
    degree: int
    last: float
    peak: float


PIECES = [
    Pieces("kTanhPiecesF32", "tanh", 6, 9.02, 9.6),
    Pieces("kErfPiecesF32", "erf", 5, 3.925, 5.0),
]
COUNT, AT_ZERO = 16, 2  # pieces; those whose centre is zero
# The float near `middle` whose value is nearest to a float, the first that is within 2^-33.
SEARCH = """best=1;c=0;for k from 0 to 1500 do {{ for s from 0 to 1 do {{ if (best>1b-33) then {{
y=round({middle!r}+(1-2*s)*{span!r}*(k/1500)^2,24,RN);v={function}(y);r=abs(round(v,24,RN)/v-1);if (r<best) then {{ best=r;c=y; }}; }}; }}; }};"""


def f32(x: float) -> float:
    return struct.unpack("f", struct.pack("f", x))[0]


def shortest(value: float) -> str:
    mantissa, exponent = value.hex().split("p")
    return f"{mantissa.rstrip('0')}p{int(exponent)}f"


def fit_piece(pieces: Pieces, index: int, low: float, high: float) -> tuple[float, list[str]]:
    """Error and row of the piece on [low, high]: centre, then coefficients."""
    function, powers = pieces.function, ",".join(map(str, range(1, pieces.degree + 1)))
    if index < AT_ZERO:
        start = f"c=0;f={function}(x);base=x;lo={low!r}*0.99999+1b-8;hi={high!r}*1.00001;"
    else:
        start = SEARCH.format(middle=low + (high - low) / 2, span=(high - low) / 8, function=function)
        start += f"f={function}(c+x);base=round({function}(c),24,RN);lo={low!r}-c-1b-20;hi={high!r}-c+1b-20;"
    first = "0" if index < AT_ZERO else "coeff(p,0)"
    second = "coeff(p,1)-1" if index < AT_ZERO else "coeff(p,1)"
    lines = run_sollya(
        f"prec=200;display=decimal;{start}p=fpminimax(f,[|{powers}|],[|24...|],[lo;hi],floating,relative,base);"
        f'print(round(log2(dirtyinfnorm(p/f-1,[lo;hi])),20,RN));print("COEFFICIENTS");'
        f"display=hexadecimal!;print(c);print({first});print({second});"
        + "".join(f"print(coeff(p,{power}));" for power in range(2, pieces.degree + 1))
    )
    at = lines.index("COEFFICIENTS")
    return float(lines[at - 1]), lines[at + 1 :]


def emit_pieces(pieces: Pieces) -> None:
    last, peak = pieces.last, pieces.peak
    slope = f32((COUNT - 0.51) / (last - last * last / (2 * peak)))
    bend = f32(slope / (2 * peak))
    edges = [0.0] + [(slope - math.sqrt(slope * slope - 4 * bend * (i + 0.5))) / (2 * bend) for i in range(COUNT - 1)] + [last]
    fits = [fit_piece(pieces, i, edges[i], edges[i + 1]) for i in range(COUNT)]
    rows = [", ".join(hexfloat(row[k], 24) if "p" in row[k] else row[k].strip() for _, row in fits) for k in range(pieces.degree + 2)]
    print(f"/// {pieces.function}(x) in pieces; relative error 2^{max(error for error, _ in fits):.1f}.")
    print(f"inline constexpr Pieces<{pieces.degree + 2}> {pieces.name} = {{{', '.join(shortest(v) for v in (slope, -bend, f32(last)))}, {{")
    print(",\n".join(f"{{{row}}}" for row in rows))
    print("}};")


def emit_poly(poly: Poly) -> None:
    error, coefficients = fit(poly)
    kind = "float" if poly.bits == 24 else "double"
    fixed = f"{poly.fixed_terms} + " if poly.fixed_terms else ""
    step = poly.monomials[1] - poly.monomials[0]
    print(f"/// {poly.title or poly.target} on [{poly.lo}, {poly.hi}] = {fixed}the powers {poly.monomials[0]}, "
          f"{poly.monomials[0] + step}, ...; relative error 2^{float(error):.1f}.")
    print(f"inline constexpr {kind} {poly.name}[] = {{{', '.join(hexfloat(c, poly.bits) for c in coefficients)}}};")


def emit_split(name: str, value: str, widths: list[int], bits: int, comment: str, down: bool = False) -> None:
    kind = "float" if bits == 24 else "double"
    parts = split(value, widths, down)
    print(f"/// {comment}")
    print(f"inline constexpr {kind} {name}[] = {{{', '.join(hexfloat(p, bits) for p in parts)}}};")


def emit_two_over_pi() -> None:
    """Bits of 2/pi after the point: 20 words of 64 bits, first word first."""
    count = 20
    bits = int(run_sollya(f"prec=3000;display=decimal;v=round(2/pi*2^{64 * count},2900,RN);print(floor(v));")[0])
    words = ", ".join(f"0x{bits >> (64 * (count - 1 - i)) & (2**64 - 1):016x}u" for i in range(count))
    print("/// 2 / pi in binary: word i holds the bits of weight 2^-(64 i + 1) to 2^-(64 i + 64).")
    print(f"inline constexpr uint64_t kTwoOverPi[] = {{{words}}};")


def main() -> int:
    banner = "//===- Coefficients.h - Polynomials and split constants "
    print(banner + "-" * (95 - len(banner)) + "===//")
    print("// Generated by tools/mathgen/gen_coefficients.py (sollya fpminimax); checked in, do not edit.")
    print("//===" + "-" * 90 + "===//")
    print("#ifndef GRAPHC_COMPILER_MATH_COEFFICIENTS_H\n#define GRAPHC_COMPILER_MATH_COEFFICIENTS_H\n")
    print("#include \"compiler/math/Pieces.h\"\n\n#include <cstdint>\n\nnamespace graphc::math {\n")
    for poly in POLYS:
        emit_poly(poly)
    for pieces in PIECES:
        emit_pieces(pieces)
    emit_split("kLn2F32", "log(2)", [15, 24], 24, "ln 2; the first part times an exponent is exact.")
    emit_split("kLn2F64", "log(2)", [42, 53], 53, "ln 2; the first part times an exponent is exact.")
    emit_split("kHalfPiF32", "pi/2", [24, 24, 24], 24, "pi / 2 in parts of 24 bits.")
    emit_split("kHalfPiF64", "pi/2", [53, 53, 53], 53, "pi / 2 in parts of 53 bits.")
    emit_split("kTurnF32", "pi/2", [24, 24, 24], 24, "pi / 2 in positive parts of 24 bits.", down=True)
    emit_split("kTurnF64", "pi/2", [53, 53, 53], 53, "pi / 2 in positive parts of 53 bits.", down=True)
    for bits in (24, 53):
        emit_split(f"kLn2PairF{'32' if bits == 24 else '64'}", "log(2)", [bits, bits], bits, "ln 2 in two full parts.")
        emit_split(f"kTwoOverLn2F{'32' if bits == 24 else '64'}", "2/log(2)", [bits, bits], bits, "2 / ln 2.")
        emit_split(f"kTwoThirdsOverLn2F{'32' if bits == 24 else '64'}", "2/3/log(2)", [bits, bits], bits, "2 / (3 ln 2).")
        emit_split(f"kLog2EF{'32' if bits == 24 else '64'}", "1/log(2)", [bits, bits], bits, "1 / ln 2.")
        emit_split(f"kLog10EF{'32' if bits == 24 else '64'}", "1/log(10)", [bits, bits], bits, "1 / ln 10.")
        emit_split(f"kOneLessEulerF{'32' if bits == 24 else '64'}", f"1-{EULER}", [bits, bits], bits, "1 - Euler's constant.")
        emit_split(f"kLogPiF{'32' if bits == 24 else '64'}", "log(pi)", [bits, bits], bits, "log pi.")
        emit_split(f"kHalfLogTwoPiF{'32' if bits == 24 else '64'}", "log(2*pi)/2", [bits, bits], bits, "log(2 pi) / 2.")
    emit_split("kLog10Of2F32", "log(2)/log(10)", [15, 24], 24, "log10 2; the first part times an exponent is exact.")
    emit_split("kLog10Of2F64", "log(2)/log(10)", [42, 53], 53, "log10 2; the first part times an exponent is exact.")
    emit_split("kQuarterPiF32", "pi/4", [21, 24], 24, "pi / 4; up to four times the first part is exact.")
    emit_split("kQuarterPiF64", "pi/4", [50, 53], 53, "pi / 4; up to four times the first part is exact.")
    emit_two_over_pi()
    print("\n} // namespace graphc::math\n\n#endif // GRAPHC_COMPILER_MATH_COEFFICIENTS_H")
    return 0


if __name__ == "__main__":
    sys.exit(main())
