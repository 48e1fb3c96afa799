// Format of a program (format.h): what happens to a request that matched.
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

/// The rule that won. Its identity is (route, rule, match). Read `split` through split_of (records.h).
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
  /// Its filters say how clients are kept at their endpoints. The split then has `treatments`, whatever its backends.
  kPersists = 8,
  kDenied = 4,  ///< answered 503 `policy_unavailable`: a policy that protects it cannot be enforced
};

/// TreatmentRecord::max_retries where the backend's retryPolicy holds.
inline constexpr std::uint16_t kRetriesOfBackend = 0xffff;

/// How matched requests are treated, less where they go; equal treatments of one host are one record.
struct TreatmentRecord {
  ArrayRef<FilterRecord> filters;
  /// Ids of PolicyRecords, in the order in which a request passes them (rule D4). The listener's gateway's are among
  /// them where the route has none of the type.
  ArrayRef<std::uint64_t> policies;
  ArrayRef<MirrorRecord> mirrors;
  std::uint64_t request_timeout_ns;   ///< 0: none
  std::uint64_t try_timeout_ns;       ///< of one try of the route's own `retry`; 0: that of the request alone
  std::uint64_t idle_timeout_ns;      ///< 0: none
  std::uint64_t min_grpc_timeout_ns;  ///< a shorter `grpc-timeout` counts as this; 0: every one holds
  std::uint64_t max_request_body;     ///< bytes; 0 unlimited; the listener's was merged in by the compiler
  std::uint64_t max_buffer;           ///< bytes, 0: no bound of its own
  std::uint32_t flags;
  std::uint16_t max_retries;  ///< of the route's own `retry`; kRetriesOfBackend: it has none
  std::uint16_t retry_on;     ///< RetryOn bits
};
static_assert(sizeof(TreatmentRecord) == 80);

/// Several backends with their weights (rule D3); equal splits of one host are one record.
struct SplitRecord {
  ArrayRef<BackendRefRecord> backends;
  /// Indices into HostHeader::traffics, one a backend: how the requests are treated that go there, in place of the
  /// action's `treatment`. Empty where no backend has filters of its own.
  ArrayRef<std::uint32_t> treatments;
  std::uint32_t total_weight;
  std::uint32_t canary;  ///< index into backends that `X-Canary: true` goes to; kNone: the field means nothing
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

/// A copy of each so many requests, whose answers are thrown away.
struct MirrorRecord {
  std::uint64_t backend_id;  ///< as BackendRefRecord::backend_id; what did not resolve is not mirrored to, and not here
  std::uint32_t percent;     ///< of requests, 1 to 100
  std::uint32_t reserved;
};
static_assert(sizeof(MirrorRecord) == 16);

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
  // Session persistence: the first two name what carries the session, the others are in `detail`, in seconds.
  kSessionCookie = 15,     ///< name; value: the cookie's Path
  kSessionHeader = 16,     ///< name
  kSessionPermanent = 17,  ///< the cookie lives for so long, in place of the browser's run
  kSessionTimeout = 18,    ///< since the endpoint was chosen
  kSessionIdle = 19,       ///< since the last request
};
/// Of FilterOps; filter_table.h says of each what it is.
inline constexpr std::size_t kFilterOpCount = 19;

struct FilterRecord {
  FilterOp op;
  std::uint32_t detail;
  StringRef name;   ///< lower case
  StringRef value;  ///< `%REQ_ID%` stands for the request's id
};
static_assert(sizeof(FilterRecord) == 24);

}  // namespace edge::program
