// Small programs built by hand, for tests of what reads them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "program/section_builder.h"
#include "program/sha256.h"
#include "program/write.h"

namespace edge::program::sample {

inline std::vector<std::byte> empty_listeners() {
  return SectionBuilder(sizeof(ListenersHeader)).finish(ListenersHeader{});
}
inline std::vector<std::byte> empty_backends() {
  return SectionBuilder(sizeof(BackendsHeader)).finish(BackendsHeader{});
}

inline std::vector<std::byte> empty_policies() {
  return SectionBuilder(sizeof(PoliciesHeader)).finish(PoliciesHeader{});
}

/// A host section under construction: fill `header` and the arrays, then `build`.
struct Host {
  HostHeader header{};
  SectionBuilder builder{sizeof(HostHeader)};
  std::vector<NodeRecord> nodes;
  std::vector<std::uint32_t> operands;
  std::vector<SlotRecord> slots;
  std::vector<CidrRecord> cidrs;

  explicit Host(std::uint64_t id) {
    header.host_id = id;
    header.root_prefix = header.early_regex = header.regex = header.any_path = header.native_shard = kNone;
  }
  std::uint32_t node(Op op, std::uint16_t slot = 0, std::uint32_t a = 0, std::uint32_t b = 0) {
    nodes.push_back({op, 0, slot, a, b});
    return static_cast<std::uint32_t>(nodes.size() - 1);
  }
  std::uint32_t text_node(Op op, std::uint16_t slot, std::string_view text) {
    const StringRef ref = builder.string(text);
    return node(op, slot, ref.offset, ref.size);
  }
  std::uint32_t list_node(Op op, const std::vector<std::uint32_t>& of) {
    const auto first = static_cast<std::uint32_t>(operands.size());
    operands.insert(operands.end(), of.begin(), of.end());
    return node(op, 0, first, static_cast<std::uint32_t>(of.size()));
  }
  std::vector<std::byte> build() && {
    header.nodes = builder.array(nodes);
    header.operands = builder.array(operands);
    header.slots = builder.array(slots);
    header.cidrs = builder.array(cidrs);
    return std::move(builder).finish(header);
  }
};

inline std::vector<std::byte> program_of(std::vector<SectionInput> sections) {
  sections.push_back({SectionKind::kListeners, 0, make_blob(empty_listeners())});
  sections.push_back({SectionKind::kBackends, 0, make_blob(empty_backends())});
  if (std::ranges::none_of(sections, [](const auto& section) { return section.kind == SectionKind::kPolicies; }))
    sections.push_back({SectionKind::kPolicies, 0, make_blob(empty_policies())});
  return assemble(Target::kTablesOnly, std::move(sections));
}

using Bytes = std::shared_ptr<const std::vector<std::byte>>;

/// A program that serves nothing; those of two numbers differ.
inline Bytes numbered_program(std::uint64_t number) {
  Host host(number);
  std::vector<SectionInput> sections;
  sections.push_back({SectionKind::kHost, number, make_blob(std::move(host).build())});
  return std::make_shared<const std::vector<std::byte>>(program_of(std::move(sections)));
}
inline std::string hash_of(const Bytes& bytes) { return to_hex(read(bytes)->hash()); }

inline Result<ProgramView> read_copy(const std::vector<std::byte>& bytes) {
  return read(std::make_shared<const std::vector<std::byte>>(bytes));
}

/// Lists each section with the hash of what it holds now, as far as the entries can be followed.
inline void reseal(std::vector<std::byte>& bytes) {
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (std::uint64_t i = 0; i < header.section_count; ++i) {
    const std::uint64_t at = sizeof header + i * sizeof(SectionEntry);
    if (at + sizeof(SectionEntry) > bytes.size()) return;
    SectionEntry entry;
    std::memcpy(&entry, bytes.data() + at, sizeof entry);
    if (entry.offset > bytes.size() || entry.size > bytes.size() - entry.offset) return;
    const Hash hash = sha256(std::span(bytes).subspan(entry.offset, entry.size));
    std::memcpy(bytes.data() + at + offsetof(SectionEntry, sha256), hash.data(), hash.size());
  }
}

}  // namespace edge::program::sample
