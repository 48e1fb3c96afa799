// Names of certificates as policies compare them, and certificates whose names could be taken for others.
#include "net/tls/peer_identity.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/text/pem.h"
#include "tests/support/certificates.h"

namespace edge::net::tls {
namespace {

using ::testing::ElementsAre;
using LeafHandle = std::unique_ptr<X509, decltype(&X509_free)>;

LeafHandle parsed(const test::IssuedCertificate& issued) {
  return {first_in_pem<PEM_read_bio_X509>(issued.chain), X509_free};
}

LeafHandle issue(const test::IssueOptions& options) {
  static const test::TestAuthority authority("clients");
  return parsed(authority.issue(options));
}

/// A certificate whose alternative names are these bytes, DNS or URI: what no tool writes.
LeafHandle with_names(int kind, const std::vector<std::string>& names) {
  LeafHandle certificate = issue({});
  GENERAL_NAMES* const list = sk_GENERAL_NAME_new_null();
  for (const std::string& name : names) {
    ASN1_IA5STRING* const text = ASN1_IA5STRING_new();
    ASN1_STRING_set(text, name.data(), static_cast<int>(name.size()));
    GENERAL_NAME* const one = GENERAL_NAME_new();
    GENERAL_NAME_set0_value(one, kind, text);
    sk_GENERAL_NAME_push(list, one);
  }
  EXPECT_EQ(X509_add1_ext_i2d(certificate.get(), NID_subject_alt_name, list, 0, 0), 1);
  GENERAL_NAMES_free(list);
  return certificate;
}

TEST(PeerIdentity, HasTheNamesInTheFormThatIsCompared) {
  const LeafHandle certificate = issue({.names = {"A.Example"},
                                        .uris = {"spiffe://TD/ns/a"},
                                        .others = {"email:Al@Example.ORG", "IP:10.0.0.1", "IP:2001:db8::1"},
                                        .common_name = "Al"});
  const PeerIdentity identity = identity_of(*certificate, true);
  EXPECT_TRUE(identity.sound);
  EXPECT_TRUE(identity.has_alternative_names);
  EXPECT_THAT(identity.dns_names, ElementsAre("a.example"));
  EXPECT_THAT(identity.uris, ElementsAre("spiffe://TD/ns/a"));
  EXPECT_THAT(identity.emails, ElementsAre("Al@example.org"));
  EXPECT_THAT(identity.addresses, ElementsAre(*parse_ip("10.0.0.1"), *parse_ip("2001:db8::1")));
  EXPECT_THAT(identity.common_names, ElementsAre("Al"));
  EXPECT_EQ(identity.subject, "CN=Al");
  EXPECT_EQ(identity.fingerprint.size(), 64U);
}

TEST(PeerIdentity, WhatDoesNotVerifyHasNone) {
  const LeafHandle certificate = issue({.names = {"a.example"}});
  EXPECT_TRUE(identity_of(*certificate, false).unverified);
  EXPECT_FALSE(identity_of(*certificate, false).sound);
  EXPECT_TRUE(identity_of(*certificate, false).dns_names.empty());
  const LeafHandle late = issue({.names = {"a.example"}, .lifetime = std::chrono::seconds(-60)});
  EXPECT_TRUE(identity_of(*late, true).unverified) << "a session that was resumed after its certificate's time";
}

TEST(PeerIdentity, NamesThatCouldPassForOthersAreNobodys) {
  using namespace std::string_literals;
  EXPECT_TRUE(identity_of(*with_names(GEN_DNS, {"a.example"}), true).sound);
  EXPECT_FALSE(identity_of(*with_names(GEN_DNS, {"a.example\0.evil"s}), true).sound);
  EXPECT_FALSE(identity_of(*with_names(GEN_DNS, {"b.example", "a.example\r\nX: 1"}), true).sound);
  EXPECT_FALSE(identity_of(*with_names(GEN_DNS, {""}), true).sound);
  EXPECT_FALSE(identity_of(*with_names(GEN_URI, {"spiffe://td/ns/a/../b"}), true).sound);
  EXPECT_FALSE(identity_of(*with_names(GEN_URI, {"spiffe://td/ns/a/%2e%2E/b"}), true).sound);
  EXPECT_FALSE(identity_of(*with_names(GEN_URI, {"spiffe://td/ns/a/.."}), true).sound);
  EXPECT_TRUE(identity_of(*with_names(GEN_URI, {"spiffe://td/ns/..a/b"}), true).sound);
  EXPECT_FALSE(identity_of(*with_names(GEN_DNS, {"a.example\0.evil"s}), true).unverified);
}

TEST(PeerIdentity, ManyNamesAreNobodys) {
  // The subject and its common name count, too.
  EXPECT_TRUE(identity_of(*with_names(GEN_DNS, std::vector<std::string>(kMostPeerNames - 2, "a")), true).sound);
  EXPECT_FALSE(identity_of(*with_names(GEN_DNS, std::vector<std::string>(kMostPeerNames - 1, "a")), true).sound);
  EXPECT_FALSE(identity_of(*with_names(GEN_DNS, {std::string(kMostPeerNameBytes, 'a')}), true).sound);
}

}  // namespace
}  // namespace edge::net::tls
