// Program format (format.h): host names, and the section of gateways, binds and listeners.
#pragma once

#include <cstdint>

#include "program/format/file.h"
#include "program/format/settings.h"

namespace edge::program {

// ---- Host names: from a name to the most specific entry that covers it (rule D2) ----------------------------------

/// One name with its targets: `exact` for the name itself, `wildcard` for `*.name`; kNone where there is none.
struct NameEntry {
  StringRef name;
  std::uint32_t exact;
  std::uint32_t wildcard;
};
static_assert(sizeof(NameEntry) == 16);

/// Open addressing, linear probing, a power of two of slots, at least one of them free; no slots when there are no
/// entries. A slot is 8 bits of tag (top byte of the hash) over 24 bits of entry index, kNone when free. The hash folds
/// labels from the rightmost: see name_hash_* in lookup.h.
struct NameTable {
  ArrayRef<std::uint32_t> slots;
  ArrayRef<NameEntry> entries;
  std::uint32_t fallback;    ///< for names without an entry, kNone for none
  std::uint32_t max_labels;  ///< longest name in labels: lookups stop there
};
static_assert(sizeof(NameTable) == 24);

// ---- Listeners section --------------------------------------------------------------------------------------------

/// Changes of a request's path before matching (base/path.h), in addition to normalising.
enum PathFlags : std::uint32_t {
  kMergeSlashes = 1,
  kRejectEscapedSlashes = 2,
  kUnescapeSlashes = 4,
  kRejectPathParameters = 8,
};
inline constexpr std::uint32_t kAllPathFlags = 15;

enum GatewayFlags : std::uint32_t {
  kHidesReasons = 1,  ///< answers have no X-Edge-Reason
};
inline constexpr std::uint32_t kAllGatewayFlags = 1;

/// Those from compression to limits have one record, or none where the feature is off, or the limits are the defaults.
struct GatewayRecord {
  std::uint64_t id;  ///< stable_id(kind, namespace, name); the kind is ProxyGateway, Gateway or IngressClass
  StringRef name_space;
  StringRef name;
  ArrayRef<CidrRecord> trusted_proxies;
  ArrayRef<CompressionRecord> compression;
  ArrayRef<CacheRecord> cache;
  ArrayRef<TracingRecord> tracing;
  ArrayRef<AccessLogRecord> access_log;
  ArrayRef<ClientLimitsRecord> limits;
  std::uint32_t path_flags;  ///< PathFlags; never both of the escaped slashes'
  std::uint32_t flags;       ///< GatewayFlags
};
static_assert(sizeof(GatewayRecord) == 80);

enum class Protocol : std::uint8_t { kHttp = 1, kHttps = 2, kTcp = 3, kTls = 4, kUdp = 5 };

/// One socket address that agents listen on, shared by all its listeners. kUdp has ports of its own: another bind may
/// have the same address and port.
struct BindRecord {
  std::uint8_t address[16];  ///< base/ip.h form; ignored when any_address
  std::uint16_t port;
  Protocol protocol;         ///< of its listeners; kHttps where some are kHttps and some kTls
  std::uint8_t any_address;  ///< 1: every address of the node
  std::uint32_t reserved;
  NameTable listeners;  ///< host name -> index of ListenerRecord (listener isolation: only the most specific one)
};
static_assert(sizeof(BindRecord) == 48);

/// How long a session of kUdp is kept without a datagram where its rule has no idle timeout.
inline constexpr std::uint64_t kUsualUdpIdleNs = 60'000'000'000;

enum ListenerFlags : std::uint8_t {
  kAcceptsProxyProtocol = 1,  ///< connections are accepted only from the gateway's trusted proxies, and begin with a
                              ///< header
};

/// For kTcp, kTls and kUdp the hosts have rules without conditions: a host is the SNI of the TLS client, and none for
/// kTcp and kUdp.
struct ListenerRecord {
  StringRef name;
  std::uint32_t gateway;
  Protocol protocol;
  std::uint8_t flags;  ///< ListenerFlags
  std::uint16_t reserved;
  std::uint64_t max_request_body;  ///< bytes, 0 unlimited
  NameTable hosts;                 ///< host name -> index into host_entries
  ArrayRef<struct HostEntry> host_entries;
  ArrayRef<SchemeRedirectRecord> scheme_redirect;  ///< one or none
  ArrayRef<ListenerTlsRecord> tls;                 ///< one, or none for plain text
};
static_assert(sizeof(ListenerRecord) == 72);

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

}  // namespace edge::program
