// The certificates that a configuration needs from CAs, one for each host name, so that a name that cannot be validated
// keeps no other from its certificate.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/link/linked_config.h"

namespace edge::compiler {

struct OrderedCertificate {
  std::string name_space;  ///< of the listener, and of the Secret in which it is kept
  std::string host;        ///< a name, or `*.name`
  std::string gateway;     ///< `namespace/name` of the one that needs it, for messages
  AcmeSettings settings;
  friend bool operator==(const OrderedCertificate&, const OrderedCertificate&) = default;
};

/// The certificates of one listener, which agents get as one secret.
struct OrderedBundle {
  std::string name_space;
  std::string name;  ///< program::ordered_secret_name
  std::vector<std::string> hosts;
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
