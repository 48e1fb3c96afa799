// Reads a program from untrusted bytes.
//
// `read` checks everything that later code relies on: magic, version, sizes, alignment, every offset and count of every
// record, table invariants (slots refer to entries, nodes to smaller nodes), section hashes. Accessors then index
// without checks. It does not check the signature (sign.h) and never parses the contents of kNative and kRegex.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "program/format/format.h"

namespace edge::program {

using Hash = std::array<std::uint8_t, 32>;
std::string to_hex(const Hash& hash);

/// A section's bytes with typed access to its records.
class SectionView {
 public:
  SectionView() = default;
  explicit SectionView(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> bytes() const { return bytes_; }
  template <typename Header>
  const Header& header() const {
    return *reinterpret_cast<const Header*>(bytes_.data());
  }
  template <typename T>
  std::span<const T> array(ArrayRef<T> ref) const {
    return {reinterpret_cast<const T*>(bytes_.data() + ref.offset), ref.count};
  }
  std::string_view string(StringRef ref) const { return string(ref.offset, ref.size); }
  std::string_view string(std::uint32_t offset, std::uint32_t size) const {
    return {reinterpret_cast<const char*>(bytes_.data()) + offset, size};
  }

 private:
  std::span<const std::byte> bytes_;
};

struct Section {
  SectionKind kind;
  std::uint64_t id;
  Hash hash;
  SectionView view;
};

/// Prefetches the beginning of a later section during a walk over a program's sections. Each begins in another page,
/// which the processor does not predict; waiting for thousands of them was a fifth of a first load.
inline void fetch_ahead(std::span<const Section> sections, std::size_t at) {
  constexpr std::size_t kAhead = 8;
  constexpr std::size_t kHeader = 256;  // the longest of all kinds
  if (at + kAhead >= sections.size()) return;
  const std::span<const std::byte> bytes = sections[at + kAhead].view.bytes();
  for (std::size_t line = 0; line < std::min(kHeader, bytes.size()); line += kSectionAlignment)
    __builtin_prefetch(&bytes[line]);
}

/// When the bytes of kRegex sections are compared with their hashes. They are most of a large program, and not needed
/// by readers: code that searches a database must then check it first (runtime/match/regex_set.cc).
enum class Databases : bool { kHashNow, kHashWhenSearched };

/// A program whose bytes were checked. Immutable; owns its bytes.
class ProgramView {
 public:
  const Hash& hash() const { return hash_; }
  Target target() const { return header_->target; }
  std::uint32_t abi_version() const { return header_->abi_version; }
  const FileHeader& header() const { return *header_; }
  const SignatureBlock& signature() const { return *signature_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  /// Returns the hashed bytes, without the domain prefix: header and section entries.
  std::span<const std::byte> manifest() const { return manifest_; }

  /// In file order: ascending (kind, id).
  std::span<const Section> sections() const { return sections_; }
  /// Null when there is none.
  const Section* find(SectionKind kind, std::uint64_t id) const;

  const Section& listeners() const { return *find(SectionKind::kListeners, 0); }
  const Section& backends() const { return *find(SectionKind::kBackends, 0); }
  const Section& policies() const { return *find(SectionKind::kPolicies, 0); }

 private:
  friend Result<ProgramView> read(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
                                  const ProgramView* known, Databases databases);

  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
  std::span<const std::byte> manifest_;
  const FileHeader* header_ = nullptr;
  const SignatureBlock* signature_ = nullptr;
  std::vector<Section> sections_;
  Hash hash_{};
};

/// `known`, if given, is a program that was read before: sections with the same kind, id, size and hash entry whose
/// bytes are equal are not checked again. \returns kDataLoss for anything malformed, naming section and field;
/// kUnimplemented for another format version.
Result<ProgramView> read(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
                         const ProgramView* known = nullptr, Databases databases = Databases::kHashNow);
Result<ProgramView> read(std::shared_ptr<const std::vector<std::byte>> bytes, const ProgramView* known = nullptr,
                         Databases databases = Databases::kHashNow);
/// Reads a file into memory of its own. kNotFound, kPermissionDenied, or as above.
Result<ProgramView> read_file(const std::string& path, const ProgramView* known = nullptr,
                              Databases databases = Databases::kHashNow);

}  // namespace edge::program
