#include <string>

#include "compiler/model/decode_kinds.h"
#include "program/format/request_policies.h"

namespace edge::compiler::model {
namespace {

CertificateNames names_of(const Fields& own) {
  return {.dns_names = own.strings("dnsNames"),
          .uris = own.strings("uris"),
          .uri_prefixes = own.strings("uriPrefixes"),
          .emails = own.strings("emails"),
          .addresses = own.cidrs("ipAddresses"),
          .common_names = own.strings("commonNames"),
          .fingerprints = own.strings("fingerprints")};
}

void check_common_names(const Fields& own, std::string_view key, Report& report) {
  const Fields names = own.object(key);
  const std::string field = "spec.clientCertificate." + std::string(key);
  for (const Located<std::string>& name : names.strings("commonNames")) {
    const bool empty = name.value.empty();
    if (!empty && name.value.size() <= program::kLongestCertificateName) continue;
    report.fault(DiagnosticCode::kInvalidValue, name.span, field + ".commonNames",
                 empty ? "a common name is empty" : "a common name is longer than 2 KiB");
  }
}

}  // namespace

ClientCertificate decode_client_certificate(const Fields& own) {
  const Fields allow = own.object("allow");
  return {.allow = allow ? std::optional(names_of(allow)) : std::nullopt,
          .deny = names_of(own.object("deny")),
          .identity_header = own.text("identityHeader"),
          .forwards = own.boolean("forwardCertificate")};
}

void check_client_certificate(const Fields& own, Report& report) {
  check_common_names(own, "allow", report);
  check_common_names(own, "deny", report);
}

}  // namespace edge::compiler::model
