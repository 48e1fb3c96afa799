// Program format (format.h): the section of one host, from a path to the matching rule.
#pragma once

#include <cstdint>

#include "program/format/file.h"

namespace edge::program {

/// The result of a lookup: kNone, an action (kActionBit set: one candidate without conditions), or a group.
using Target32 = std::uint32_t;
inline constexpr std::uint32_t kActionBit = 0x80000000;

/// One path with its targets, as an exact path and as a prefix of whole segments. Followed by its text, or, where that
/// does not fit the records of the host, by a StringRef to it: a lookup reads a path in one place. Written and read by
/// path_table.h. Stored without a trailing slash for a prefix; the path `/` as a prefix is HostHeader::root_prefix.
struct PathRecord {
  std::uint32_t key;  ///< low byte: size of the text, kFarPath, or 0 (then all is 0: no path); above: top of its hash
  Target32 exact;
  Target32 prefix;
};
static_assert(sizeof(PathRecord) == 12);
inline constexpr std::uint32_t kFarPath = 0xff;
inline constexpr std::uint32_t kNoPath = 0;
/// Words of a record with its text.
inline constexpr std::uint32_t kMinPathStride = 5;
inline constexpr std::uint32_t kMaxPathStride = 32;

/// Candidates [first, first + count), in the order of the rules (D1; decision 81). The first that holds wins.
struct GroupRecord {
  std::uint32_t first;
  std::uint32_t count;
};
static_assert(sizeof(GroupRecord) == 8);

struct CandidateRecord {
  std::uint32_t predicate;  ///< index of its NodeRecord, kNone: always true
  std::uint32_t action;
};
static_assert(sizeof(CandidateRecord) == 8);

enum class Op : std::uint8_t {
  kAnd = 1,         ///< operands [a, a + b); nodes use up HostHeader::operands in order, without gaps
  kOr = 2,          ///< operands [a, a + b)
  kNot = 3,         ///< node a
  kPresent = 4,     ///< slot has a value
  kEquals = 5,      ///< slot has exactly the bytes (a = offset, b = size); an absent slot does not
  kPathPrefix = 6,  ///< slot kSlotPath, whole segments; bytes (a, b) without trailing slash
  kContains = 7,    ///< slot's value contains the bytes (a, b)
  kSourceIn = 8,    ///< source address in cidrs[a]
  kRegex = 9,       ///< regex_hits bit a
  kFalse = 10,
};

/// Nodes follow the nodes that they use: operands are smaller than the node's own index, so there is no cycle.
struct NodeRecord {
  Op op;
  std::uint8_t reserved;
  std::uint16_t slot;
  std::uint32_t a;
  std::uint32_t b;
};
static_assert(sizeof(NodeRecord) == 12);

enum class SlotKind : std::uint32_t {
  kHeader = 1,  ///< name in lower case; repeated fields joined with ", "
  kQuery = 2,   ///< first value of the key, percent-decoded, `+` a space
};

/// Slot kFirstHostSlot + index.
struct SlotRecord {
  SlotKind kind;
  StringRef name;
};
static_assert(sizeof(SlotRecord) == 12);

/// A pattern; its index is its bit in regex_hits. Path patterns come first, numbered in the order of their rules.
struct RegexRecord {
  StringRef pattern;
  std::uint32_t slot;  ///< its subject: kSlotPath or a header's slot
};
static_assert(sizeof(RegexRecord) == 12);

/// The patterns [first, first + count) of one slot, as one Hyperscan database. Its ids are 0..count-1. The records
/// cover all patterns of the host, in order, each once.
struct RegexSetRecord {
  std::uint64_t section_id;  ///< of kind kRegex
  std::uint32_t slot;
  std::uint32_t first;
  std::uint32_t count;
  std::uint32_t reserved;
};
static_assert(sizeof(RegexSetRecord) == 24);

struct HostHeader {
  std::uint64_t host_id;
  StringRef pattern;
  ArrayRef<std::uint8_t> path_displacements;  ///< over path_hash (lookup.h), see path_hash.h
  ArrayRef<std::uint32_t> paths;              ///< PathRecords with their texts, each path_stride words
  std::uint64_t prefix_depths;                ///< bit d - 1: some prefix has d segments, 1..kMaxPathDepth
  Target32 root_prefix;
  Target32 regex;           ///< group of the rules with a path regex after every prefix
  Target32 any_path;        ///< group of the rules without a path
  std::uint32_t max_probe;  ///< records that a lookup reads: 1, or more for sorted paths with binary search
  ArrayRef<GroupRecord> groups;
  ArrayRef<CandidateRecord> candidates;
  ArrayRef<NodeRecord> nodes;
  ArrayRef<std::uint32_t> operands;
  ArrayRef<SlotRecord> slots;
  ArrayRef<CidrRecord> cidrs;
  ArrayRef<RegexRecord> regexes;
  ArrayRef<RegexSetRecord> regex_sets;
  ArrayRef<struct ActionRecord> actions;
  ArrayRef<struct RouteRecord> routes;
  ArrayRef<StringRef> namespaces;
  ArrayRef<struct TreatmentRecord> treatments;
  ArrayRef<struct SplitRecord> splits;
  ArrayRef<struct BackendRefRecord> backend_refs;
  ArrayRef<std::uint32_t> split_treatments;
  ArrayRef<struct FilterRecord> filters;
  ArrayRef<std::uint64_t> policy_refs;
  ArrayRef<struct MirrorRecord> mirrors;
  std::uint32_t native_shard;  ///< id of the kNative section with its groups, kNone: interpreted
  std::uint32_t path_stride;   ///< 0: no paths
  Target32 early_regex;        ///< group of the rules with a path regex before every prefix
  std::uint32_t reserved;
};
static_assert(sizeof(HostHeader) == 216);

}  // namespace edge::program
