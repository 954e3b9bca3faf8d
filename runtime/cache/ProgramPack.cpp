//===- ProgramPack.cpp - Programs that come with the compiler ---------------------------------===//
#include "runtime/cache/ProgramPack.h"

#include "runtime/base/CacheFolder.h"
#include "runtime/base/Strings.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace graphc::rt {
namespace {

constexpr uint8_t kMagic[8] = {'G', 'C', 'P', 'A', 'C', 'K', '0', '1'};

struct Header {
  uint8_t magic[8];
  uint64_t count;
  Digest maker;
  Digest checksum; ///< of the index, which follows
};

} // namespace

ProgramPack::~ProgramPack() {
  if (!file.empty())
    munmap(const_cast<uint8_t *>(file.data()), file.size());
}

void ProgramPack::open(const std::string &path, std::string_view maker) {
  FileDescriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  if (!opened || fstat(opened.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<size_t>(status.st_size) < sizeof(Header))
    return;
  const auto bytes = static_cast<size_t>(status.st_size);
  void *mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, opened.get(), 0);
  if (mapped == MAP_FAILED)
    return;
  file = {static_cast<const uint8_t *>(mapped), bytes};
  if (!read(maker))
    index = {};
}

bool ProgramPack::read(std::string_view maker) {
  Header header;
  std::memcpy(&header, file.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.maker != digestOf(maker) ||
      header.count > (file.size() - sizeof header) / sizeof(Place))
    return false;
  // A header and places are a multiple of 16 bytes long: those of a mapped file are aligned.
  index = {reinterpret_cast<const Place *>(file.data() + sizeof header), header.count};
  return header.checksum == digestOf(file.subspan(sizeof header, index.size_bytes()));
}

std::optional<std::vector<uint8_t>> ProgramPack::find(const Digest &key) const {
  auto place = std::ranges::lower_bound(index, key, {}, &Place::key);
  if (place == index.end() || place->key != key || place->offset > file.size() ||
      place->bytes > file.size() - place->offset)
    return std::nullopt;
  const std::span<const uint8_t> value = file.subspan(place->offset, place->bytes);
  if (digestOf(value) != place->checksum)
    return std::nullopt;
  return std::vector<uint8_t>(value.begin(), value.end());
}

Status ProgramPack::write(const std::string &path, std::string_view maker, const Values &values) {
  std::vector<Place> places;
  std::vector<uint8_t> bytes;
  const size_t first = sizeof(Header) + values.size() * sizeof(Place);
  for (const auto &[key, value] : values) {
    places.push_back({key, first + bytes.size(), value.size(), digestOf(value)});
    bytes.insert(bytes.end(), value.begin(), value.end());
  }
  Header header{{}, places.size(), digestOf(maker), {}};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  const auto indexBytes = std::as_bytes(std::span(places));
  header.checksum =
      digestOf({reinterpret_cast<const uint8_t *>(indexBytes.data()), indexBytes.size()});
  const std::string unfinished = path + ".tmp";
  FILE *out = std::fopen(unfinished.c_str(), "wb");
  bool isWritten = out && std::fwrite(&header, sizeof header, 1, out) == 1 &&
                   std::fwrite(places.data(), sizeof(Place), places.size(), out) == places.size() &&
                   std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size();
  if (out)
    isWritten &= std::fclose(out) == 0;
  if (!isWritten || std::rename(unfinished.c_str(), path.c_str()) != 0)
    return {ErrorCode::Io,
            strings::format("[cache] cannot write '{}': {}", path, std::strerror(errno))};
  return Status::ok();
}

} // namespace graphc::rt
