// The parts of the API's face that need no client: credentials, who may do what, discovery, bodies in protobuf. What
// clients make of the whole is in tests/kubectl and tests/client_go.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/os/file.h"
#include "base/text/base64.h"
#include "base/text/protobuf_writer.h"
#include "controller/resource_api/http/access.h"
#include "controller/resource_api/http/credentials.h"
#include "controller/resource_api/http/discovery.h"
#include "controller/resource_api/http/documents.h"
#include "controller/resource_api/http/front.h"
#include "controller/resource_api/http/kubernetes_protobuf.h"
#include "controller/resource_api/http/openapi.h"
#include "controller/resource_api/http/reviews.h"

namespace edge::resource_api::http {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;

// ---- Credentials --------------------------------------------------------------------------------------------------

class CredentialsTest : public testing::Test {
 protected:
  CredentialsTest() {
    std::string pattern = (fs::temp_directory_path() / "credentials.XXXXXX").string();
    parent_ = ::mkdtemp(pattern.data());
    directory_ = parent_ + "/api";
  }
  ~CredentialsTest() override { fs::remove_all(parent_); }

  std::unique_ptr<Credentials> open(std::vector<std::string> hosts = {}) {
    auto opened =
        Credentials::open({.directory = directory_, .hosts = std::move(hosts), .clock = [this] { return now_; }});
    EXPECT_TRUE(opened) << opened.error().text;
    return opened ? std::move(*opened) : nullptr;
  }
  std::string file(const std::string& name) const { return *read_file(directory_ + "/" + name, 1 << 20); }
  std::string token() const {
    std::string text = file("token");
    text.pop_back();
    return text;
  }

  std::string parent_;
  std::string directory_;
  controller::WallTime now_ = std::chrono::system_clock::now();
};

TEST_F(CredentialsTest, KeepsSecretsFromOthers) {
  const auto credentials = open();
  ASSERT_TRUE(credentials->write_kubeconfig(parent_ + "/kubeconfig", "https://127.0.0.1:1"));
  std::vector<std::string> paths = {parent_ + "/kubeconfig"};
  for (const auto& entry : fs::directory_iterator(directory_)) paths.push_back(entry.path());
  EXPECT_EQ(paths.size(), 7U);
  for (const std::string& path : paths) {
    struct stat facts{};
    ASSERT_EQ(::stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0600U) << path;
  }
}

TEST_F(CredentialsTest, StaysTheSameWhenItIsOpenedAgain) {
  const auto first = open();
  const std::string server = file("server.pem");
  const std::string administrator = file("admin.pem");
  const auto second = open();
  EXPECT_EQ(first->authority(), second->authority());
  EXPECT_EQ(server, file("server.pem"));
  EXPECT_EQ(administrator, file("admin.pem"));
  EXPECT_TRUE(second->user_of_token(token()));
}

TEST_F(CredentialsTest, KnowsTokensAndNothingElse) {
  const auto credentials = open();
  const auto administrator = credentials->user_of_token(token());
  ASSERT_TRUE(administrator);
  EXPECT_EQ(administrator->name, "edge-admin");
  EXPECT_TRUE(is_in(*administrator, kMastersGroup));
  EXPECT_FALSE(credentials->user_of_token(""));
  EXPECT_FALSE(credentials->user_of_token(token() + "x"));
  EXPECT_FALSE(credentials->user_of_token(token().substr(1)));

  std::ofstream(directory_ + "/tokens") << "# who may read\na-long-enough-token ann edge:readers,others\nshort joe\n";
  const auto reader = credentials->user_of_token("a-long-enough-token");
  ASSERT_TRUE(reader);
  EXPECT_THAT(reader->groups, testing::ElementsAre("edge:readers", "others", "system:authenticated"));
  EXPECT_FALSE(credentials->user_of_token("short"));
  fs::rename(directory_ + "/tokens", directory_ + "/away");
  EXPECT_FALSE(credentials->user_of_token("a-long-enough-token"));
  fs::rename(directory_ + "/away", directory_ + "/tokens");
  EXPECT_TRUE(credentials->user_of_token("a-long-enough-token")) << "the file is as old as it was";
}

TEST_F(CredentialsTest, RenewsCertificatesAtTwoThirds) {
  const auto credentials = open();
  const std::string server = file("server.pem");
  const std::string administrator = file("admin.pem");
  now_ += hours(24 * 59);
  Result<bool> changed = credentials->tend();
  EXPECT_TRUE(changed && !*changed);
  now_ += hours(24 * 2);
  changed = credentials->tend();
  EXPECT_TRUE(changed && *changed);
  EXPECT_NE(server, file("server.pem"));
  EXPECT_EQ(administrator, file("admin.pem"));
  now_ += hours(24 * 200);
  ASSERT_TRUE(credentials->tend());
  EXPECT_NE(administrator, file("admin.pem"));
}

TEST_F(CredentialsTest, ACertificateForOtherHostsIsAnother) {
  open();
  const std::string server = file("server.pem");
  open({"api.example.com", "192.0.2.7"});
  EXPECT_NE(server, file("server.pem"));
}

TEST_F(CredentialsTest, KeepsTheKubeconfigRight) {
  const auto credentials = open();
  const std::string path = parent_ + "/kubeconfig";
  ASSERT_TRUE(credentials->write_kubeconfig(path, "https://127.0.0.1:6443"));
  const auto first = fs::last_write_time(path);
  ASSERT_TRUE(credentials->write_kubeconfig(path, "https://127.0.0.1:6443"));
  EXPECT_EQ(first, fs::last_write_time(path));
  ASSERT_TRUE(credentials->write_kubeconfig(path, "https://127.0.0.1:7443"));
  const std::string text = *read_file(path, 1 << 20);
  EXPECT_THAT(text, testing::HasSubstr("server: https://127.0.0.1:7443\n"));
  EXPECT_THAT(text, testing::HasSubstr(to_base64(credentials->authority())));
}

/// As TLS tells of who shows `pem`.
net::server::ClientName client_of(const std::string& pem) {
  const auto issued = controller::issue_of(pem).time_since_epoch();
  const auto count = std::chrono::duration_cast<std::chrono::milliseconds>(issued).count();
  net::server::ClientName name{.common_name = "edge-admin", .organizations = {std::string(kMastersGroup)}};
  for (int i = 7; i >= 0; --i) name.serial += static_cast<char>(count >> (8 * i) & 0xff);
  name.serial.erase(0, name.serial.find_first_not_of('\0'));
  name.serial += std::string(8, 'x');
  return name;
}

TEST_F(CredentialsTest, WhatAClockThatWasAheadIssuedIsRevokedToo) {
  auto credentials = open();
  now_ += hours(24 * 300);
  ASSERT_TRUE(credentials->tend());
  const std::string leaked = file("admin.pem");
  now_ -= hours(24 * 300);
  ASSERT_TRUE(credentials->tend());
  ASSERT_NE(file("admin.pem"), leaked);
  credentials = open();
  const auto replace = [&] {
    std::ofstream(directory_ + "/replace-administrator") << "";
    const Result<bool> replaced = credentials->replace_if_asked();
    return replaced && *replaced;
  };
  ASSERT_TRUE(replace());
  EXPECT_FALSE(credentials->user_of(client_of(leaked)));
  const std::string second = file("admin.pem");
  EXPECT_TRUE(credentials->user_of(client_of(second)));
  // By a clock that was set back since: what was revoked stays so.
  now_ -= hours(24 * 30);
  ASSERT_TRUE(replace());
  EXPECT_FALSE(credentials->user_of(client_of(leaked)));
  EXPECT_FALSE(credentials->user_of(client_of(second)));
  EXPECT_TRUE(credentials->user_of(client_of(file("admin.pem"))));
}

TEST_F(CredentialsTest, ReplacesTheAdministratorWhereThatIsAskedFor) {
  auto credentials = open();
  const std::string leaked = file("admin.pem");
  const std::string leaked_token = token();
  EXPECT_TRUE(credentials->user_of(client_of(leaked)));
  Result<bool> replaced = credentials->replace_if_asked();
  EXPECT_TRUE(replaced && !*replaced);

  std::ofstream(directory_ + "/replace-administrator") << "";
  replaced = credentials->replace_if_asked();
  ASSERT_TRUE(replaced && *replaced) << replaced.error().text;
  EXPECT_FALSE(fs::exists(directory_ + "/replace-administrator"));
  EXPECT_EQ(credentials->replacements(), 1U);
  EXPECT_FALSE(credentials->user_of(client_of(leaked)));
  EXPECT_FALSE(credentials->user_of_token(leaked_token));
  EXPECT_TRUE(credentials->user_of(client_of(file("admin.pem")))) << "issued in the same moment";
  EXPECT_TRUE(credentials->user_of_token(token()));
  EXPECT_TRUE(credentials->user_of_token(credentials->own_token())) << "parts of the process go on";
  // A certificate without a number of ours is older than any.
  EXPECT_FALSE(credentials->user_of({.common_name = "edge-admin", .organizations = {}}));

  const std::string own = credentials->own_token();
  const std::string present = file("admin.pem");
  credentials = open();
  EXPECT_EQ(file("admin.pem"), present);
  EXPECT_FALSE(credentials->user_of(client_of(leaked))) << "over a restart";
  EXPECT_FALSE(credentials->user_of_token(own));
  // Put back from a backup it is not taken either.
  std::ofstream(directory_ + "/admin.pem") << leaked;
  credentials = open();
  EXPECT_NE(file("admin.pem"), leaked);
  // Asked for while nobody runs: the next to start does it first.
  const std::string before = file("admin.pem");
  std::ofstream(directory_ + "/replace-administrator") << "";
  now_ += std::chrono::seconds(1);
  credentials = open();
  EXPECT_FALSE(credentials->user_of(client_of(before)));
  std::ofstream(directory_ + "/revoked-before") << "soon";
  EXPECT_FALSE(Credentials::open({.directory = directory_})) << "closed rather than open";
}

TEST_F(CredentialsTest, RefusesAnAuthorityThatIsNone) {
  open();
  std::ofstream(directory_ + "/ca.pem") << "nothing";
  EXPECT_FALSE(Credentials::open({.directory = directory_}));
}

// ---- Access -------------------------------------------------------------------------------------------------------

std::string reported(const Attributes& what) {
  if (!what.path.empty()) return what.verb + " " + what.path;
  return what.verb + " " + what.group + "/" + what.version + " ns=" + what.name_space + " " + what.resource + "/" +
         what.name + "/" + what.subresource;
}

TEST(Attributes, AreReadOffPaths) {
  const auto of = [](std::string_view method, std::string_view path, const Query& query = {}) {
    return reported(attributes_of(method, path, query));
  };
  EXPECT_EQ(of("GET", "/api/v1/namespaces"), "list /v1 ns= namespaces//");
  EXPECT_EQ(of("GET", "/api/v1/namespaces/shop"), "get /v1 ns=shop namespaces/shop/");
  EXPECT_EQ(of("PUT", "/api/v1/namespaces/shop/status"), "update /v1 ns=shop namespaces/shop/status");
  EXPECT_EQ(of("PUT", "/api/v1/namespaces/shop/finalize"), "update /v1 ns=shop namespaces/shop/finalize");
  EXPECT_EQ(of("GET", "/api/v1/namespaces/shop/pods"), "list /v1 ns=shop pods//");
  EXPECT_EQ(of("GET", "/api/v1/pods", {{"watch", "true"}}), "watch /v1 ns= pods//");
  EXPECT_EQ(of("GET", "/api/v1/pods", {{"watch", "0"}}), "list /v1 ns= pods//");
  EXPECT_EQ(of("DELETE", "/apis/a.b/v1/namespaces/x/things"), "deletecollection a.b/v1 ns=x things//");
  EXPECT_EQ(of("PATCH", "/apis/a.b/v1/namespaces/x/things/y/status"), "patch a.b/v1 ns=x things/y/status");
  EXPECT_EQ(of("POST", "//apis//a.b/v1/things"), "create a.b/v1 ns= things//");
  EXPECT_EQ(of("GET", "/apis/a.b/v1"), "get /apis/a.b/v1");
  EXPECT_EQ(of("GET", ""), "get /");
}

TEST(Access, IsGivenByGroup) {
  const User master{"m", {"system:masters", "system:authenticated"}};
  const User reader{"r", {"edge:readers", "system:authenticated"}};
  const User known{"k", {"system:authenticated"}};
  const User nobody{"n", {}};
  const auto may = [](const User& user, std::string_view method, std::string_view path) {
    return allowed(user, attributes_of(method, path, {}));
  };
  EXPECT_TRUE(may(master, "DELETE", "/api/v1/namespaces/a/secrets/b"));
  EXPECT_TRUE(may(reader, "GET", "/api/v1/namespaces/a/configmaps"));
  EXPECT_FALSE(may(reader, "GET", "/api/v1/namespaces/a/secrets"));
  EXPECT_FALSE(may(reader, "GET", "/api/v1/secrets"));
  EXPECT_FALSE(may(reader, "PUT", "/api/v1/namespaces/a/configmaps/b"));
  EXPECT_FALSE(may(known, "GET", "/api/v1/namespaces/a/configmaps"));
  EXPECT_TRUE(may(known, "GET", "/apis/edgeproxy.io/v1alpha1"));
  EXPECT_TRUE(may(known, "GET", "/openapi/v3/api/v1"));
  EXPECT_TRUE(may(known, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"));
  EXPECT_FALSE(may(known, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews"));
  EXPECT_FALSE(may(known, "GET", "/metrics"));
  EXPECT_FALSE(may(nobody, "GET", "/apis"));
}

TEST(Reviews, SayWhatAnotherMayDo) {
  ApiRequest request{.method = "POST",
                     .path = "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                     .query = {},
                     .content_type = {},
                     .accept = {},
                     .body = R"({"spec":{"user":"r","groups":["edge:readers","system:authenticated"],
                                 "resourceAttributes":{"verb":"get","resource":"secrets"}}})",
                     .user = {"m", {"system:masters"}},
                     .user_agent = {}};
  const Attributes what = attributes_of(request.method, request.path, {});
  std::optional<ApiReply> reply = answer_review(request, what);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 201);
  EXPECT_FALSE(Json::parse(reply->body)["status"]["allowed"]);
  request.body = "[1";
  EXPECT_EQ(answer_review(request, what)->status, 400);
  request.method = "GET";
  EXPECT_EQ(answer_review(request, attributes_of("GET", request.path, {}))->status, 405);
}

TEST(Decoding, TakesWhatIsWellFormed) {
  EXPECT_EQ(decode_path("/a%20b+c"), "/a b+c");
  EXPECT_EQ(decode_path("/%41"), "/A");
  for (const char* bad : {"%", "%4", "/%zz", "%00"}) EXPECT_FALSE(decode_path(bad)) << bad;
  EXPECT_THAT(*decode_query("a=b+c&&d&e=%3D"),
              testing::ElementsAre(testing::Pair("a", "b c"), testing::Pair("d", ""), testing::Pair("e", "=")));
  EXPECT_FALSE(decode_query("a=%"));
  std::string many;
  for (int i = 0; i < 65; ++i) many += "a&";
  EXPECT_FALSE(decode_query(many));
}

// ---- Documents ----------------------------------------------------------------------------------------------------

net::server::Request get(const std::string& path, net::server::FieldList fields = {}) {
  return {.method = "GET", .path = path, .query = {}, .host = {}, .fields = std::move(fields), .body = {}, .peer = {}};
}

TEST(Documents, AreKeptUntilTheKindsChange) {
  Registry registry;
  Documents documents(registry);
  const auto etag = [](const net::server::Reply& reply) { return reply.fields.front().second; };
  const auto first = documents.answer(get("/apis"), "/apis");
  ASSERT_TRUE(first);
  EXPECT_EQ(documents.answer(get("/apis", {{"If-None-Match", etag(*first)}}), "/apis")->status, 304);
  ResourceType widget;
  widget.group = "test.example";
  widget.version = "v1";
  widget.kind = "Widget";
  widget.plural = "widgets";
  widget.singular = "widget";
  widget.custom = true;
  widget.collection = "test.example/widgets";
  registry.replace(widget.collection, {std::make_shared<const ResourceType>(widget)});
  const auto second = documents.answer(get("/apis", {{"If-None-Match", etag(*first)}}), "/apis");
  EXPECT_EQ(second->status, 200);
  EXPECT_THAT(second->body, testing::HasSubstr("test.example"));
  EXPECT_TRUE(documents.answer(get("/apis/test.example/v1"), "/apis/test.example/v1"));
  EXPECT_FALSE(documents.answer(get("/apis/test.example/v2"), "/apis/test.example/v2"));
  EXPECT_FALSE(documents.answer(get("/api/v1/pods"), "/api/v1/pods"));
}

TEST(Documents, AreAggregatedForWhoAsks) {
  Registry registry;
  Documents documents(registry);
  const auto kind_of = [&](const std::string& accept) {
    return Json::parse(documents.answer(get("/apis", {{"Accept", accept}}), "/apis")->body).value("apiVersion", "");
  };
  EXPECT_EQ(kind_of("application/json"), "v1");
  EXPECT_EQ(kind_of("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
                    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"),
            "apidiscovery.k8s.io/v2");
  EXPECT_EQ(kind_of("application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"),
            "apidiscovery.k8s.io/v2beta1");
}

TEST(OpenApi, TellsKindsByTheirParameters) {
  const Registry registry;
  const Json index = openapi_v3_index(registry);
  for (const auto& [path, where] : index["paths"].items()) {
    const std::size_t slash = path.rfind('/');
    const std::string group = path == "api/v1" ? "" : path.substr(5, slash - 5);
    const std::optional<Json> document = openapi_v3(registry, group, path.substr(slash + 1));
    ASSERT_TRUE(document) << path;
    for (const auto& [name, item] : (*document)["paths"].items()) {
      if (!item.contains("patch")) continue;
      EXPECT_THAT(item["patch"]["parameters"].dump(), testing::HasSubstr("fieldValidation")) << name;
    }
  }
  EXPECT_FALSE(openapi_v3(registry, "nowhere", "v1"));
  EXPECT_GT(openapi_v2_protobuf(openapi_v2(registry)).size(), 10'000U);
}

// ---- Protobuf -----------------------------------------------------------------------------------------------------

std::string enveloped(const std::string& api_version, const std::string& kind, const std::string& raw) {
  ProtobufWriter out;
  {
    const auto type = out.message(1);
    out.text(1, api_version);
    out.text(2, kind);
  }
  out.text(2, raw);
  return std::string("k8s\0", 4) + out.take();
}

/// A Service with something of each form.
std::string service() {
  ProtobufWriter out;
  {
    const auto metadata = out.message(1);
    out.text(1, "web");
    const auto created = out.message(8);
    out.number(1, 1'700'000'000);
  }
  {
    const auto spec = out.message(2);
    {
      const auto port = out.message(1);
      out.text(1, "");
      out.number(3, 80);
      const auto target = out.message(4);
      out.number(1, 1);
      out.text(3, "http");
    }
    const auto entry = out.message(2);
    out.text(1, "app");
    out.text(2, "web");
  }
  out.number(99, 7);
  return enveloped("v1", "Service", out.take());
}

TEST(KubernetesProtobuf, BecomesJson) {
  const auto json = json_of_protobuf(service());
  ASSERT_TRUE(json);
  EXPECT_EQ(Json::parse(*json), Json::parse(R"({"apiVersion":"v1","kind":"Service",
      "metadata":{"name":"web","creationTimestamp":"2023-11-14T22:13:20Z"},
      "spec":{"ports":[{"port":80,"targetPort":"http"}],"selector":{"app":"web"}}})"));
}

TEST(KubernetesProtobuf, CutAnywhereItIsAnErrorOrLess) {
  const std::string whole = service();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto json = json_of_protobuf(whole.substr(0, size));
    if (!json) EXPECT_TRUE(json.error().code == 400 || json.error().code == 415) << size;
  }
  EXPECT_EQ(json_of_protobuf("{}").error().code, 400);
  EXPECT_EQ(json_of_protobuf(enveloped("v1", "Unheard", "")).error().code, 415);
  EXPECT_EQ(json_of_protobuf(enveloped("v1", "Service", "\x0a\xff")).error().code, 400);
  // A number where a message should be.
  EXPECT_EQ(json_of_protobuf(enveloped("v1", "Service", "\x08\x01")).error().code, 400);
}

TEST(KubernetesProtobuf, TellsTheTwoKindsOfEventApart) {
  ProtobufWriter out;
  {
    const auto time = out.message(2);
    out.number(1, 1'700'000'000);
    out.number(2, 5'000);
  }
  const auto json = json_of_protobuf(enveloped("events.k8s.io/v1", "Event", out.take()));
  ASSERT_TRUE(json);
  EXPECT_EQ(Json::parse(*json)["eventTime"], "2023-11-14T22:13:20.000005Z");
}

}  // namespace
}  // namespace edge::resource_api::http
