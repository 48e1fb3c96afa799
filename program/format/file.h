// Program format (format.h): the file, its sections, and the types by which records refer to others.
#pragma once

#include <cstdint>

namespace edge::program {

inline constexpr char kMagic[8] = {'E', 'D', 'G', 'E', 'P', 'R', 'O', 'G'};
inline constexpr std::uint32_t kFormatVersion = 12;
inline constexpr std::uint32_t kNone = 0xffffffff;
inline constexpr std::uint64_t kSectionAlignment = 64;
/// A reader rejects larger files before any other check.
inline constexpr std::uint64_t kMaxProgramBytes = std::uint64_t{1} << 30;
inline constexpr std::uint32_t kMaxSections = 1 << 20;
/// Depth of the predicate graph; lowering balances or rejects deeper ones.
inline constexpr std::uint32_t kMaxPredicateDepth = 64;
/// Nodes that one predicate visits at most, shared nodes counted each time: the graph has no cycle, but a chain of
/// sixty nodes, each used twice by the next, would cost 2^60.
inline constexpr std::uint32_t kMaxPredicateCost = 1 << 16;
/// Longest path prefix, in segments, that tables distinguish.
inline constexpr std::uint32_t kMaxPathDepth = 64;

/// CPU of the native sections. kTablesOnly: there are none, predicates are interpreted.
enum class Target : std::uint32_t { kTablesOnly = 0, kX8664 = 1, kX8664V2 = 2, kX8664V3 = 3, kAarch64 = 16 };

struct FileHeader {
  char magic[8];
  std::uint32_t format_version;
  std::uint32_t abi_version;
  std::uint32_t section_count;
  Target target;
  std::uint64_t file_size;
  std::uint8_t reserved[32];  ///< zero
};
static_assert(sizeof(FileHeader) == 64);

enum class SectionKind : std::uint32_t {
  kListeners = 1,  ///< exactly one, id 0: gateways, binds, listeners, host names
  kHost = 2,       ///< one per listener and host pattern, id = host id
  kNative = 3,     ///< ELF shared object of a shard of hosts, id = shard number
  kRegex = 4,      ///< serialised Hyperscan database, id = content id of its patterns; shared between hosts
  kBackends = 5,   ///< exactly one, id 0
  kPolicies = 6,   ///< exactly one, id 0: their settings; treatments refer to them by id
};

/// Entries ascend by (kind, id), without duplicates.
struct SectionEntry {
  SectionKind kind;
  std::uint32_t reserved;
  std::uint64_t id;
  std::uint64_t offset;  ///< from the start of the file, aligned to kSectionAlignment
  std::uint64_t size;
  std::uint8_t sha256[32];
};
static_assert(sizeof(SectionEntry) == 64);

/// The program's hash, by which it is named everywhere, is the SHA-256 of "edge program\0" + FileHeader +
/// SectionEntry[]. The signature is Ed25519 (RFC 8032) over "edge program signature\0" + that hash: Ed25519 reads its
/// message twice to sign and once to verify, by SHA-512, and a manifest is long. All zero in an unsigned program.
struct SignatureBlock {
  std::uint8_t key_id[32];  ///< SHA-256 of the raw public key
  std::uint8_t signature[64];
  std::uint8_t reserved[32];  ///< zero
};
static_assert(sizeof(SignatureBlock) == 128);

struct StringRef {
  std::uint32_t offset;
  std::uint32_t size;
};
static_assert(sizeof(StringRef) == 8);

template <typename T>
struct ArrayRef {
  std::uint32_t offset;
  std::uint32_t count;
};

struct CidrRecord {
  std::uint8_t address[16];
  std::uint8_t prefix_length;
  std::uint8_t reserved[7];
};
static_assert(sizeof(CidrRecord) == 24);

/// One value of a secret, by name: agents get values separately, and programs never contain them.
struct SecretRecord {
  StringRef name_space;
  StringRef name;
  StringRef key;  ///< empty: of a certificate, `tls.crt` and `tls.key`
};
static_assert(sizeof(SecretRecord) == 24);

}  // namespace edge::program
