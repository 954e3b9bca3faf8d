//===- Program.h - The program format: contract between compiler and runtime ------------------===//
//
// A program is one little-endian blob: header, section table, sections. The compiler writes it
// (compiler/emit/ ProgramWriter), the runtime reads it (runtime/program/Reader) and trusts no
// offset in it. This header stands alone: it includes nothing of graphc, so a third party can read
// programs with it. All records are plain and 8-byte aligned.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_PROGRAM_PROGRAM_H
#define GRAPHC_RUNTIME_PROGRAM_PROGRAM_H

#include <cstdint>

namespace graphc::program {

inline constexpr uint8_t kMagic[8] = {'G', 'C', 'P', 'R', 'O', 'G', '\r', '\n'};
/// Bumped whenever a record changes; readers refuse any other version.
inline constexpr uint32_t kVersion = 7;
inline constexpr uint32_t kNone = 0xffffffffu;

enum class Target : uint32_t { Cpu = 1, OpenCL = 2 };

struct Header {
  uint8_t magic[8];
  uint32_t version;
  uint32_t target;       ///< Target
  uint64_t totalBytes;   ///< of the whole blob
  uint64_t checksum[2];  ///< XXH3-128 (low, high) of all bytes after the header
  uint32_t sectionCount; ///< SectionRecords follow the header directly
  uint32_t reserved;
};

enum class Section : uint32_t {
  Strings = 1, ///< bytes; strings are (offset, bytes) pairs into it, not terminated
  Words = 2,   ///< uint32 pool for variable-length lists
  Sizes = 3,   ///< SizeRecord
  Checks = 4,  ///< CheckRecord
  Inputs = 5,  ///< TensorRecord
  Outputs = 6, ///< TensorRecord
  Buffers = 7, ///< BufferRecord
  Kernels = 8, ///< KernelRecord
  Steps = 9,   ///< StepRecord, in execution order
  Code = 10,   ///< cpu: one position-independent image (map read+execute); opencl: source text
  Data = 11,   ///< constants, each 64-byte aligned
  Meta = 12,   ///< one MetaRecord
  Faults = 13, ///< FaultRecord, one a site that checks an index
  Calls = 14,  ///< CallRecord
  Il = 15,     ///< opencl: a SPIR-V module of the same kernels
  Binary = 16, ///< opencl: PTX text of the same kernels, for NVIDIA's driver
};
/// Where a section may begin: at multiples of this many bytes.
inline constexpr uint64_t alignmentOf(Section section) {
  return section == Section::Code || section == Section::Data || section == Section::Il ? 64 : 8;
}

struct SectionRecord {
  uint32_t section; ///< Section; each at most once
  uint32_t count;   ///< records, or bytes for Strings/Code/Data
  uint64_t offset;  ///< from the start of the blob, aligned as alignmentOf says
  uint64_t bytes;
};

struct String {
  uint32_t offset;
  uint32_t bytes;
};

enum class SizeKind : uint32_t {
  Constant = 0, ///< value
  InputDim = 1, ///< size of axis b of input a
  Argument = 2, ///< a-th size argument of the call
  Add = 3,      ///< operands a and b are earlier sizes; all arithmetic is overflow-checked
  Sub = 4,
  Mul = 5,
  FloorDiv = 6,
  CeilDiv = 7,
  Min = 8,
  Max = 9,
};
struct SizeRecord {
  uint32_t kind;
  uint32_t a;
  uint32_t b;
  uint32_t reserved;
  int64_t value;
};

/// Sizes that must be equal at run time; `what` says so in words ("operand 0 axis 1 and ...").
struct CheckRecord {
  uint32_t a;
  uint32_t b;
  String what;
};

struct TensorRecord {
  uint32_t dtype; ///< DType
  uint32_t rank;
  uint32_t dims;   ///< first of `rank` size numbers in Words
  uint32_t buffer; ///< BufferRecord number
  String name;
};

enum class BufferKind : uint32_t {
  Input = 0,    ///< a = input number; never written
  Output = 1,   ///< a = output number; allocated by the executor, handed to the caller
  Temp = 2,     ///< allocated by the executor before its first step, released after its last
  Constant = 3, ///< a = byte offset in Data
  Faults = 4,   ///< kFaultWords of int64, zero when a run starts; at most one
};
struct BufferRecord {
  uint32_t kind;
  uint32_t dtype;
  uint32_t elements; ///< size number
  uint32_t a;
  /// Output, Temp: an input whose memory may become this buffer's, or kNone. The step that first
  /// writes the buffer is then the last to read the input, at the same places.
  uint32_t donor = kNone;
};

enum class KernelFamily : uint32_t {
  Map = 0,
  Rows = 1,
  Columns = 2,
  Full = 3,
  Contract = 4,
  Fold = 5,
  Scan = 6,
  Sort = 7
};

/// What a kernel does about indices.
enum class IndexChecks : uint32_t {
  None = 0,
  AsItGoes = 1, ///< it reports them, and writes its results all the same
  Alone = 2,    ///< the same, but a launch with kCheckWord set reports only
};

/// CPU: `void f(void *const *buffers, const int64_t *sizes, int64_t begin, int64_t end, void
/// *scratch)` at Code + entry, work items [begin, end); any split of the range into pieces that
/// begin in order gives the same bits. OpenCL: kernel `name` of the code, in whichever of its forms
/// (Code, Il, Binary; at least one when there are kernels) the driver prefers; arguments are
/// buffers (global pointers), then sizes (long), then the range (long); one work-item handles items
/// [id * itemsPerThread, ...), global size = ceil(range / itemsPerThread), local size = `group` (0:
/// driver's choice; otherwise the global size is rounded up to a multiple). With itemsPerThread 0
/// each item is a whole work-group: global size = range * group.
struct KernelRecord {
  String name;
  /// cpu: offset in Code
  uint64_t entry;
  uint32_t family;
  uint32_t bufferCount;
  uint32_t sizeCount;
  uint32_t writes; ///< first of bufferCount flags in Words: 1 = written
  uint32_t grain;  ///< cpu: pieces of a launch begin at multiples of this many items, so that
                   ///< no two threads write one cache line; rows of a tile need not
  uint32_t
      scratch; ///< size number, or kNone: scratch bytes a worker needs; opencl: a constant, bytes
               ///< of local memory that a launch gives each group besides what the code declares
  uint32_t itemsPerThread; ///< opencl; cpu: if not 1, what a piece of a launch has, since it waits
                           ///< for the pieces before it; scratch then begins with the address of a
                           ///< function without arguments that lets another thread have the core
  uint32_t group;          ///< opencl
  double costPerItem;  ///< estimated ns of one element of an item on one core; the executor splits
                       ///< work by it
  String lines;        ///< user lines this kernel computes, "file:line; file:line" (may be empty)
  uint32_t checks;     ///< IndexChecks
  uint32_t checkReads; ///< Alone: first of bufferCount flags in Words: 1 = an index depends on it
};

/// One use of a routine of the runtime's host library.
struct CallRecord {
  String routine;  ///< its name: "sort", ...
  uint32_t ranks;  ///< first of a step's bufferCount ranks in Words
  uint32_t params; ///< first of paramCount pairs (low, high) in Words: 64-bit parameters
  uint32_t paramCount;
  uint32_t node; ///< number of the recorded node that this computes, or kNone
  String lines;  ///< its user line, as in KernelRecord
};

/// Rows of a tile that are turned together: a line of memory, or two, of what lies across them.
inline constexpr int64_t kRowsTogether = 32;

enum class StepKind : uint32_t {
  Launch = 0, ///< kernel over range
  Copy = 1,   ///< args: destination buffer, source buffer; whole buffers of equal size
  Call = 2, ///< library routine; args: operand buffers, then the result's; `kernel` is a CallRecord
            ///< number, `sizes` are the sizes of all these tensors in order
};
struct StepRecord {
  uint32_t kind;
  uint32_t kernel;
  uint32_t range;   ///< size number
  uint32_t buffers; ///< first of bufferCount buffer numbers in Words
  uint32_t bufferCount;
  uint32_t sizes; ///< first of sizeCount size numbers in Words
  uint32_t sizeCount;
  uint32_t work; ///< launch: size number of the elements an item visits; its cost is costPerItem
                 ///< times this
  /// Launch: number of its tile, or kNone. The steps of a tile follow each other. Their ranges are
  /// `rows` equal parts, in order, and so are the buffers that any of them writes, which all of
  /// them touch in the row of the item only: rows may be taken through the whole tile one after the
  /// other.
  uint32_t tile = kNone;
  /// Size number, or kNone: the same for all steps of a tile, but for those whose range has a part
  /// for each kRowsTogether rows, which have the number of the parts, and for those that may not
  /// run in a tile, which have that of 0.
  uint32_t rows = kNone;
  /// Size number, or kNone. Of a tile whose steps look at neighbouring rows, the same for all of
  /// its steps: a step may be run on a row once all steps before it have been run on the rows up to
  /// so many further on. Such a tile has no buffer of its own, and no step of kRowsTogether.
  uint32_t skew = kNone;
};

/// A program that finds an index outside its axis reports it and goes on without touching memory
/// outside: word 0 is 1 + the number of the site (0: no fault), word 1 the index, word 2 the axis's
/// size. When several are found, any one of them is reported.
/// Word kWatchWord is 1 when a value that the program watches became infinite or NaN, or integers
/// had no result. kSpareWord is for stores that mean nothing: a word is chosen where a branch is
/// not wanted. kCheckWord is set by who runs the program, for launches that only check.
inline constexpr int64_t kFaultWords = 6, kWatchWord = 3, kSpareWord = 4, kCheckWord = 5;
struct FaultRecord {
  uint32_t axis;
  uint32_t place; ///< number of the gather or scatter among those of the graph, or kNone
  String line;    ///< "file:line" (may be empty); of the graph that was compiled
};

struct MetaRecord {
  String name; ///< of the function
  String isa; ///< cpu: required features, comma separated ("avx2,fma,avx512f"); opencl: "fp64" when
              ///< used
  String compiler;        ///< build id of the compiler
  String explain;         ///< text of the fusion report
  uint32_t sizeArguments; ///< how many size arguments a call passes
  uint32_t reserved;
};

} // namespace graphc::program

#endif // GRAPHC_RUNTIME_PROGRAM_PROGRAM_H
