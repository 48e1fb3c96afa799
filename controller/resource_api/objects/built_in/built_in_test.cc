#include "controller/resource_api/objects/built_in/built_in.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/apply.h"
#include "controller/resource_api/objects/metadata.h"
#include "controller/resource_api/objects/patch.h"

namespace edge::resource_api::objects {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kNow = "2024-05-01T12:00:00Z";

struct Shown {
  const char* group;
  const char* kind;
  const char* object;
  const char* cells;
};

constexpr Shown kShown[] = {
    {"", "Service",
     R"({"spec":{"type":"LoadBalancer","clusterIP":"10.0.0.1","selector":{"app":"x"},"ports":[{"port":80,"nodePort":30080},{"port":53,"protocol":"UDP"}]},
                     "status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}})",
     R"(["n","LoadBalancer","10.0.0.1","1.2.3.4","80:30080/TCP,53/UDP","120m","app=x"])"},
    {"", "Service", R"({"spec":{"type":"ClusterIP"}})", R"(["n","ClusterIP",null,"<none>","<none>","120m","<none>"])"},
    {"", "Secret", R"({"type":"Opaque","data":{"a":"","b":""}})", R"(["n","Opaque",2,"120m"])"},
    {"", "ConfigMap", R"({"data":{"a":""},"binaryData":{"b":""}})", R"(["n",2,"120m"])"},
    {"", "Namespace", R"({"status":{"phase":"Active"}})", R"(["n","Active","120m"])"},
    {"", "Endpoints",
     R"({"subsets":[{"addresses":[{"ip":"1.1.1.1"},{"ip":"1.1.1.2"}],"ports":[{"port":80},{"port":81}]}]})",
     R"(["n","1.1.1.1:80,1.1.1.1:81,1.1.1.2:80 + 1 more...","120m"])"},
    {"discovery.k8s.io", "EndpointSlice",
     R"({"addressType":"IPv4","ports":[{"port":80}],"endpoints":[{"addresses":["1.1.1.1"]}]})",
     R"(["n","IPv4","80","1.1.1.1","120m"])"},
    {"", "Pod",
     R"({"spec":{"containers":[{},{}],"nodeName":"node"},"status":{"phase":"Running","podIP":"10.1.1.1","containerStatuses":[{"ready":true,"restartCount":3}]}})",
     R"(["n","1/2","Running","3","120m","10.1.1.1","node"])"},
    {"", "Node",
     R"({"spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"True"}],"nodeInfo":{"kubeletVersion":"v1"},"addresses":[{"type":"InternalIP","address":"10.0.0.9"}]}})",
     R"(["n","Ready,SchedulingDisabled","<none>","120m","v1","10.0.0.9","<none>",null,null,null])"},
    {"networking.k8s.io", "Ingress",
     R"({"spec":{"ingressClassName":"edge","rules":[{"host":"a"},{"host":"b"}],"tls":[{}]}})",
     R"(["n","edge","a,b","","80, 443","120m"])"},
    {"networking.k8s.io", "IngressClass",
     R"({"spec":{"controller":"c","parameters":{"apiGroup":"g","kind":"K","name":"p"}}})",
     R"(["n","c","K.g/p","120m"])"},
    {"coordination.k8s.io", "Lease", R"({"spec":{"holderIdentity":"me"}})", R"(["n","me","120m"])"},
    {"apps", "Deployment",
     R"({"spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"}},"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}},"status":{"readyReplicas":2,"updatedReplicas":3,"availableReplicas":2}})",
     R"(["n","2/3",3,2,"120m","c","i","a=b"])"},
    {"", "Event",
     R"({"type":"Warning","reason":"R","message":"m","involvedObject":{"kind":"ProxyRoute","name":"r"},"lastTimestamp":"2024-05-01T11:59:30Z","count":4,"source":{"component":"edge"}})",
     R"(["30s","Warning","R","proxyroute/r","","edge","m","<unknown>",4,"n"])"},
    {"events.k8s.io", "Event",
     R"({"type":"Normal","reason":"R","note":"m","regarding":{"kind":"Pod"},"eventTime":"2024-05-01T11:59:00Z"})",
     R"(["60s","Normal","R","pod","","","m","60s",1,"n"])"},
    {"rbac.authorization.k8s.io", "RoleBinding", R"({"roleRef":{"kind":"Role","name":"r"}})",
     R"(["n","Role/r","120m"])"},
    {"example.com", "Other", "{}", R"(["n","120m"])"},
};

TEST(BuiltIn, ColumnsAreThoseOfKubectl) {
  for (const Shown& c : kShown) {
    Json object = Json::parse(c.object);
    object["metadata"] = {{"name", "n"}, {"creationTimestamp", "2024-05-01T10:00:00Z"}};
    const Columns& columns = built_in_columns(c.group, c.kind);
    const Json row = table_row(columns, object, IncludeObject::kNone, "v1", time_of(kNow));
    EXPECT_EQ(row["cells"].dump(), Json::parse(c.cells).dump()) << c.kind;
    EXPECT_EQ(table_head(columns, "v1", Json())["columnDefinitions"].size(), row["cells"].size()) << c.kind;
    // Whatever an object holds, it has a row.
    for (const char* odd : {"{}", R"({"spec":3,"status":[]})",
                            R"({"spec":{"ports":{},"rules":{"a":1},"tls":1},"metadata":{"labels":[]}})"}) {
      EXPECT_EQ(table_row(columns, Json::parse(odd), IncludeObject::kNone, "v1", 0)["cells"].size(),
                row["cells"].size());
    }
  }
}

std::vector<std::string> fields_at_fault(std::string_view group, std::string_view kind, std::string_view text,
                                         const char* old = nullptr) {
  Json object = Json::parse(text);
  apply_built_in_defaults(group, kind, object);
  Causes causes;
  validate(built_in_schema(group, kind), object, nullptr, causes);
  Json before;
  if (old != nullptr) before = Json::parse(old);
  validate_built_in(group, kind, object, old == nullptr ? nullptr : &before, causes);
  std::vector<std::string> fields;
  for (const Cause& cause : causes) fields.push_back(cause.field);
  return fields;
}

TEST(BuiltIn, FaultsAreTold) {
  EXPECT_THAT(fields_at_fault("", "Service", R"({"spec":{"ports":[{"port":80}]},"status":{"loadBalancer":null}})"),
              IsEmpty());
  EXPECT_THAT(
      fields_at_fault("", "Service", R"({"spec":{"ports":[{"port":0},{"port":80,"name":"a","protocol":"X"}]}})"),
      ElementsAre("spec.ports[0].name", "spec.ports[0].port", "spec.ports[0].targetPort", "spec.ports[1].protocol"));
  EXPECT_THAT(fields_at_fault("", "Service", R"({"spec":{"type":"Odd"}})"), ElementsAre("spec.type", "spec.ports"));
  EXPECT_THAT(fields_at_fault("", "Service", R"({"spec":{"clusterIP":"None"}})"), IsEmpty());
  EXPECT_THAT(fields_at_fault("", "ConfigMap", R"({"data":{"a b":"x","ok":1}})"), ElementsAre("data.ok", "data[a b]"));
  EXPECT_THAT(fields_at_fault("", "ConfigMap", R"({"immutable":true,"data":{"a":"2"}})",
                              R"({"immutable":true,"data":{"a":"1"}})"),
              ElementsAre("data"));
  EXPECT_THAT(fields_at_fault("", "Secret", R"({"type":"kubernetes.io/tls","data":{"tls.crt":"YQ=="}})"),
              ElementsAre("data[tls.key]"));
  EXPECT_THAT(fields_at_fault("", "Secret", R"({"data":{"a":"%"}})"), ElementsAre("data.a"));
  EXPECT_THAT(fields_at_fault("", "Secret", R"({"type":"b"})", R"({"type":"a"})"), ElementsAre("type"));
  EXPECT_THAT(
      fields_at_fault("networking.k8s.io", "Ingress", R"({"spec":{"rules":[{"http":{"paths":[{"path":"x"}]}}]}})"),
      ElementsAre("spec.rules[0].http.paths[0].pathType", "spec.rules[0].http.paths[0].path"));
  EXPECT_THAT(fields_at_fault("rbac.authorization.k8s.io", "RoleBinding", R"({"roleRef":{"name":"a"}})",
                              R"({"roleRef":{"name":"b"}})"),
              ElementsAre("roleRef"));
  EXPECT_THAT(
      fields_at_fault("", "Pod", R"({"spec":{"containers":[{"name":"a","securityContext":{"x":1}}],"anything":[]}})"),
      IsEmpty());
}

TEST(BuiltIn, DefaultsAreFilledIn) {
  Json service = Json::parse(R"({"spec":{"ports":[{"port":80}],"selector":null}})");
  apply_built_in_defaults("", "Service", service);
  EXPECT_EQ(service, Json::parse(R"({"spec":{"type":"ClusterIP","sessionAffinity":"None",
    "ports":[{"port":80,"protocol":"TCP","targetPort":80}]}})"));
}

TEST(BuiltIn, UnknownFieldsAreKnown) {
  EXPECT_THAT(unknown_fields(built_in_schema("", "Service"),
                             Json::parse(R"({"spec":{"port":1,"ports":[{"prot":1}]},"metadata":{"label":1}})")),
              ElementsAre("metadata.label", "spec.port", "spec.ports[0].prot"));
  EXPECT_THAT(unknown_fields(built_in_schema("apps", "Deployment"),
                             Json::parse(R"({"spec":{"replica":1,"template":{"spec":{"any":1}}}})")),
              ElementsAre("spec.replica"));
}

TEST(BuiltIn, ListsMergeByTheirKeys) {
  const Json service = Json::parse(R"({"spec":{"ports":[{"name":"a","port":80,"protocol":"TCP"}]}})");
  const Answer<Json> patched =
      strategic_merge_patch(service, Json::parse(R"({"spec":{"ports":[{"port":80,"targetPort":8080},{"port":81}]}})"),
                            built_in_schema("", "Service"));
  ASSERT_TRUE(patched.ok());
  EXPECT_EQ(
      *patched,
      Json::parse(R"({"spec":{"ports":[{"name":"a","port":80,"protocol":"TCP","targetPort":8080},{"port":81}]}})"));

  const Json deployment =
      Json::parse(R"({"spec":{"template":{"spec":{"containers":[{"name":"a","image":"1","env":[{"name":"X"}]}]}}}})");
  const Json patch =
      Json::parse(R"({"spec":{"template":{"spec":{"containers":[{"name":"a","image":"2"},{"name":"b"}]}}}})");
  const Answer<Json> both = strategic_merge_patch(deployment, patch, built_in_schema("apps", "Deployment"));
  ASSERT_TRUE(both.ok());
  EXPECT_EQ((*both)["spec"]["template"]["spec"]["containers"],
            Json::parse(R"([{"name":"a","image":"2","env":[{"name":"X"}]},{"name":"b"}])"));
  const Answer<Applied> applied = apply(built_in_schema("apps", "Deployment"), &deployment, patch,
                                        {.manager = "m", .api_version = "apps/v1"}, true);
  ASSERT_TRUE(applied.ok());
  EXPECT_EQ((*applied->object)["spec"]["template"]["spec"]["containers"].size(), 2U);
  const Answer<Json> labels = strategic_merge_patch(
      Json::parse(R"({"metadata":{"finalizers":["a"],"labels":{"x":"y"}}})"),
      Json::parse(R"({"metadata":{"finalizers":["b"],"labels":{"x":null}}})"), built_in_schema("", "ConfigMap"));
  EXPECT_EQ(labels->dump(), R"({"metadata":{"finalizers":["b","a"],"labels":{}}})");
}

TEST(BuiltIn, OpenApiSaysHowListsMerge) {
  const Json service = built_in_open_api("", "Service");
  const Json& ports = service["properties"]["spec"]["properties"]["ports"];
  EXPECT_EQ(ports["x-kubernetes-patch-merge-key"], "port");
  EXPECT_EQ(ports["x-kubernetes-list-map-keys"], Json::parse(R"(["port","protocol"])"));
  EXPECT_EQ(built_in_open_api("x", "Y")["x-kubernetes-preserve-unknown-fields"], true);
}

}  // namespace
}  // namespace edge::resource_api::objects
