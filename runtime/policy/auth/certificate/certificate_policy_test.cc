#include "runtime/policy/auth/certificate/certificate_policy.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "program/format/records.h"
#include "program/section_builder.h"
#include "runtime/policy/auth/test_auth_context.h"

namespace edge::runtime::auth {
namespace {

using net::tls::PeerIdentity;
using Texts = std::vector<std::string>;

struct Written {
  Texts dns_names{}, uris{}, uri_prefixes{}, emails{}, networks{}, common_names{}, fingerprints{};
};

class CertificatePolicyTest : public ::testing::Test {
 protected:
  static program::CertificateNamesRecord names(program::SectionBuilder& builder, Written from) {
    const auto texts = [&](Texts& list) {
      std::ranges::sort(list);
      std::vector<program::StringRef> refs;
      for (const std::string& text : list) refs.push_back(builder.string(text));
      return builder.array(refs);
    };
    std::vector<program::CidrRecord> networks;
    for (const std::string& network : from.networks) networks.push_back(program::cidr_record(*parse_cidr(network)));
    program::CertificateNamesRecord record{};
    record.dns_names = texts(from.dns_names);
    record.uris = texts(from.uris);
    record.uri_prefixes = texts(from.uri_prefixes);
    record.emails = texts(from.emails);
    record.networks = builder.array(networks);
    record.common_names = texts(from.common_names);
    record.fingerprints = texts(from.fingerprints);
    return record;
  }

  void make(Written allow, Written deny = {}, bool allows_all = false) {
    program::SectionBuilder builder(sizeof(program::PoliciesHeader));
    const program::ClientCertificateRecord record{names(builder, std::move(allow)), names(builder, std::move(deny)),
                                                  builder.string("x-client"), allows_all ? 1U : 0U, 1};
    const std::vector<std::byte> bytes = std::move(builder).finish(program::PoliciesHeader{});
    const program::SectionView section(bytes);
    const program::SecretSet values;
    const auto made = CertificatePolicy::make({section, values, context_.stores}, program::PolicyRecord{}, record);
    ASSERT_TRUE(made.ok());
    policy_ = *made;
  }

  AuthResult ask(const PeerIdentity* certificate) const { return policy_->decide(certificate); }
  bool passes(const PeerIdentity& certificate) const {
    const AuthResult result = ask(&certificate);
    if (!result.passed()) {
      EXPECT_EQ(result.answer.status, 403);
      EXPECT_EQ(result.answer.reason, "certificate-denied");
    }
    return result.passed();
  }

  static PeerIdentity of(PeerIdentity identity) {
    identity.sound = true;
    identity.has_alternative_names = !identity.dns_names.empty() || !identity.uris.empty() ||
                                     !identity.emails.empty() || !identity.addresses.empty();
    return identity;
  }
  static PeerIdentity uri(const std::string& uri) { return of({.uris = {uri}}); }
  static PeerIdentity dns(const std::string& name) { return of({.dns_names = {name}}); }

  testing::TestAuthContext context_;
  std::shared_ptr<const CertificatePolicy> policy_;
};

TEST_F(CertificatePolicyTest, WithoutACertificateThatVerifiesNobodyPasses) {
  make({}, {}, true);
  EXPECT_EQ(ask(nullptr).answer.reason, "certificate-missing");
  EXPECT_EQ(ask(nullptr).answer.status, 403);
  const PeerIdentity unverified{.unverified = true};
  EXPECT_EQ(ask(&unverified).answer.reason, "certificate-unverified");
  EXPECT_FALSE(passes(PeerIdentity{})) << "its names cannot be used";
  EXPECT_TRUE(passes(dns("a.example")));
}

TEST_F(CertificatePolicyTest, DnsNamesMatchWholeOrBelow) {
  make({.dns_names = {"a.example", "*.b.example"}});
  EXPECT_TRUE(passes(dns("a.example")));
  EXPECT_FALSE(passes(dns("x.a.example")));
  EXPECT_TRUE(passes(dns("x.b.example")));
  EXPECT_TRUE(passes(dns("y.x.b.example")));
  EXPECT_FALSE(passes(dns("b.example")));
  EXPECT_FALSE(passes(dns("xb.example")));
  EXPECT_FALSE(passes(dns("x.b.example.evil")));
  EXPECT_TRUE(passes(of({.dns_names = {"other", "a.example"}}))) << "any of its names";
}

TEST_F(CertificatePolicyTest, UrisMatchWholeOrBelow) {
  make({.uris = {"spiffe://td/ns/a"}, .uri_prefixes = {"spiffe://td/ns/b/"}});
  EXPECT_TRUE(passes(uri("spiffe://td/ns/a")));
  EXPECT_FALSE(passes(uri("spiffe://td/ns/a/x")));
  EXPECT_FALSE(passes(uri("SPIFFE://td/ns/a")));
  EXPECT_TRUE(passes(uri("spiffe://td/ns/b/x")));
  EXPECT_FALSE(passes(uri("spiffe://td/ns/bb/x")));
  EXPECT_FALSE(passes(dns("spiffe://td/ns/a"))) << "a name of another kind";
}

TEST_F(CertificatePolicyTest, OtherNamesAndFingerprints) {
  const std::string print(64, 'a');
  make({.emails = {"a@example.org"}, .networks = {"10.1.0.0/16"}, .fingerprints = {print}});
  EXPECT_TRUE(passes(of({.emails = {"a@example.org"}})));
  EXPECT_FALSE(passes(of({.emails = {"A@example.org"}})));
  EXPECT_TRUE(passes(of({.addresses = {*parse_ip("10.1.2.3")}})));
  EXPECT_FALSE(passes(of({.addresses = {*parse_ip("10.2.2.3")}})));
  EXPECT_TRUE(passes(of({.fingerprint = print})));
  EXPECT_FALSE(passes(of({.fingerprint = std::string(64, 'b')})));
}

TEST_F(CertificatePolicyTest, ACommonNameLetsPassOnlyWhatHasNoOtherNameAndKeepsOutAll) {
  make({.common_names = {"alice"}});
  EXPECT_TRUE(passes(of({.common_names = {"alice"}})));
  EXPECT_FALSE(passes(of({.dns_names = {"a.example"}, .common_names = {"alice"}})));
  EXPECT_FALSE(passes(of({})));
  EXPECT_FALSE(passes(of({.common_names = {"alice", "alice"}})));
  EXPECT_FALSE(passes(of({.common_names = {"bob", "alice"}})));
  make({}, {.common_names = {"alice"}}, true);
  EXPECT_FALSE(passes(of({.common_names = {"alice"}})));
  EXPECT_FALSE(passes(of({.dns_names = {"a.example"}, .common_names = {"alice"}})));
  EXPECT_FALSE(passes(of({.common_names = {"alice", "bob"}})));
  EXPECT_FALSE(passes(of({.common_names = {"bob", "alice"}})));
  EXPECT_TRUE(passes(of({.common_names = {"bob"}})));
}

TEST_F(CertificatePolicyTest, DenyTakesPrecedence) {
  make({.uri_prefixes = {"spiffe://td/"}}, {.uris = {"spiffe://td/b"}});
  EXPECT_TRUE(passes(uri("spiffe://td/a")));
  EXPECT_FALSE(passes(uri("spiffe://td/b")));
  EXPECT_FALSE(passes(of({.uris = {"spiffe://td/a", "spiffe://td/b"}})));
}

TEST_F(CertificatePolicyTest, TheBackendIsToldInTheProxysWords) {
  make({}, {}, true);
  PeerIdentity identity = of({.dns_names = {"a.example"}, .uris = {"spiffe://td/a;b"}, .emails = {"a@b.c"}});
  identity.subject = R"(CN=Alice "A" \, B)";
  identity.fingerprint = "00ff";
  const AuthResult result = ask(&identity);
  ASSERT_TRUE(result.passed());
  EXPECT_EQ(result.subject, "spiffe://td/a;b");
  EXPECT_EQ(result.request.value("x-client"), "spiffe://td/a;b");
  EXPECT_EQ(result.request.value("x-forwarded-client-cert"),
            R"(Hash=00ff;Subject="CN=Alice \"A\" \\, B";URI="spiffe://td/a;b";DNS=a.example)");
  EXPECT_TRUE(result.request.drops("X_Client"));
  EXPECT_EQ(subject_of(of({.dns_names = {"a.example"}, .emails = {"a@b.c"}})), "a.example");
  EXPECT_EQ(subject_of(of({.emails = {"a@b.c"}})), "a@b.c");
  EXPECT_EQ(subject_of(of({.common_names = {"alice"}, .fingerprint = "00ff"})), "sha256:00ff");
}

}  // namespace
}  // namespace edge::runtime::auth
