// Site, WANLink and WANPolicy as written: without defaults, references unresolved.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ip.h"
#include "compiler/model/metadata.h"

namespace edge::compiler::model {

/// The limits of delay, jitter and loss of a path.
struct QualityBounds {
  Maybe<std::chrono::nanoseconds> max_latency{};
  Maybe<std::chrono::nanoseconds> max_jitter{};
  /// Per 100,000 packets: 500 is `0.5%`.
  Maybe<std::int64_t> max_loss{};
};

struct Overlay {
  Maybe<std::string> address{};
  Maybe<std::int64_t> port{};
  Maybe<std::string> public_key{};
  std::optional<Reference> key_secret{};
  Maybe<std::int64_t> mtu{};
};

struct Site {
  Metadata metadata;
  Maybe<std::string> role{};
  Maybe<std::string> region{};
  Maybe<std::string> address{};
  std::vector<Located<Cidr>> prefixes{};
  std::vector<NameValue> node_selector{};
  std::optional<Reference> remote_cluster{};
  std::optional<Overlay> overlay{};
};

struct LinkProbe {
  Maybe<std::string> protocol{};
  std::vector<Located<std::string>> targets{};
  Maybe<std::int64_t> port{};
  Maybe<std::chrono::nanoseconds> interval{};
  Maybe<std::chrono::nanoseconds> timeout{};
  Maybe<std::int64_t> window{};
};

struct WanLink {
  Metadata metadata;
  Reference site;
  Maybe<std::string> role{};
  Maybe<std::string> provider{};
  Maybe<std::string> interface{};
  Maybe<IpAddress> address{};
  Maybe<IpAddress> gateway{};
  Maybe<std::int64_t> down_mbps{};
  Maybe<std::int64_t> up_mbps{};
  Maybe<std::int64_t> cost{};
  Maybe<bool> metered{};
  LinkProbe probe{};
  QualityBounds thresholds{};
  Maybe<bool> enabled{};
};

/// One class of traffic: all given lists must match.
struct TrafficMatch {
  std::vector<Located<Cidr>> sources{};
  std::vector<Located<Cidr>> destinations{};
  std::vector<Located<std::string>> protocols{};
  std::vector<Located<std::int64_t>> ports{};
  std::vector<Located<std::int64_t>> dscp{};
  std::vector<Reference> gateways{};
};

struct WanPolicy {
  Metadata metadata;
  std::vector<Reference> sites{};
  Maybe<std::int64_t> priority{};
  std::vector<TrafficMatch> matches{};
  Maybe<std::string> strategy{};
  std::vector<Reference> links{};
  Maybe<std::string> fallback{};
  QualityBounds sla{};
  Maybe<std::chrono::nanoseconds> failover_after{};
  Maybe<std::chrono::nanoseconds> back_after{};
  Maybe<std::int64_t> set_dscp{};
  Maybe<std::string> traffic_class{};
};

}  // namespace edge::compiler::model
