// The routing program: the one place where compiler and runtime meet. docs/program-format.md draws it.
//
//   FileHeader | SectionEntry[section_count] | SignatureBlock | sections, each aligned to 64 bytes
//
// All records are fixed-width and little-endian. Offsets inside a section count from the section's first byte; an
// ArrayRef's elements are aligned to their own alignment. Readers take any bytes without harm (read.h). A section's
// bytes depend on its own content alone, so an edit of one host leaves every other section, and its hash, as it was.
// Not in a program: endpoints, certificates, secrets. Their names are, the values travel beside it (endpoints.h).
#pragma once

#include <cstdint>

namespace edge::program {

inline constexpr char kMagic[8] = {'E', 'D', 'G', 'E', 'P', 'R', 'O', 'G'};
inline constexpr std::uint32_t kFormatVersion = 1;
inline constexpr std::uint32_t kNone = 0xffffffff;
inline constexpr std::uint64_t kSectionAlignment = 64;
/// A reader refuses more than this before it looks any closer.
inline constexpr std::uint64_t kMaxProgramBytes = std::uint64_t{1} << 30;
inline constexpr std::uint32_t kMaxSections = 1 << 20;
/// Depth of the predicate graph; the lowering balances or refuses what is deeper.
inline constexpr std::uint32_t kMaxPredicateDepth = 64;
/// Nodes that one predicate visits at most, shared nodes counted each time: the graph has no cycle, but a node that is
/// used twice by each of sixty others would cost 2^60.
inline constexpr std::uint32_t kMaxPredicateCost = 1 << 16;
/// Longest path prefix in segments that tables distinguish.
inline constexpr std::uint32_t kMaxPathDepth = 64;

/// CPU that native sections were made for. kTablesOnly: none are there, predicates are interpreted.
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
};

/// Entries ascend by (kind, id), without doubles.
struct SectionEntry {
  SectionKind kind;
  std::uint32_t reserved;
  std::uint64_t id;
  std::uint64_t offset;  ///< from the start of the file, aligned to kSectionAlignment
  std::uint64_t size;
  std::uint8_t sha256[32];
};
static_assert(sizeof(SectionEntry) == 64);

/// Ed25519 (RFC 8032) over "edge program\0" + FileHeader + SectionEntry[]. All zero in an unsigned program.
/// The program's hash, its name everywhere, is the SHA-256 of the same bytes.
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

// ---- Host names: from a name to the most specific entry that covers it (rule D2) ----------------------------------

/// One name with what hangs on it. `exact` for the name itself, `wildcard` for `*.name`; kNone where nothing does.
struct NameEntry {
  StringRef name;
  std::uint32_t exact;
  std::uint32_t wildcard;
};
static_assert(sizeof(NameEntry) == 16);

/// Open addressing, linear probing, a power of two of slots, at least one of them free; none at all when there are no
/// entries. A slot is 8 bits of tag (top byte of the hash) over 24 bits
/// of entry index, kNone when free. The hash folds labels from the rightmost on: see name_hash_* in lookup.h.
struct NameTable {
  ArrayRef<std::uint32_t> slots;
  ArrayRef<NameEntry> entries;
  std::uint32_t fallback;    ///< for names that nothing covers, kNone for none
  std::uint32_t max_labels;  ///< longest name in labels: lookups stop there
};
static_assert(sizeof(NameTable) == 24);

// ---- Listeners section --------------------------------------------------------------------------------------------

struct CidrRecord {
  std::uint8_t address[16];
  std::uint8_t prefix_length;
  std::uint8_t reserved[7];
};
static_assert(sizeof(CidrRecord) == 24);

struct GatewayRecord {
  std::uint64_t id;  ///< stable_id("ProxyGateway", namespace, name)
  StringRef name_space;
  StringRef name;
  ArrayRef<CidrRecord> trusted_proxies;
};
static_assert(sizeof(GatewayRecord) == 32);

enum class Protocol : std::uint8_t { kHttp = 1, kHttps = 2, kTcp = 3, kTls = 4 };

/// One socket address that agents listen on, shared by every listener on it.
struct BindRecord {
  std::uint8_t address[16];  ///< base/ip.h form; ignored when any_address
  std::uint16_t port;
  Protocol protocol;
  std::uint8_t any_address;  ///< 1: every address of the node
  std::uint32_t reserved;
  NameTable listeners;  ///< host name -> index of ListenerRecord (listener isolation: the most specific one alone)
};
static_assert(sizeof(BindRecord) == 48);

struct ListenerRecord {
  StringRef name;
  std::uint32_t gateway;
  std::uint32_t reserved;
  std::uint64_t max_request_body;  ///< bytes, 0 unlimited
  NameTable hosts;                 ///< host name -> index into host_entries
  ArrayRef<struct HostEntry> host_entries;
};
static_assert(sizeof(ListenerRecord) == 56);

/// A host pattern of one listener. `next` is the next less specific one that covers it: matching falls through to it.
struct HostEntry {
  std::uint64_t host_id;  ///< id of its kHost section
  StringRef pattern;      ///< canonical, empty for "every host"
  std::uint32_t next;     ///< index into host_entries, greater than its own; kNone at the end
  std::uint32_t reserved;
};
static_assert(sizeof(HostEntry) == 24);

struct ListenersHeader {
  ArrayRef<GatewayRecord> gateways;
  ArrayRef<BindRecord> binds;
  ArrayRef<ListenerRecord> listeners;
  std::uint64_t reserved;
};
static_assert(sizeof(ListenersHeader) == 32);

// ---- Host section -------------------------------------------------------------------------------------------------

/// Where a lookup ends: kNone, an action (kActionBit set: one candidate without conditions), or a group.
using Target32 = std::uint32_t;
inline constexpr std::uint32_t kActionBit = 0x80000000;

/// One path with what hangs on it, exactly and as a prefix of whole segments. Stored without a trailing slash where it
/// is a prefix; the path `/` as a prefix is HostHeader::root_prefix.
struct PathEntry {
  StringRef path;
  Target32 exact;
  Target32 prefix;
};
static_assert(sizeof(PathEntry) == 16);

/// Candidates [first, first + count), in the order of rule D1. A group is decided by the first that holds.
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

/// Nodes come after the nodes that they use: operands are smaller than the node's own index, so there is no cycle.
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

/// A pattern; its index is its bit in regex_hits. Path patterns come first, numbered in the order of rule D1.
struct RegexRecord {
  StringRef pattern;
  std::uint32_t slot;  ///< its subject: kSlotPath or a header's slot
};
static_assert(sizeof(RegexRecord) == 12);

/// The patterns [first, first + count) of one slot, as one Hyperscan database. Ids in it are 0..count-1. The records
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
  ArrayRef<std::uint32_t> path_slots;  ///< as NameTable::slots, over path_hash (lookup.h)
  ArrayRef<PathEntry> paths;
  std::uint64_t prefix_depths;  ///< bit d - 1: some prefix has d segments, 1..kMaxPathDepth
  Target32 root_prefix;
  Target32 regex;           ///< group of the rules with a path regex
  Target32 any_path;        ///< group of the rules without a path
  std::uint32_t max_probe;  ///< longest run of slots that a lookup has to look at
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
  ArrayRef<struct TrafficRecord> traffics;
  ArrayRef<struct SplitRecord> splits;
  ArrayRef<struct BackendRefRecord> backend_refs;
  ArrayRef<struct FilterRecord> filters;
  std::uint32_t native_shard;  ///< id of the kNative section that holds its groups, kNone: interpreted
  std::uint32_t reserved;
};
static_assert(sizeof(HostHeader) == 184);

// ---- What happens to a request that matched ----------------------------------------------------------------------

/// ActionRecord::split: the lower bits are the index of a single BackendRefRecord.
inline constexpr std::uint32_t kSingleBackendBit = 0x80000000;

/// The rule that won. Its identity is (route, rule, match). Read `split` through split_of (records.h).
struct ActionRecord {
  std::uint32_t route;
  std::uint16_t rule;   ///< index in spec.rules
  std::uint16_t match;  ///< index in the rule's matches
  std::uint32_t traffic;
  std::uint32_t split;  ///< kNone: no backend; kSingleBackendBit set: one; else index into HostHeader::splits
};
static_assert(sizeof(ActionRecord) == 16);

struct RouteRecord {
  StringRef name;
  std::uint32_t name_space;  ///< index into HostHeader::namespaces; see name_space_of (records.h)
};
static_assert(sizeof(RouteRecord) == 12);

enum TrafficFlags : std::uint32_t {
  kBufferRequest = 1,
  kBufferResponse = 2,
  kDenied = 4,  ///< answered 503 `policy_unavailable`: a policy that protects it cannot be enforced
};

/// How matched requests are treated, less where they go; equal treatments of one host are one record.
struct TrafficRecord {
  ArrayRef<FilterRecord> filters;
  std::uint64_t request_timeout_ns;  ///< 0: none
  std::uint64_t idle_timeout_ns;     ///< 0: none
  std::uint64_t max_request_body;    ///< bytes; 0 unlimited; the listener's was merged in by the compiler
  std::uint64_t max_buffer;          ///< bytes, 0: no bound of its own
  std::uint32_t flags;
  std::uint16_t max_retries;  ///< of the route's own `retry`; 0xffff: the backend's retryPolicy holds
  std::uint16_t retry_on;     ///< RetryOn bits
};
static_assert(sizeof(TrafficRecord) == 48);

/// Several backends with their weights (rule D3); equal splits of one host are one record.
struct SplitRecord {
  ArrayRef<BackendRefRecord> backends;
  std::uint32_t total_weight;
  std::uint32_t canary;  ///< index into backends that `X-Canary: true` goes to
};
static_assert(sizeof(SplitRecord) == 16);

enum RetryOn : std::uint16_t {
  kRetry5xx = 1,
  kRetryReset = 2,
  kRetryConnectFailure = 4,
  kRetryRetriable4xx = 8,
  kRetryRefusedStream = 16,
};

/// In two halves, so that four-byte alignment does.
struct BackendRefRecord {
  std::uint32_t id_low;
  std::uint32_t id_high;
  std::uint32_t weight;

  /// Of the kBackends section; 0, or one not held there: did not resolve, answered 500.
  std::uint64_t backend_id() const { return std::uint64_t{id_high} << 32 | id_low; }
  static BackendRefRecord of(std::uint64_t id, std::uint32_t weight) {
    return {static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(id >> 32), weight};
  }
};
static_assert(sizeof(BackendRefRecord) == 12);

enum class FilterOp : std::uint32_t {
  kRequestHeaderSet = 1,
  kRequestHeaderAdd = 2,
  kRequestHeaderRemove = 3,
  kResponseHeaderSet = 4,
  kResponseHeaderAdd = 5,
  kResponseHeaderRemove = 6,
  kRewriteHost = 7,        ///< value
  kRewritePrefix = 8,      ///< value replaces the matched prefix, the first `detail` bytes; the seam has one slash
  kRewriteFullPath = 9,    ///< value
  kRedirect = 10,          ///< always last: status in `detail` & 0xffff, port in `detail` >> 16 (0: by scheme)
  kRedirectScheme = 11,    ///< value; these come before their kRedirect
  kRedirectHost = 12,      ///< value
  kRedirectPrefix = 13,    ///< as kRewritePrefix
  kRedirectFullPath = 14,  ///< as kRewriteFullPath
};

struct FilterRecord {
  FilterOp op;
  std::uint32_t detail;
  StringRef name;   ///< lower case
  StringRef value;  ///< `%REQ_ID%` stands for the request's id
};
static_assert(sizeof(FilterRecord) == 24);

// ---- Backends section ---------------------------------------------------------------------------------------------

enum class Balance : std::uint32_t {
  kRoundRobin = 1,
  kLeastConn = 2,
  kP2c = 3,
  kEwma = 4,
  kRingHash = 5,
  kMaglev = 6,
  kRandom = 7,
};

/// Entries ascend by id.
struct BackendRecord {
  std::uint64_t id;  ///< stable_id("ProxyBackend", namespace, name)
  StringRef name_space;
  StringRef name;
  Balance balance;
  std::uint32_t max_connections;
  std::uint32_t max_pending_requests;
  std::uint32_t max_requests_per_connection;  ///< 0: unlimited
  std::uint32_t max_idle_connections;         ///< per core and endpoint
  std::uint32_t retry_on;                     ///< RetryOn bits
  std::uint32_t max_retries;
  std::uint32_t reserved;
  std::uint64_t connect_timeout_ns;
  std::uint64_t request_timeout_ns;  ///< 0: none
  std::uint64_t idle_timeout_ns;     ///< how long an unused connection is kept
  std::uint64_t per_try_timeout_ns;  ///< 0: none
  std::uint64_t backoff_base_ns;
  std::uint64_t backoff_max_ns;
};
static_assert(sizeof(BackendRecord) == 104);

struct BackendsHeader {
  ArrayRef<BackendRecord> backends;
  std::uint64_t reserved;
};
static_assert(sizeof(BackendsHeader) == 16);

}  // namespace edge::program
