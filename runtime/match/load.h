// Makes a checked program ready to decide: signature verified, native code opened, regex databases at hand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "program/evaluate/abi.h"
#include "program/read.h"
#include "program/sign.h"

namespace edge::runtime {

class RegexSet;

/// A host's path table (program/evaluate/path_table.h): all that most requests need of a host, in one cache line. In a
/// large program every further line is a miss, so those of all hosts lie side by side, apart from the rest.
struct alignas(64) HostPaths {
  /// So many displacements (program/evaluate/path_hash.h) lie here; of larger hosts LoadedHost has them.
  static constexpr std::size_t kNearDisplacements = 32;

  const std::byte* records = nullptr;
  const program::ActionRecord* actions = nullptr;
  std::uint64_t prefix_depths = 0;
  std::uint32_t places = 0;    ///< 0: no paths
  std::uint8_t width = 0;      ///< bytes of a record
  std::uint8_t near_mask = 0;  ///< number of displacements, less one, unless they are far
  bool far = false;            ///< there are more of them than fit here
  bool ascends = false;        ///< hashes collide: a path is searched for (program/evaluate/path_table.h)
  std::array<std::uint8_t, kNearDisplacements> near{};
};
static_assert(sizeof(HostPaths) == 64);

/// The rest of a host section with what was loaded for it.
struct LoadedHost {
  program::Target32 root_prefix = program::kNone;
  program::Target32 early_regex = program::kNone;
  program::Target32 regex = program::kNone;
  program::Target32 any_path = program::kNone;
  bool has_query_slots = false;
  const std::uint8_t* far_displacements = nullptr;
  std::uint32_t far_mask = 0;

  const program::RouteRecord* routes = nullptr;
  const program::TreatmentRecord* treatments = nullptr;
  const program::HostHeader* header = nullptr;
  program::SectionView view;
  /// Null: its groups are interpreted.
  const program::NativeHost* native = nullptr;
  /// One a RegexSetRecord.
  RegexSet* const* regex_sets = nullptr;
  /// One a group: bit i set when a predicate of the group asks for a pattern of set i (63: of set 63 or a later one).
  /// Null when the host has no patterns.
  const std::uint64_t* group_sets = nullptr;
  /// Bit (length mod 64) set for the name of each header slot: most headers of a request are passed over by it.
  std::uint64_t header_lengths = 0;
};

/// A NameTable (program/format/format.h) with its places resolved.
struct NameLookup {
  const std::byte* section = nullptr;
  const std::uint32_t* slots = nullptr;
  const program::NameEntry* entries = nullptr;
  std::uint32_t mask = 0;
  std::uint32_t max_labels = 0;  ///< 0: the table is empty
  std::uint32_t fallback = program::kNone;
};

struct LoadedListener {
  const program::ListenerRecord* record = nullptr;
  const program::GatewayRecord* gateway = nullptr;
  /// The gateway's; null: off.
  const program::CompressionRecord* compression = nullptr;
  const program::CacheRecord* cache = nullptr;
  const program::TracingRecord* tracing = nullptr;
  /// The gateway's, or the usual ones.
  const program::ClientLimitsRecord* limits = &program::kUsualClientLimits;
  /// One a HostEntry, and the paths of each.
  std::span<const LoadedHost> hosts;
  std::span<const HostPaths> host_paths;
  std::span<const program::HostEntry> entries;
  NameLookup host_names;
};

/// What a thread's MatchScratch must have room for.
struct MatchRoom {
  std::size_t slots = 0;
  std::size_t regexes = 0;
  std::size_t regex_sets = 0;
};

/// Immutable; shared by every thread, but for regex databases, which are deserialised when they are first searched with
/// (atomically: a program of 100,000 routes loads in milliseconds, and a host that nobody asks for costs no memory).
/// A request pins the one it began with (shared_ptr, taken once a batch).
class LoadedProgram {
 public:
  /// Loads native code only after `key` verified the signature. A null key accepts any program: for tests and for
  /// `--allow-unsigned`. What `previous` holds under the same section hash is shared, not loaded again. Native code for
  /// another CPU or ABI is passed over: the tables alone say the same, slower.
  ///
  /// \returns kUnauthenticated when `key` did not sign it; kDataLoss when native code or a regex database is none.
  static Result<std::shared_ptr<const LoadedProgram>> load(program::ProgramView view, const program::VerifyKey* key,
                                                           std::shared_ptr<const LoadedProgram> previous = nullptr);
  ~LoadedProgram();
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  const program::ProgramView& view() const { return view_; }
  const program::Hash& hash() const { return view_.hash(); }
  std::span<const program::BindRecord> binds() const { return binds_; }
  const program::SectionView& listeners_section() const { return listeners_section_; }
  const LoadedListener& listener(std::uint32_t index) const { return listeners_[index]; }
  std::size_t listener_count() const { return listeners_.size(); }
  /// Host name to index of listener, one a bind.
  const NameLookup& bind_names(std::uint32_t bind) const { return bind_names_[bind]; }
  const MatchRoom& room() const { return room_; }
  /// Whether predicates run as machine code rather than being interpreted.
  bool has_native_code() const;
  std::span<const program::BackendRecord> backends() const { return backends_; }
  const program::SectionView& backends_section() const { return backends_section_; }
  const program::SectionView& policies_section() const { return view_.policies().view; }
  /// The hosts of all listeners. What else is resolved for each of them once stands in the same order.
  std::span<const LoadedHost> hosts() const;
  /// Index into backends(), kNone when there is none.
  std::uint32_t backend_index(std::uint64_t backend_id) const;

 private:
  struct Impl;
  LoadedProgram();

  program::ProgramView view_;
  std::span<const program::BindRecord> binds_;
  std::span<const program::BackendRecord> backends_;
  program::SectionView listeners_section_;
  program::SectionView backends_section_;
  std::vector<LoadedListener> listeners_;
  std::vector<NameLookup> bind_names_;
  MatchRoom room_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::runtime
