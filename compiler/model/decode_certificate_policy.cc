#include <algorithm>
#include <string>

#include "compiler/model/decode_kinds.h"
#include "program/format/request_policies.h"

namespace edge::compiler::model {
namespace {

constexpr std::string_view kNameFields[] = {"dnsNames",    "uris",        "uriPrefixes", "emails",
                                            "ipAddresses", "commonNames", "fingerprints"};

CertificateNames names_of(const Fields& own) {
  return {.dns_names = own.strings("dnsNames"),
          .uris = own.strings("uris"),
          .uri_prefixes = own.strings("uriPrefixes"),
          .emails = own.strings("emails"),
          .addresses = own.cidrs("ipAddresses"),
          .common_names = own.strings("commonNames"),
          .fingerprints = own.strings("fingerprints")};
}

/// A list without a name is a mistake on either side: nobody could pass, or nobody is kept out. So is a key that
/// nothing follows (null), which is not as good as left out: every certificate would pass.
void check_names(const Fields& own, std::string_view key, Report& report) {
  const yaml::Node written = own.written(key);
  if (!written) return;
  const Fields names = own.object(key);
  const std::string field = "spec.clientCertificate." + std::string(key);
  const bool some = std::ranges::any_of(kNameFields, [&](std::string_view list) {
    const yaml::Node node = names.node(list);
    return node && node.size() > 0;
  });
  if (!some) {
    report.fault(DiagnosticCode::kMissingField, written.key_span(), field, "no certificate is named",
                 key == "allow" ? "leave out `allow` to let every certificate pass that verifies" : "leave out `deny`");
  }
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
  check_names(own, "allow", report);
  check_names(own, "deny", report);
}

}  // namespace edge::compiler::model
