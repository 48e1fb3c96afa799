#include "edgectl/web/api/views/certificate_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/base64.h"
#include "edgectl/web/api/test_store.h"
#include "tests/support/certificates.h"

namespace edge::edgectl::web {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::ordered_json;

kube::Object secret(const std::string& name, const test::IssuedCertificate& issued,
                    const std::string& type = "kubernetes.io/tls") {
  kube::Object object;
  object.name_space = "edge";
  object.name = name;
  object.text = json_line(Json{{"kind", "Secret"},
                               {"metadata", {{"namespace", "edge"}, {"name", name}}},
                               {"type", type},
                               {"data", {{"tls.crt", to_base64(issued.chain)}, {"tls.key", to_base64(issued.key)}}}});
  return object;
}

class Certificates : public testing::Test {
 protected:
  Certificates() {
    store_.add(
        R"({"kind":"ProxyGateway","metadata":{"namespace":"edge","name":"web"},"spec":{"listeners":[)"
        R"({"name":"a","tls":{"certificateRefs":[{"name":"late"},{"name":"missing"}]}},)"
        R"({"name":"b","tls":{"secretRef":{"name":"early"}}},{"name":"c","tls":{"certFile":"/etc/tls/c.crt"}}]}})");
  }
  std::vector<std::string> names(const Json& reply) {
    std::vector<std::string> names;
    for (const Json& one : reply["items"]) names.push_back(one["name"]);
    return names;
  }

  TestStore store_;
  test::TestAuthority authority_{"an authority"};
};

TEST_F(Certificates, WhatEndsFirstComesFirstAndNoKeyIsTold) {
  const auto late = authority_.issue({.names = {"late.example"}, .lifetime = std::chrono::hours(2000)});
  const auto early = authority_.issue({.names = {"early.example", "*.early.example"}});
  const std::vector<kube::Object> secrets = {secret("late", late), secret("early", early), secret("idle", late),
                                             secret("other", late, "Opaque")};
  const Json reply = certificates_json(certificate_uses(store_.view()), secrets, {});
  EXPECT_THAT(names(reply), ElementsAre("missing", "early", "idle", "late", "/etc/tls/c.crt"));
  const Json& first = reply["items"][1];
  EXPECT_EQ(first["names"], Json({"early.example", "*.early.example"}));
  EXPECT_EQ(first["issuer"], "an authority");
  EXPECT_EQ(first["selfSigned"], false);
  EXPECT_EQ(first["usedBy"][0]["listener"], "b");
  EXPECT_THAT(first["notAfter"].get<std::string>(), testing::MatchesRegex("20..-..-..T..:..:..Z"));
  EXPECT_EQ(reply["items"][0]["fault"], "the Secret does not exist");
  EXPECT_TRUE(reply["items"][2]["usedBy"].empty());
  const std::string text = json_line(reply);
  EXPECT_THAT(text, AllOf(Not(HasSubstr("PRIVATE")), Not(HasSubstr(to_base64(late.key).substr(0, 60)))));
}

TEST_F(Certificates, WhatCannotBeReadSaysWhy) {
  kube::Object broken =
      secret("early", {"-----BEGIN CERTIFICATE-----\nplanted\n-----END CERTIFICATE-----\n", "planted"});
  const Json reply = certificates_json(certificate_uses(store_.view()), {broken}, {});
  for (const Json& one : reply["items"]) {
    if (one["name"] == "early") EXPECT_THAT(one["fault"].get<std::string>(), HasSubstr("tls.crt: not a certificate"));
  }
  EXPECT_THAT(json_line(reply), Not(HasSubstr("planted")));
  const Json refused = certificates_json(certificate_uses(store_.view()), {}, "403 Forbidden");
  EXPECT_EQ(refused["fault"], "403 Forbidden");
  EXPECT_THAT(refused["items"][0]["fault"].get<std::string>(), HasSubstr("403 Forbidden"));
}

}  // namespace
}  // namespace edge::edgectl::web
