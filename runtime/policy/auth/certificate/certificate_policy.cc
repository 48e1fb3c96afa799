#include "runtime/policy/auth/certificate/certificate_policy.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "program/format/records.h"

namespace edge::runtime::auth {
namespace {

using net::tls::PeerIdentity;

constexpr std::string_view kForwardedCertificate = "X-Forwarded-Client-Cert";

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::binary_search(names.begin(), names.end(), name);
}

/// Whether the list has the name, or `*.` and what is above it.
bool names_host(const std::vector<std::string>& names, std::string_view host) {
  if (names.empty()) return false;
  if (contains(names, host)) return true;
  std::string above;
  for (std::size_t dot = host.find('.'); dot != std::string_view::npos; dot = host.find('.', dot + 1)) {
    above.assign("*").append(host.substr(dot));
    if (contains(names, above)) return true;
  }
  return false;
}

std::vector<std::string> texts_of(const program::SectionView& section, program::ArrayRef<program::StringRef> refs) {
  std::vector<std::string> texts;
  for (const program::StringRef& ref : section.array(refs)) texts.emplace_back(section.string(ref));
  return texts;
}

/// A value with `,`, `;`, `=` or a quotation mark in it would end early.
void add_quoted(std::string_view value, std::string& to) {
  to += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') to += '\\';
    to += c;
  }
  to += '"';
}

void add_element(std::string_view key, std::string_view value, std::string& to) {
  to.append(to.empty() ? "" : ";").append(key).append("=");
  if (value.find_first_of(",;=\" ") == std::string_view::npos) {
    to += value;
  } else {
    add_quoted(value, to);
  }
}

AuthResult refuse(std::string_view reason, std::string_view text) { return AuthResult::deny({403, reason, text, {}}); }

}  // namespace

Result<std::shared_ptr<const CertificatePolicy>> CertificatePolicy::make(
    const PolicyContext& making, const program::PolicyRecord& /*policy*/,
    const program::ClientCertificateRecord& record) {
  std::shared_ptr<CertificatePolicy> policy(new CertificatePolicy);
  policy->allows_all_ = record.allows_all != 0;
  policy->allow_ = names_of(making.section, record.allow);
  policy->deny_ = names_of(making.section, record.deny);
  policy->identity_header_ = making.section.string(record.identity_header);
  policy->forwards_ = record.forwards != 0;
  return std::shared_ptr<const CertificatePolicy>(std::move(policy));
}

CertificatePolicy::Names CertificatePolicy::names_of(const program::SectionView& section,
                                                     const program::CertificateNamesRecord& record) {
  Names names{.dns_names = texts_of(section, record.dns_names),
              .uris = texts_of(section, record.uris),
              .uri_prefixes = texts_of(section, record.uri_prefixes),
              .emails = texts_of(section, record.emails),
              .common_names = texts_of(section, record.common_names),
              .fingerprints = texts_of(section, record.fingerprints)};
  for (const program::CidrRecord& block : section.array(record.networks)) {
    names.networks.push_back(program::cidr_of(block));
  }
  return names;
}

bool CertificatePolicy::names_any(const Names& names, const PeerIdentity& identity) {
  const auto begins = [&](const std::string& uri) {
    return std::ranges::any_of(names.uri_prefixes, [&](const std::string& prefix) { return uri.starts_with(prefix); });
  };
  const auto within = [&](const IpAddress& address) {
    return std::ranges::any_of(names.networks, [&](const Cidr& network) { return network.contains(address); });
  };
  const auto of = [](const std::vector<std::string>& list) {
    return [&list](const std::string& name) { return contains(list, name); };
  };
  return contains(names.fingerprints, identity.fingerprint) || std::ranges::any_of(identity.uris, of(names.uris)) ||
         std::ranges::any_of(identity.uris, begins) ||
         std::ranges::any_of(identity.dns_names,
                             [&](const std::string& name) { return names_host(names.dns_names, name); }) ||
         std::ranges::any_of(identity.emails, of(names.emails)) || std::ranges::any_of(identity.addresses, within);
}

net::Task<AuthResult> CertificatePolicy::ask(const PolicyRequest& policy_request, AuthContext /*context*/) const {
  return decide(policy_request.certificate);
}

AuthResult CertificatePolicy::decide(const PeerIdentity* certificate) const {
  if (certificate == nullptr) return refuse("certificate-missing", "A client certificate is needed.");
  if (certificate->unverified) return refuse("certificate-unverified", "The client certificate does not verify.");
  constexpr std::string_view kDenied = "The client certificate does not let its holder pass here.";
  if (!certificate->sound) return refuse("certificate-denied", kDenied);
  const std::vector<std::string>& common_names = certificate->common_names;
  const bool denied =
      std::ranges::any_of(common_names, [&](const std::string& name) { return contains(deny_.common_names, name); });
  if (denied || names_any(deny_, *certificate)) return refuse("certificate-denied", kDenied);
  // A common name was never checked as names are (RFC 9525 §2): it lets pass only what has no other, of its kind
  // either.
  const bool by_common_name = !certificate->has_alternative_names && common_names.size() == 1 &&
                              contains(allow_.common_names, common_names.front());
  if (!allows_all_ && !names_any(allow_, *certificate) && !by_common_name) {
    return refuse("certificate-denied", kDenied);
  }
  AuthResult auth_result = AuthResult::pass();
  auth_result.subject = subject_of(*certificate);
  if (!identity_header_.empty()) auth_result.request.set(identity_header_, auth_result.subject);
  if (forwards_) auth_result.request.state(kForwardedCertificate, forwarded_certificate(*certificate));
  return auth_result;
}

std::string subject_of(const PeerIdentity& identity) {
  for (const auto* names : {&identity.uris, &identity.dns_names, &identity.emails}) {
    if (!names->empty()) return names->front();
  }
  return "sha256:" + identity.fingerprint;
}

std::string forwarded_certificate(const PeerIdentity& identity) {
  std::string value;
  add_element("Hash", identity.fingerprint, value);
  value += ";Subject=";
  add_quoted(identity.subject, value);
  for (const std::string& uri : identity.uris) add_element("URI", uri, value);
  for (const std::string& name : identity.dns_names) add_element("DNS", name, value);
  return value;
}

}  // namespace edge::runtime::auth
