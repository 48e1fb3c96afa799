// Program format (format.h): the treatment of matched requests.
#pragma once

#include <cstddef>
#include <cstdint>

#include "program/format/file.h"

namespace edge::program {

struct BackendRefRecord;
struct FilterRecord;
struct MirrorRecord;

/// ActionRecord::split: the lower bits are the index of a single BackendRefRecord.
inline constexpr std::uint32_t kSingleBackendBit = 0x80000000;

/// The matching rule. Its identity is (route, rule, match). Read `split` through split_of (records.h).
struct ActionRecord {
  std::uint32_t route;
  std::uint16_t rule;   ///< index in spec.rules
  std::uint16_t match;  ///< index in the rule's matches
  std::uint32_t treatment;
  std::uint32_t split;  ///< kNone: no backend; kSingleBackendBit set: one; else index into HostHeader::splits
};
static_assert(sizeof(ActionRecord) == 16);

struct RouteRecord {
  StringRef name;
  std::uint32_t name_space;  ///< index into HostHeader::namespaces; see name_space_of (records.h)
};
static_assert(sizeof(RouteRecord) == 12);

enum TreatmentFlags : std::uint32_t {
  kBufferRequest = 1,
  kBufferResponse = 2,
  /// Its filters configure session persistence. The split then has `treatments`, for any backends.
  kPersists = 8,
  kDenied = 4,  ///< answered 503 `policy_unavailable`: a policy that protects it cannot be enforced
  /// One of its policies has pages in place of the bodies of backends' errors.
  kReplacesErrors = 16,
};

/// TreatmentRecord::max_retries where the backend's retryPolicy applies.
inline constexpr std::uint16_t kRetriesOfBackend = 0xffff;

/// The treatment of matched requests, apart from their destination; equal treatments of one host are one record.
struct TreatmentRecord {
  ArrayRef<FilterRecord> filters;
  /// Ids of PolicyRecords, in the order of evaluation (rule D4). Includes those of the listener's gateway where the
  /// route has none of the type.
  ArrayRef<std::uint64_t> policies;
  ArrayRef<MirrorRecord> mirrors;
  std::uint64_t request_timeout_ns;   ///< 0: none
  std::uint64_t try_timeout_ns;       ///< of one try of the route's own `retry`; 0: only the request's
  std::uint64_t idle_timeout_ns;      ///< 0: none
  std::uint64_t min_grpc_timeout_ns;  ///< a shorter `grpc-timeout` is raised to this; 0: none is
  std::uint64_t max_request_body;     ///< bytes; 0 unlimited; includes the listener's limit
  std::uint64_t max_buffer;           ///< bytes, 0: no limit of its own
  std::uint32_t flags;
  std::uint16_t max_retries;  ///< of the route's own `retry`; kRetriesOfBackend: it has none
  std::uint16_t retry_on;     ///< RetryOn bits
};
static_assert(sizeof(TreatmentRecord) == 80);

/// Several backends with their weights (rule D3); equal splits of one host are one record.
struct SplitRecord {
  ArrayRef<BackendRefRecord> backends;
  /// Indices into HostHeader::treatments, one per backend: replace the action's `treatment` for requests to it. Empty
  /// where no backend has filters of its own.
  ArrayRef<std::uint32_t> treatments;
  std::uint32_t total_weight;
  std::uint32_t canary;  ///< index into backends for `X-Canary: true`; kNone: the field has no effect
};
static_assert(sizeof(SplitRecord) == 24);

enum RetryOn : std::uint16_t {
  kRetry5xx = 1,
  kRetryReset = 2,
  kRetryConnectFailure = 4,
  kRetryRetriable4xx = 8,
  kRetryRefusedStream = 16,
  kRetry429 = 32,
  kRetry500 = 64,
  kRetry502 = 128,
  kRetry503 = 256,
  kRetry504 = 512,
  /// The treatment's filters have more: kRetryStatus, kRetryPause. Of treatments only.
  kRetryDetails = 1024,
};

/// The id is in two halves, so that records are aligned to four bytes.
struct BackendRefRecord {
  std::uint32_t id_low;
  std::uint32_t id_high;
  std::uint32_t weight;

  /// Id in the kBackends section; 0, or an id not in it: unresolved, answered 500.
  std::uint64_t backend_id() const { return std::uint64_t{id_high} << 32 | id_low; }
  static BackendRefRecord of(std::uint64_t id, std::uint32_t weight) {
    return {static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(id >> 32), weight};
  }
};
static_assert(sizeof(BackendRefRecord) == 12);

/// A mirrored copy of a share of the requests, whose responses are discarded.
struct MirrorRecord {
  std::uint64_t backend_id;  ///< as BackendRefRecord::backend_id; unresolved mirrors are omitted
  std::uint32_t share;       ///< of requests: 1 to 100 percent; with kMirrorFractionBit: the numerator of a fraction
  /// 1 + the index in HostHeader::filters of a kRewriteHost that holds the Host of copies (empty: the request's) and,
  /// in `detail`, the denominator; 0: neither.
  std::uint32_t details;
};
inline constexpr std::uint32_t kMirrorFractionBit = std::uint32_t{1} << 31;
static_assert(sizeof(MirrorRecord) == 16);

enum class FilterOp : std::uint32_t {
  kRequestHeaderSet = 1,
  kRequestHeaderAdd = 2,
  kRequestHeaderRemove = 3,
  kResponseHeaderSet = 4,
  kResponseHeaderAdd = 5,
  kResponseHeaderRemove = 6,
  kRewriteHost = 7,        ///< value
  kRewritePrefix = 8,      ///< value replaces the matched prefix, the first `detail` bytes; joined with one slash
  kRewriteFullPath = 9,    ///< value
  kRedirect = 10,          ///< always last: status in `detail` & 0xffff, port in `detail` >> 16 (0: by scheme)
  kRedirectScheme = 11,    ///< value; these precede their kRedirect
  kRedirectHost = 12,      ///< value
  kRedirectPrefix = 13,    ///< as kRewritePrefix
  kRedirectFullPath = 14,  ///< as kRewriteFullPath
  // Session persistence: the first two name the cookie or header, the others have `detail` in seconds.
  kSessionCookie = 15,     ///< name; value: the cookie's Path
  kSessionHeader = 16,     ///< name
  kSessionPermanent = 17,  ///< lifetime of the cookie, instead of the browser's session
  kSessionTimeout = 18,    ///< since the endpoint was chosen
  kSessionIdle = 19,       ///< since the last request
  // Of a route's own `retry`, with kRetryDetails.
  kRetryStatus = 20,  ///< a status in `detail` after which a request is sent again
  kRetryPause = 21,   ///< least time before a retry, `detail` in milliseconds
};
/// Number of FilterOps; filter_table.h describes each.
inline constexpr std::size_t kFilterOpCount = 21;

struct FilterRecord {
  FilterOp op;
  std::uint32_t detail;
  StringRef name;   ///< lower case
  StringRef value;  ///< `%REQ_ID%` is replaced by the request's id
};
static_assert(sizeof(FilterRecord) == 24);

}  // namespace edge::program
