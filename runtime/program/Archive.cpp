//===- Archive.cpp - The .gco file ------------------------------------------------------------===//
#include "runtime/program/Archive.h"

#include "runtime/base/Digest.h"
#include "runtime/base/Strings.h"

#include <cstring>

namespace graphc::program {
namespace {

constexpr size_t kAlignment = 64;

template <typename... Args>
Status bad(fmt::format_string<Args...> form, Args &&...args) {
  return {ErrorCode::Corrupt, "[archive] " + fmt::format(form, std::forward<Args>(args)...)};
}

// Reads the program header at the start of `blob`, without checking more than that it is one.
bool readProgramHeader(std::span<const uint8_t> blob, Header &header) {
  if (blob.size() < sizeof header)
    return false;
  std::memcpy(&header, blob.data(), sizeof header);
  return std::memcmp(header.magic, kMagic, sizeof kMagic) == 0;
}

} // namespace

Result<std::vector<uint8_t>> writeArchive(std::span<const std::vector<uint8_t>> programs) {
  if (programs.empty() || programs.size() > kMaxArchiveEntries)
    return Status(ErrorCode::InvalidArgument, strings::format("[archive] {} programs; 1 to {} fit",
                                                              programs.size(), kMaxArchiveEntries));
  size_t offset = sizeof(ArchiveHeader) + programs.size() * sizeof(ArchiveEntry);
  std::vector<ArchiveEntry> entries;
  for (const auto &blob : programs) {
    Header header;
    if (!readProgramHeader(blob, header))
      return Status(ErrorCode::InvalidArgument, "[archive] a member is not a program");
    offset = (offset + kAlignment - 1) / kAlignment * kAlignment;
    entries.push_back({header.target, 0, offset, blob.size()});
    offset += blob.size();
  }
  std::vector<uint8_t> out(offset);
  std::memcpy(out.data() + sizeof(ArchiveHeader), entries.data(),
              entries.size() * sizeof(ArchiveEntry));
  for (size_t i = 0; i < programs.size(); ++i)
    std::memcpy(out.data() + entries[i].offset, programs[i].data(), programs[i].size());
  Digest digest = digestOf(std::span(out).subspan(sizeof(ArchiveHeader)));
  ArchiveHeader header = {
      {}, kArchiveVersion, static_cast<uint32_t>(programs.size()), out.size(), {}};
  std::memcpy(header.magic, kArchiveMagic, sizeof kArchiveMagic);
  header.checksum[0] = digest.low;
  header.checksum[1] = digest.high;
  std::memcpy(out.data(), &header, sizeof header);
  return out;
}

Result<std::vector<ArchiveMember>> readArchive(std::span<const uint8_t> bytes) {
  std::vector<ArchiveMember> members;
  if (Header program; readProgramHeader(bytes, program)) {
    members.push_back({static_cast<Target>(program.target), bytes});
    return members;
  }
  ArchiveHeader header;
  if (bytes.size() < sizeof header)
    return bad("{} bytes are too few for a .gco file", bytes.size());
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kArchiveMagic, sizeof kArchiveMagic) != 0)
    return bad("not a .gco file");
  if (header.version != kArchiveVersion)
    return bad("format version {} (this runtime reads version {})", header.version,
               kArchiveVersion);
  if (header.totalBytes != bytes.size())
    return bad("{} bytes where the header says {}", bytes.size(), header.totalBytes);
  if (header.count == 0 || header.count > kMaxArchiveEntries)
    return bad("{} members", header.count);
  size_t tableEnd = sizeof header + header.count * sizeof(ArchiveEntry);
  if (tableEnd > bytes.size())
    return bad("the member table ends outside the file");
  Digest digest = digestOf(bytes.subspan(sizeof header));
  if (digest.low != header.checksum[0] || digest.high != header.checksum[1])
    return bad("checksum does not match");
  for (uint32_t i = 0; i < header.count; ++i) {
    ArchiveEntry entry;
    std::memcpy(&entry, bytes.data() + sizeof header + i * sizeof entry, sizeof entry);
    if (entry.reserved != 0 || entry.offset < tableEnd || entry.offset % kAlignment != 0 ||
        entry.offset > bytes.size() || entry.bytes > bytes.size() - entry.offset)
      return bad("member {} lies outside the file", i);
    std::span<const uint8_t> blob = bytes.subspan(entry.offset, entry.bytes);
    Header program;
    if (!readProgramHeader(blob, program) || program.target != entry.target)
      return bad("member {} is not a program for its target", i);
    members.push_back({static_cast<Target>(entry.target), blob});
  }
  return members;
}

} // namespace graphc::program
