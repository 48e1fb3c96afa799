// The interface between compiled predicates and their callers: the agent through a shared object, the compiler's proof
// through ORC. Plain C layout; changing it requires a new kAbiVersion in the program's header.
#pragma once

#include <cstdint>

namespace edge::program {

inline constexpr std::uint32_t kAbiVersion = 1;

/// A slot's value. `data` null: the field is absent. Bytes beyond `size` must not be read.
struct SlotValue {
  const char* data;
  std::uint64_t size;
};
static_assert(sizeof(SlotValue) == 16);

/// Slot numbers common to all hosts; a host's own (headers, query keys) follow from kFirstHostSlot on.
enum : std::uint32_t { kSlotMethod = 0, kSlotPath = 1, kFirstHostSlot = 2 };

struct MatchInput {
  /// Fixed slots, then the host's own, in the order of its SlotRecords.
  const SlotValue* slots;
  /// 16 bytes, base/ip.h form, network byte order.
  const std::uint8_t* source;
  /// Bit i set: the host's RegexRecord i matches its subject. Null when the host has no regex.
  const std::uint64_t* regex_hits;
};

inline constexpr std::uint32_t kNoCandidate = 0xffffffff;

/// Evaluates one group: returns the index within the group of the first candidate whose predicate holds, or
/// kNoCandidate.
using GroupFunction = std::uint32_t (*)(const MatchInput*);

/// Groups of one host in a native section. `functions[g]` evaluates the host's group g; null for groups that need no
/// code (every candidate unconditional).
struct NativeHost {
  std::uint64_t host_id;
  const GroupFunction* functions;
  std::uint64_t function_count;
};
static_assert(sizeof(NativeHost) == 24);

/// Symbol of the shared object: `const NativeIndex edge_native_index`. Hosts ascend by id.
struct NativeIndex {
  std::uint64_t abi_version;
  std::uint64_t host_count;
  const NativeHost* hosts;
};
inline constexpr char kNativeIndexSymbol[] = "edge_native_index";

}  // namespace edge::program
