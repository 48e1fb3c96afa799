// Explains the TLS handshake of a client: which certificate of the listener answers the name that it asks for, or why
// it is refused. What the listener has of values (whether an ordered certificate is there, the names of certificates in
// Secrets) is in no program, and is not known here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/link/ordered_certificates.h"
#include "program/read.h"

namespace edge::compiler::analyze {

struct Handshake {
  std::string_view server_name;                  ///< canonical; empty: the client names none
  const OrderedCertificates* ordered = nullptr;  ///< of the program's configuration; null: not known
};

struct ExplainedHandshake {
  enum class Answer : std::uint8_t {
    kCertificate,  ///< of the listener's own, by its names
    kOrdered,      ///< for the name, or its wildcard, from a CA
    kOnDemand,     ///< the allow-list has the name: ordered when the first client asks
    kAsked,        ///< the ask-URL decides whether one is ordered
    kUnknown,      ///< ordered, and the configuration that says for which names is not known
    kRefused,
  };
  Answer answer = Answer::kRefused;
  std::string server_name{};
  /// `secret shop/site`, `file /etc/tls/site.pem`; those of kCertificate in the listener's order.
  std::vector<std::string> certificates{};
  std::string pattern{};  ///< kOnDemand: of the allow-list
  std::string ask_url{};  ///< kAsked: without its query, which may have passwords
  /// kRefused: that the client gets (RFC 8446 §6.2); for the others: while there is no certificate.
  std::string alert{};
  std::string text{};  ///< for users, one line
};

/// `bind` is an index into the program's binds. nullopt: requests do not come by TLS there, or it is passed through.
std::optional<ExplainedHandshake> explain_handshake(const program::ProgramView& program, std::uint32_t bind,
                                                    const Handshake& handshake);

}  // namespace edge::compiler::analyze
