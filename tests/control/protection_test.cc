// What keeps strangers out, by real processes: annotations that are not served, and passwords that change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/control/world.h"

namespace edge::test {
namespace {

using testing::StartsWith;

// Of "secret" and "other".
constexpr const char* kFirstHash = "{SHA256}K7gNU3sdo+OL0wNhqoVWhr3g6s1xYv72ol/pe/Unols=";
constexpr const char* kSecondHash = "{SHA256}2SmKENGwc1g33EvYXaxkGw887yekfl1TpU8vP1svz/o=";

Json ingress(const std::string& name, const Json& annotations) {
  return {{"apiVersion", "networking.k8s.io/v1"},
          {"kind", "Ingress"},
          {"metadata", {{"name", name}, {"annotations", annotations}}},
          {"spec",
           {{"ingressClassName", "edge"},
            {"rules",
             {{{"host", "shop.example"},
               {"http",
                {{"paths",
                  {{{"path", "/" + name},
                    {"pathType", "Prefix"},
                    {"backend", {{"service", {{"name", "be"}, {"port", {{"number", 80}}}}}}}}}}}}}}}}}};
}

class Protection : public Control {
 protected:
  void start() {
    proxy_ = standalone({"--config", dir_ / "config"});
    ASSERT_NE(proxy_->wait_ready(), "") << proxy_->process.err_text();
  }
  std::string with_password(const std::string& password) const {
    return curl(proxy_->port, "/closed", {"-u", "alice:" + password});
  }
  /// Until `next` is taken. From then on `last` is refused.
  void expect_taken(const std::string& next, const std::string& last) const {
    EXPECT_TRUE(eventually([&] { return with_password(next).starts_with("200 "); })) << proxy_->process.err_text();
    EXPECT_THAT(with_password(last), StartsWith("401 "));
    EXPECT_THAT(with_password(next), StartsWith("200 "));
    EXPECT_THAT(curl(proxy_->port, "/closed"), StartsWith("401 "));
  }

  std::unique_ptr<ProxyProcess> proxy_;
};

TEST_F(Protection, AnAnnotationThatProtectsAndIsNotServedAnswers503) {
  dir_.put("config/base.yaml", base_config(backend_.port) + "---\n" + route_config("open", "/open") +
                                   "---\napiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: edge}\n"
                                   "spec:\n  controller: edgeproxy.io/proxy\n  parameters: {apiGroup: edgeproxy.io, "
                                   "kind: ProxyGateway, name: gw, namespace: default, scope: Namespace}\n");
  start();
  Api api(dir_ / "data/kubeconfig");
  const std::string nginx = "nginx.ingress.kubernetes.io/";
  // One that is known, one that has a slip, and one of another controller.
  const std::map<std::string, Json> protecting = {
      {"mutual", {{nginx + "auth-tls-secret", "default/clients"}}},
      {"slip", {{nginx + "whitelist-source-rang", "10.0.0.0/8"}}},
      {"other", {{"traefik.ingress.kubernetes.io/router.middlewares", "default-login@kubernetescrd"}}}};
  for (const auto& [name, annotations] : protecting) api.apply(ingress(name, annotations));
  api.apply(ingress("plain", Json::object()));
  EXPECT_TRUE(answers(proxy_->port, "/plain", "200")) << proxy_->process.err_text();
  for (const auto& [name, annotations] : protecting) {
    EXPECT_TRUE(answers(proxy_->port, "/" + name, "503")) << name << " " << curl(proxy_->port, "/" + name);
  }
  EXPECT_THAT(curl(proxy_->port, "/open"), StartsWith("200"));
  // Without it everybody is served.
  api.apply(ingress("mutual", Json::object()));
  EXPECT_TRUE(answers(proxy_->port, "/mutual", "200")) << proxy_->process.err_text();
  EXPECT_THAT(curl(proxy_->port, "/slip"), StartsWith("503"));
}

TEST_F(Protection, APasswordThatAFileChangesCountsAtOnce) {
  const auto users = [](const std::string& hash) {
    return "apiVersion: v1\nkind: Secret\nmetadata: {name: users}\nstringData: {htpasswd: 'alice:" + hash + "'}\n";
  };
  dir_.put("config/base.yaml",
           base_config(backend_.port) + "---\n" + route_config("closed", "/closed") +
               "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: closed}\n"
               "spec: {type: BasicAuth, targetRef: {kind: ProxyRoute, name: closed}, basicAuth: {secretRef: {name: "
               "users}}}\n");
  dir_.put("config/users.yaml", users(kFirstHash));
  start();
  expect_taken("secret", "other");
  dir_.put("config/users.yaml", users(kSecondHash));
  expect_taken("other", "secret");
  dir_.put("config/users.yaml", users(kFirstHash));
  expect_taken("secret", "other");
}

TEST_F(Protection, APasswordThatTheApiChangesCountsAtOnce) {
  dir_.put("config/base.yaml", base_config(backend_.port));
  start();
  Api api(dir_ / "data/kubeconfig");
  const auto users = [](const std::string& hash) {
    return Json{{"apiVersion", "v1"},
                {"kind", "Secret"},
                {"metadata", {{"name", "users"}}},
                {"stringData", {{"htpasswd", "alice:" + hash}}}};
  };
  api.apply(route("closed", "/closed"));
  api.apply(users(kFirstHash));
  api.apply(own("ProxyPolicy", "closed",
                {{"type", "BasicAuth"},
                 {"targetRef", {{"kind", "ProxyRoute"}, {"name", "closed"}}},
                 {"basicAuth", {{"secretRef", {{"name", "users"}}}}}}));
  EXPECT_TRUE(answers(proxy_->port, "/closed", "401")) << proxy_->process.err_text();
  expect_taken("secret", "other");
  api.apply(users(kSecondHash));
  expect_taken("other", "secret");
  api.apply(users(kFirstHash));
  expect_taken("secret", "other");
}

}  // namespace
}  // namespace edge::test
