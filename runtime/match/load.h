// Prepares a checked program for serving: verifies the signature, opens native code, registers regex databases.
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

/// A host's path table (program/evaluate/path_table.h): everything that most requests need of a host, in one cache
/// line. In a large program each further line is a cache miss, so the tables of all hosts are contiguous, apart from
/// the rest.
struct alignas(64) HostPaths {
  /// The number of displacements (program/evaluate/path_hash.h) stored here; LoadedHost has those of larger hosts.
  static constexpr std::size_t kNearDisplacements = 32;

  const std::byte* records = nullptr;
  const program::ActionRecord* actions = nullptr;
  std::uint64_t prefix_depths = 0;
  std::uint32_t places = 0;    ///< 0: no paths
  std::uint8_t width = 0;      ///< bytes of a record
  std::uint8_t near_mask = 0;  ///< number of displacements, less one, unless `far`
  bool far = false;            ///< the displacements do not fit here
  bool ascends = false;        ///< hashes collide: a path is found by search (program/evaluate/path_table.h)
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
  /// One per RegexSetRecord.
  RegexSet* const* regex_sets = nullptr;
  /// One per group: bit i set when a predicate of the group needs a pattern of set i (63: of set 63 or a later one).
  /// Null when the host has no patterns.
  const std::uint64_t* group_sets = nullptr;
  /// Bit (length mod 64) set for the name of each header slot: most headers of a request are skipped by it.
  std::uint64_t header_lengths = 0;
};

/// A NameTable (program/format/format.h) with resolved addresses.
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
  /// The gateway's settings; null: off.
  const program::CompressionRecord* compression = nullptr;
  const program::CacheRecord* cache = nullptr;
  const program::TracingRecord* tracing = nullptr;
  /// The gateway's limits, or the default ones.
  const program::ClientLimitsRecord* limits = &program::kUsualClientLimits;
  /// One per HostEntry, and the paths of each.
  std::span<const LoadedHost> hosts;
  std::span<const HostPaths> host_paths;
  std::span<const program::HostEntry> entries;
  NameLookup host_names;
  /// Rules match claims: the token is verified before a rule is looked for, by this policy (index into the JWT
  /// records). kNone: none does.
  std::uint32_t token_policy = program::kNone;
  /// A scheme redirect or a token comes before a rule.
  bool acts_before_rule = false;
};

/// The capacity that a thread's MatchScratch needs.
struct MatchRoom {
  std::size_t slots = 0;
  std::size_t regexes = 0;
  std::size_t regex_sets = 0;
};

/// Immutable; shared by all threads, except that regex databases are deserialised at the first search (atomically: a
/// program of 100,000 routes loads in milliseconds, and hosts without traffic use no memory). A request pins the
/// program that it began with (shared_ptr, taken once a batch).
class LoadedProgram {
 public:
  /// Loads a program; native code only after `key` verified the signature. A null key accepts any program: for tests
  /// and for `--allow-unsigned`. Sections with the same hash are shared with `previous`. Native code for another CPU or
  /// ABI is ignored: the tables are equivalent, and slower.
  ///
  /// \returns kUnauthenticated when the signature is not by `key`; kDataLoss when native code or a regex database is
  /// invalid.
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
  /// Returns the map from host name to listener index, one per bind.
  const NameLookup& bind_names(std::uint32_t bind) const { return bind_names_[bind]; }
  const MatchRoom& room() const { return room_; }
  /// Returns whether predicates run as machine code instead of being interpreted.
  bool has_native_code() const;
  std::span<const program::BackendRecord> backends() const { return backends_; }
  const program::SectionView& backends_section() const { return backends_section_; }
  const program::SectionView& policies_section() const { return view_.policies().view; }
  /// Returns the hosts of all listeners. Other per-host tables use the same order.
  std::span<const LoadedHost> hosts() const;
  /// Returns the index into backends(), kNone when there is none.
  std::uint32_t backend_index(std::uint64_t backend_id) const;

 private:
  struct Impl;
  LoadedProgram();
  /// Makes the listeners from their section and the hosts that were loaded.
  Status load_listeners(const program::SectionView& policies);

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
