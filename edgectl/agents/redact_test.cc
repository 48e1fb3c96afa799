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
  object["status"]["conditions"][0]["message"] = "`https://ann:secret@api.example` is no URL";
  EXPECT_EQ(redact(object), 3u);
  EXPECT_EQ(object["status"]["conditions"][0]["message"], "`https://<redacted>@api.example` is no URL");
  EXPECT_EQ(object["spec"]["url"], "https://<redacted>@api.example/x@y");
  EXPECT_EQ(object["spec"]["address"], "http://<redacted>@auth.example:8080");
  EXPECT_EQ(object["spec"]["issuerURL"], "https://issuer.example/realm");
  EXPECT_EQ(object["spec"]["note"], "see https://<redacted>@one.example and https://two.example/c@d");
}

TEST(Redact, SentencesOfExplanations) {
  EXPECT_EQ(redact_sentence("set request header authorization: Bearer secret"),
            "set request header authorization: <redacted>");
  EXPECT_EQ(redact_sentence("add response header x-ok: a: b"), "add response header x-ok: a: b");
  EXPECT_EQ(redact_sentence(R"(header:authorization == "Bearer \"secret\"" AND header:x-env == "preview")"),
            R"(header:authorization == "<redacted>" AND header:x-env == "preview")");
  EXPECT_EQ(redact_sentence(R"((header:x-api-key matches "secret.*" OR query:page == "2"))"),
            R"((header:x-api-key matches "<redacted>" OR query:page == "2"))");
  EXPECT_EQ(redact_sentence(R"(cookie:session == "secret")"), R"(cookie:session == "<redacted>")");
  EXPECT_EQ(redact_sentence(R"(header:authorization == "secret)"), R"(header:authorization == "<redacted>")");
  nlohmann::ordered_json explanation = {
      {"request", "GET http://a/?x=header:authorization \"mine\""},
      {"filters", {"set request header cookie: secret"}},
      {"hosts", {{{"rules", {{{"condition", "header:cookie == \"secret\""}, {"actual", "mine"}}}}}}}};
  redact_explanation(explanation);
  EXPECT_EQ(explanation.dump().find("secret"), std::string::npos);
  EXPECT_NE(explanation["request"].get<std::string>().find("mine"), std::string::npos);
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
