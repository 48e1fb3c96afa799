// The certificates that a configuration needs from CAs, one for each host name, so that a name that cannot be validated
// keeps no other from its certificate.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/link/linked_config.h"

namespace edge::compiler {

/// A listener that a CA comes to for the answer to a challenge.
struct AnsweringListener {
  std::uint64_t gateway_id = 0;  ///< program::GatewayRecord::id
  std::string gateway;           ///< `namespace/name`
  std::string listener;
  friend bool operator==(const AnsweringListener&, const AnsweringListener&) = default;
};

struct OrderedCertificate {
  std::string name_space;  ///< of the listener, and of the Secret in which it is kept
  std::string host;        ///< a name, or `*.name`
  std::string gateway;     ///< `namespace/name` of the one that needs it, for messages
  AcmeSettings settings;
  /// For HTTP01: the plain HTTP listeners at port 80 of the gateway; where it has none, those at other ports, to which
  /// port 80 may be forwarded; where it has none either, those at port 80 of other gateways.
  std::vector<AnsweringListener> http_listeners{};
  std::vector<AnsweringListener> tls_listeners{};  ///< for TLSALPN01: those with the host
  friend bool operator==(const OrderedCertificate&, const OrderedCertificate&) = default;
};

/// The certificates of one listener, which agents get as one secret.
struct OrderedBundle {
  std::string name_space;
  std::string name;  ///< program::ordered_secret_name
  std::vector<std::string> hosts;
  /// Beyond `hosts`, those that clients ask for; nullopt: none.
  std::optional<OnDemandSettings> on_demand{};
  OrderedCertificate on_demand_certificate{};  ///< of each of them, without its host
  std::vector<HostPattern> hostnames{};        ///< of the listener, which serves no others; empty: all

  /// Whether a name may have a certificate as far as the configuration says; with an ask-URL every name of the
  /// listener may, once that has allowed it.
  bool may_have(const std::string& host) const;
  /// The pattern of the allow-list that has a name; empty: none has.
  std::string_view listed_by(const std::string& host) const;
};

struct OrderedCertificates {
  /// Ascending by namespace and host. Of two listeners of a namespace with one host the settings of the older gateway
  /// hold.
  std::vector<OrderedCertificate> certificates;
  std::vector<OrderedBundle> bundles;
};

/// Names of one listener beyond these get no certificate.
inline constexpr std::size_t kMostOrderedNames = 4096;

/// Linear in the routes of listeners that have no host names of their own.
OrderedCertificates ordered_certificates(const LinkedConfig& config);

}  // namespace edge::compiler
