#include "program/write.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/os/huge_pages.h"
#include "program/evaluate/abi.h"
#include "program/sha256.h"

namespace edge::program {
namespace {

std::uint64_t aligned(std::uint64_t offset) { return (offset + kSectionAlignment - 1) & ~(kSectionAlignment - 1); }

}  // namespace

BlobPtr make_blob(std::vector<std::byte> bytes) {
  const Hash hash = sha256(bytes);
  return std::make_shared<const Blob>(Blob{std::move(bytes), hash});
}

std::vector<std::byte> assemble(Target target, std::vector<SectionInput> sections) {
  const auto key = [](const SectionInput& section) { return std::tie(section.kind, section.id); };
  std::ranges::sort(sections, {}, key);
  std::vector<SectionRef> refs;
  refs.reserve(sections.size());
  for (const SectionInput& section : sections) refs.push_back({section.kind, section.id, section.blob.get()});
  return assemble_in_order(target, refs);
}

std::vector<std::byte> assemble_in_order(Target target, std::span<const SectionRef> sections) {
  std::vector<SectionEntry> entries;
  entries.reserve(sections.size());
  std::uint64_t end = sizeof(FileHeader) + sections.size() * sizeof(SectionEntry) + sizeof(SignatureBlock);
  for (const SectionRef& section : sections) {
    SectionEntry& entry = entries.emplace_back();
    entry = {section.kind, 0, section.id, aligned(end), section.blob->bytes.size(), {}};
    std::copy(section.blob->hash.begin(), section.blob->hash.end(), entry.sha256);
    end = entry.offset + entry.size;
  }

  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.format_version = kFormatVersion;
  header.abi_version = kAbiVersion;
  header.section_count = static_cast<std::uint32_t>(sections.size());
  header.target = target;
  header.file_size = end;

  // Grown by insert, not sized first: zeroing ten megabytes that are overwritten at once costs as much as the copy.
  std::vector<std::byte> bytes;
  bytes.reserve(end);
  prefer_huge_pages(bytes.data(), end);
  const auto append = [&bytes](const void* data, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), first, first + size);
  };
  append(&header, sizeof header);
  append(entries.data(), entries.size() * sizeof(SectionEntry));
  bytes.resize(bytes.size() + sizeof(SignatureBlock));
  for (std::size_t i = 0; i < sections.size(); ++i) {
    bytes.resize(entries[i].offset);
    append(sections[i].blob->bytes.data(), sections[i].blob->bytes.size());
  }
  return bytes;
}

}  // namespace edge::program
