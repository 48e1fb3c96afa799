#include "edgectl/agents/redact.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

TEST(Redact, SecretsKeepTheirKeysAlone) {
  Json secret = {{"kind", "Secret"},
                 {"metadata", {{"name", "s"}, {"annotations", {{"applied", "hunter2"}}}, {"managedFields", {1}}}},
                 {"data", {{"tls.key", "aHVudGVyMg=="}}},
                 {"stringData", {{"htpasswd", "hunter2"}}}};
  EXPECT_EQ(redact(secret), 0u);
  EXPECT_EQ(secret["data"]["tls.key"], kRedacted);
  EXPECT_EQ(secret["metadata"]["name"], "s");
  EXPECT_FALSE(secret["metadata"].contains("managedFields"));
  EXPECT_EQ(secret.dump().find("hunter2"), std::string::npos);
  EXPECT_EQ(secret.dump().find("aHVudGVyMg"), std::string::npos);
}

TEST(Redact, CredentialsInSpecsAreTakenOutAndCounted) {
  Json object = Json::parse(R"({"spec": {
    "bgp": {"peers": [{"address": "10.0.0.1", "password": "hunter2"}]},
    "set": [{"name": "Authorization", "value": "Basic hunter2"}, {"name": "x-env", "value": "staging"}],
    "add": {"X-Api-Key": "hunter2", "x-other": "kept"},
    "clientSecret": {"inline": ["hunter2"]},
    "clientSecretRef": {"name": "kept-name", "key": "kept-key"},
    "secretName": "kept-secret", "jwksUri": "https://kept"}})");
  EXPECT_EQ(redact(object), 4u);
  const std::string text = object.dump();
  EXPECT_EQ(text.find("hunter2"), std::string::npos);
  for (const char* kept : {"10.0.0.1", "staging", "\"kept\"", "kept-name", "kept-key", "kept-secret", "https://kept"}) {
    EXPECT_NE(text.find(kept), std::string::npos) << kept;
  }
}

TEST(Redact, UserInformationOfUrls) {
  Json object = {{"spec",
                  {{"url", "https://ann:secret@api.example/x@y"},
                   {"address", "http://token@auth.example:8080"},
                   {"issuerURL", "https://issuer.example/realm"},
                   {"note", "see https://a:b@one.example and https://two.example/c@d"}}}};
  EXPECT_EQ(redact(object), 3u);
  EXPECT_EQ(object["spec"]["url"], "https://<redacted>@api.example/x@y");
  EXPECT_EQ(object["spec"]["address"], "http://<redacted>@auth.example:8080");
  EXPECT_EQ(object["spec"]["issuerURL"], "https://issuer.example/realm");
  EXPECT_EQ(object["spec"]["note"], "see https://<redacted>@one.example and https://two.example/c@d");
}

TEST(Redact, WhatIsNoObjectStays) {
  Json text = "text";
  EXPECT_EQ(redact(text), 0u);
  Json odd = {{"spec", 7}, {"metadata", {1}}, {"data", "all"}};
  EXPECT_EQ(redact(odd), 0u);
  EXPECT_EQ(odd["data"], kRedacted);
}

}  // namespace
}  // namespace edge::edgectl
