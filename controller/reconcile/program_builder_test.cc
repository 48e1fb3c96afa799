#include "controller/reconcile/program_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/ip.h"
#include "controller/reconcile/test_cluster.h"

namespace edge::controller {
namespace {

using test::api;
using test::backend;
using test::condition;
using test::edit;
using test::gateway;
using test::Json;
using test::kClass;
using test::object;
using test::removal;
using test::route;
using test::service;
using test::slice;
using test::World;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(ProgramBuilder, MakesAProgramOfWhatTheClusterHas) {
  World world;
  const ReconcileResult first = world.start({edit(route("a", "/a"))});
  ASSERT_NE(first.program, nullptr) << first.fault;
  EXPECT_TRUE(first.program_changed);
  EXPECT_EQ(first.number, 1u);
  EXPECT_EQ(first.cause.user, "kubectl");
  EXPECT_EQ(first.cause.count, 5u);
  EXPECT_THAT(world.tree(), HasSubstr("/a"));
  ASSERT_EQ(first.values.backends.size(), 1u);

  const ReconcileResult second = world.apply({edit(route("b", "/b"))});
  EXPECT_EQ(second.number, 2u);
  EXPECT_EQ(second.cause.line(), "ProxyRoute shop/b by kubectl");
  EXPECT_THAT(world.tree(), AllOf(HasSubstr("/a"), HasSubstr("/b")));

  const ReconcileResult third = world.apply({removal("ProxyRoute", "a")});
  EXPECT_EQ(third.number, 3u);
  EXPECT_THAT(world.tree(), AllOf(Not(HasSubstr("/a")), HasSubstr("/b")));
}

TEST(ProgramBuilder, AStatusIsNoChange) {
  World world;
  world.start({edit(route("a", "/a"))});
  Json with_status = route("a", "/a");
  with_status["status"] = {{"ruleCount", 1}};
  with_status["metadata"]["resourceVersion"] = "8";
  with_status["metadata"]["annotations"] = {{"kubectl.kubernetes.io/last-applied-configuration", "{}"}};
  // The annotations that are left are others than none.
  world.try_apply({edit(with_status)});
  with_status["metadata"]["resourceVersion"] = "9";
  with_status["status"] = {{"ruleCount", 2}};
  EXPECT_FALSE(world.try_apply({edit(with_status)}).has_value());
}

Json api_object(const std::string& kind, const std::string& name, const Json& spec, const std::string& created) {
  Json made = object(kind, name, spec);
  made["apiVersion"] = "gateway.networking.k8s.io/v1";
  made["metadata"]["creationTimestamp"] = created;
  if (kind == "GatewayClass") made["metadata"].erase("namespace");
  return made;
}

Json pool_gateway(const std::string& name, const std::string& created) {
  return api_object(
      "Gateway", name,
      {{"gatewayClassName", "edge"}, {"listeners", {{{"name", "http"}, {"port", 80}, {"protocol", "HTTP"}}}}}, created);
}

// The status that was written is all that a controller which starts anew knows of who had what.
TEST(ProgramBuilder, AGatewayKeepsItsAddressOfAPool) {
  const Json pool = object("ProxyVIP", "public", {{"pool", {"192.0.2.0/31"}}});
  const Json gateway_class = api_object("GatewayClass", "edge", {{"controllerName", kClass}}, "2026-01-01T00:00:00Z");
  const auto address_of = [](std::map<std::string, DesiredStatus>& statuses, const std::string& name) {
    const Json status = Json::parse(statuses["Gateway shop/" + name].status, nullptr, false);
    return status.is_object() && !status["addresses"].empty() ? status["addresses"][0]["value"].get<std::string>() : "";
  };
  World first;
  first.start({edit(pool), edit(gateway_class), edit(pool_gateway("young", "2026-03-01T00:00:00Z"))});
  auto statuses = first.desired_statuses();
  const std::string had = address_of(statuses, "young");
  ASSERT_NE(had, "");
  const Json reported = Json::parse(statuses["ProxyVIP shop/public"].status);
  ASSERT_EQ(reported["allocations"].size(), 1U);
  EXPECT_EQ(reported["allocations"][0]["address"], had);
  EXPECT_EQ(reported["allocations"][0]["name"], "young");

  // Two older ones come: one gets the other address, and one none.
  Json written = pool;
  written["status"] = reported;
  World second;
  second.start({edit(written), edit(gateway_class), edit(pool_gateway("young", "2026-03-01T00:00:00Z")),
                edit(pool_gateway("old", "2026-01-01T00:00:00Z")),
                edit(pool_gateway("older", "2025-01-01T00:00:00Z"))});
  statuses = second.desired_statuses();
  EXPECT_EQ(address_of(statuses, "young"), had);
  EXPECT_NE(address_of(statuses, "older"), "");
  EXPECT_EQ(address_of(statuses, "old"), "");
  EXPECT_EQ(condition(statuses["Gateway shop/old"].status, "Programmed")["reason"], "AddressNotAssigned");

  // Who goes gives it back; the others keep theirs, as the status that was written says.
  written["status"] = Json::parse(statuses["ProxyVIP shop/public"].status);
  second.apply({edit(written)});
  second.apply({removal("Gateway", "young")});
  statuses = second.desired_statuses();
  EXPECT_EQ(address_of(statuses, "old"), had);
  EXPECT_EQ(Json::parse(statuses["ProxyVIP shop/public"].status)["allocations"].size(), 2U);
}

TEST(ProgramBuilder, AListenerSetHasAStatusOfItsOwn) {
  World world;
  Json parent = pool_gateway("edge", "2026-01-01T00:00:00Z");
  parent["spec"]["listeners"][0]["hostname"] = "a.example.com";
  parent["spec"]["allowedListeners"] = {{"namespaces", {{"from", "Same"}}}};
  const Json set = api_object(
      "ListenerSet", "more",
      {{"parentRef", {{"name", "edge"}}},
       {"listeners", {{{"name", "http"}, {"port", 80}, {"protocol", "HTTP"}, {"hostname", "b.example.com"}}}}},
      "2026-01-01T00:00:00Z");
  Json on_set = api_object("HTTPRoute", "r", {{"parentRefs", {{{"kind", "ListenerSet"}, {"name", "more"}}}}},
                           "2026-01-01T00:00:00Z");
  world.start({edit(api_object("GatewayClass", "edge", {{"controllerName", kClass}}, "2026-01-01T00:00:00Z")),
               edit(parent), edit(set), edit(on_set)});
  auto statuses = world.desired_statuses();
  const Json of_set = Json::parse(statuses["ListenerSet shop/more"].status);
  EXPECT_EQ(condition(of_set.dump(), "Accepted")["status"], "True");
  EXPECT_EQ(of_set["listeners"][0]["name"], "http");
  EXPECT_EQ(of_set["listeners"][0]["attachedRoutes"], 1);
  EXPECT_EQ(statuses["ListenerSet shop/more"].listener_prefix, "shop/more/");
  EXPECT_EQ(Json::parse(statuses["Gateway shop/edge"].status)["attachedListenerSets"], 1);
  const Json of_route = Json::parse(statuses["HTTPRoute shop/r"].status);
  ASSERT_EQ(of_route["parents"].size(), 1U);
  EXPECT_EQ(of_route["parents"][0]["parentRef"]["kind"], "ListenerSet");

  // An edit of the Gateway alone: it takes no ListenerSets any more.
  parent["spec"].erase("allowedListeners");
  world.apply({edit(parent)});
  statuses = world.desired_statuses();
  EXPECT_EQ(condition(statuses["ListenerSet shop/more"].status, "Accepted")["reason"], "NotAllowed");
  EXPECT_EQ(Json::parse(statuses["Gateway shop/edge"].status)["attachedListenerSets"], 0);
  EXPECT_EQ(condition(Json::parse(statuses["HTTPRoute shop/r"].status)["parents"][0].dump(), "Accepted")["reason"],
            "NoMatchingParent");
}

TEST(ProgramBuilder, EndpointsAloneMakeNoProgram) {
  World world;
  const ReconcileResult first = world.start({edit(route("a", "/a"))});
  const ReconcileResult second = world.apply({edit(slice("10.0.0.2"))});
  EXPECT_TRUE(second.values_changed);
  EXPECT_FALSE(second.program_changed);
  EXPECT_EQ(second.runs, 0) << "the compiler is not asked";
  EXPECT_EQ(second.program, first.program) << "the same bytes, not equal ones";
  EXPECT_EQ(second.number, first.number);
  EXPECT_NE(second.values, first.values);
}

Json secret(const std::string& users) {
  Json made = object("Secret", "users", {});
  made["apiVersion"] = "v1";
  made.erase("spec");
  made["type"] = "Opaque";
  made["stringData"] = {{"htpasswd", users}};
  return made;
}

TEST(ProgramBuilder, ASecretWithAnotherValueMakesNoProgramAndOneWithoutItsKeyDoes) {
  World world;
  Json policy = object("ProxyPolicy", "login",
                       {{"targetRef", {{"kind", "ProxyRoute"}, {"name", "a"}}},
                        {"type", "BasicAuth"},
                        {"basicAuth", {{"secretRef", {{"name", "users"}}}}}});
  const ReconcileResult first = world.start({edit(route("a", "/a")), edit(policy), edit(secret("a:1"))});
  ASSERT_EQ(first.values.secrets.size(), 1u);
  EXPECT_EQ(*first.values.secrets[0]->values[0].value, "a:1");

  const ReconcileResult second = world.apply({edit(secret("a:2"))});
  EXPECT_EQ(second.runs, 0);
  EXPECT_FALSE(second.program_changed);
  ASSERT_EQ(second.values.secrets.size(), 1u);
  EXPECT_EQ(*second.values.secrets[0]->values[0].value, "a:2");

  Json without = secret("a:2");
  without["stringData"] = {{"other", "x"}};
  const ReconcileResult third = world.apply({edit(without)});
  EXPECT_TRUE(third.program_changed) << "requests are denied now";
  EXPECT_TRUE(third.values.secrets.empty());

  const ReconcileResult fourth = world.apply({edit(secret("a:3"))});
  EXPECT_EQ(fourth.hash, first.hash);
  ASSERT_EQ(fourth.values.secrets.size(), 1u);
  EXPECT_EQ(*fourth.values.secrets[0]->values[0].value, "a:3");
}

TEST(ProgramBuilder, AServiceThatIsLabelledMakesNoProgram) {
  World world;
  world.start({edit(route("a", "/a"))});
  Json labelled = service();
  labelled["metadata"]["labels"] = {{"team", "x"}};
  labelled["spec"]["clusterIP"] = "10.1.2.3";
  EXPECT_FALSE(world.try_apply({edit(labelled)}).has_value());
}

TEST(ProgramBuilder, EveryChangeOfEndpointsIsGivenOnceAndInOrder) {
  World world;
  const ReconcileResult first = world.start({edit(route("a", "/a"))});
  for (int i = 1; i <= 200; ++i) {
    const std::string address = "10.0." + std::to_string(i) + ".1";
    const ReconcileResult next = world.apply({edit(slice(address))});
    EXPECT_EQ(next.runs, 0);
    EXPECT_EQ(next.program, first.program);
    ASSERT_EQ(next.values.backends.size(), 1u);
    ASSERT_EQ(next.values.backends[0]->endpoints.size(), 1u);
    EXPECT_EQ(next.values.backends[0]->endpoints[0].address, *parse_ip(address));
    EXPECT_FALSE(world.try_apply({edit(slice(address))}).has_value()) << "the same again is no change";
  }
}

TEST(ProgramBuilder, ABackendWithoutEndpointsSaysSo) {
  World world;
  world.start({edit(route("a", "/a"))});
  world.desired_statuses();
  EXPECT_EQ(world.apply({removal("EndpointSlice", "be-1")}).runs, 0);
  const DesiredStatus desired = world.desired_statuses()["ProxyBackend shop/be"];
  EXPECT_EQ(condition(desired.status, "Healthy")["reason"], "NoEndpoints");
  world.apply({edit(slice("10.0.0.9"))});
  EXPECT_TRUE(condition(world.desired_statuses()["ProxyBackend shop/be"].status, "Healthy").is_null());
}

Json static_backend(const std::vector<std::string>& addresses) {
  Json made = backend();
  made["spec"] = {{"endpoints", Json::array()}};
  for (const std::string& address : addresses) made["spec"]["endpoints"].push_back({{"address", address}});
  return made;
}

TEST(ProgramBuilder, EndpointsOfABackendItselfAreGivenAsValues) {
  World world;
  const ReconcileResult first = world.start({edit(route("a", "/a"))});
  const ReconcileResult second = world.apply({edit(static_backend({"127.0.0.1:9101", "[::1]:9102"}))});
  EXPECT_FALSE(second.program_changed);
  EXPECT_EQ(second.hash, first.hash);
  ASSERT_EQ(second.values.backends.size(), 1u);
  ASSERT_EQ(second.values.backends[0]->endpoints.size(), 2u);
  EXPECT_EQ(second.values.backends[0]->endpoints[0].port, 9102);
  EXPECT_EQ(second.values.backends[0]->endpoints[1].address, *parse_ip("127.0.0.1"));
  EXPECT_FALSE(world.try_apply({edit(slice("10.0.0.7"))}).has_value()) << "the Service is none of its business now";
  const ReconcileResult third = world.apply({edit(backend())});
  ASSERT_EQ(third.values.backends[0]->endpoints.size(), 1u);
  EXPECT_EQ(third.values.backends[0]->endpoints[0].address, *parse_ip("10.0.0.7"));
}

TEST(ProgramBuilder, InAClusterNoBackendLeadsToTheNodeItself) {
  World world({}, NodeAddresses::kLeftOut);
  world.start({edit(route("a", "/a"))});
  const ReconcileResult some = world.apply(
      {edit(static_backend({"127.0.0.1:9101", "169.254.169.254:80", "[::ffff:127.0.0.1]:80", "10.0.0.5:80"}))});
  ASSERT_EQ(some.values.backends[0]->endpoints.size(), 1u);
  EXPECT_EQ(some.values.backends[0]->endpoints[0].address, *parse_ip("10.0.0.5"));
  const ReconcileResult none = world.apply({edit(static_backend({"0.0.0.0:9101", "[::1]:80"}))});
  EXPECT_TRUE(none.values.backends[0]->endpoints.empty());
  const Json healthy = condition(world.desired_statuses()["ProxyBackend shop/be"].status, "Healthy");
  EXPECT_EQ(healthy["reason"], "NoEndpoints");
  EXPECT_THAT(healthy["message"].get<std::string>(), testing::HasSubstr("agents' own nodes"));
}

TEST(ProgramBuilder, AResourceAtFaultIsServedAsItLastWasSound) {
  World world;
  world.start({edit(route("a", "/a")), edit(route("b", "/b"))});
  world.desired_statuses();
  const ReconcileResult broken = world.apply({edit(route("a", "/wide", 2, {{"expression", "path exact"}}))});
  EXPECT_TRUE(broken.sound_versions_changed);
  EXPECT_THAT(world.tree(), AllOf(HasSubstr("/a"), HasSubstr("/b"), Not(HasSubstr("/wide"))));
  auto desired_statuses = world.desired_statuses();
  const std::string status = desired_statuses["ProxyRoute shop/a"].status;
  EXPECT_EQ(condition(status, "Accepted")["status"], "False");
  EXPECT_THAT(condition(status, "Accepted")["message"].get<std::string>(),
              AllOf(HasSubstr("expression"), HasSubstr("generation 1 of it stays in force")));
  EXPECT_EQ(condition(status, "Accepted")["observedGeneration"], 2);
  EXPECT_EQ(condition(status, "Ready")["status"], "False");
  EXPECT_EQ(desired_statuses.size(), 1u) << "what did not change is not told again";

  // Whatever else changes, it stays so.
  world.apply({edit(route("b", "/b2"))});
  EXPECT_THAT(world.tree(), AllOf(HasSubstr("/a"), HasSubstr("/b2"), Not(HasSubstr("/wide"))));

  const ReconcileResult mended = world.apply({edit(route("a", "/a2", 3))});
  EXPECT_TRUE(mended.sound_versions_changed);
  EXPECT_TRUE(world.sound().empty());
  EXPECT_THAT(world.tree(), AllOf(HasSubstr("/a2"), HasSubstr("/b2")));
  EXPECT_EQ(condition(world.desired_statuses()["ProxyRoute shop/a"].status, "Ready")["status"], "True");
}

TEST(ProgramBuilder, NothingStandsInForWhatIsGone) {
  World world;
  world.start({edit(route("a", "/a")), edit(route("b", "/b"))});
  world.apply({edit(route("a", "/wide", 2, {{"expression", "path exact"}}))});
  ASSERT_EQ(world.sound().size(), 1u);
  const ReconcileResult removed = world.apply({removal("ProxyRoute", "a")});
  EXPECT_TRUE(removed.sound_versions_changed);
  EXPECT_TRUE(world.sound().empty());
}

TEST(ProgramBuilder, AFaultThatWasThereFromTheStartIsLeftOut) {
  World world;
  world.start({edit(route("a", "/a", 1, {{"expression", "path exact"}})), edit(route("b", "/b"))});
  EXPECT_THAT(world.tree(), AllOf(HasSubstr("/b"), Not(HasSubstr("/a"))));
  const Json accepted = condition(world.desired_statuses()["ProxyRoute shop/a"].status, "Accepted");
  EXPECT_EQ(accepted["status"], "False");
  EXPECT_THAT(accepted["message"].get<std::string>(), Not(HasSubstr("stays in force")));
}

TEST(ProgramBuilder, ARestartServesTheSoundVersionThatWasKept) {
  World before;
  before.start({edit(route("a", "/a"))});
  before.apply({edit(route("a", "/wide", 2, {{"expression", "path exact"}}))});
  const auto kept = read_sound_versions(write_sound_versions(before.sound()));
  ASSERT_TRUE(kept.ok());
  World after(*kept);
  after.start({edit(route("a", "/wide", 2, {{"expression", "path exact"}}))});
  EXPECT_THAT(after.tree(), AllOf(HasSubstr("/a"), Not(HasSubstr("/wide"))));

  // One that was made anew under the same name has no past.
  World anew(*kept);
  Json other = route("a", "/wide", 2, {{"expression", "path exact"}});
  other["metadata"]["uid"] = "another";
  anew.start({edit(other)});
  EXPECT_THAT(anew.tree(), Not(HasSubstr("/a")));
}

TEST(ProgramBuilder, APolicyAtFaultGoesOnProtecting) {
  World world;
  const Json limit = object("ProxyPolicy", "limit",
                            {{"type", "RateLimit"},
                             {"targetRef", {{"kind", "ProxyRoute"}, {"name", "a"}}},
                             {"rateLimit", {{"requestsPerSecond", 5}}}});
  const ReconcileResult sound = world.start({edit(route("a", "/a")), edit(limit)});
  Json broken = limit;
  broken["metadata"]["generation"] = 2;
  broken["spec"]["rateLimit"]["requestsPerSecond"] = -1;
  const ReconcileResult held = world.apply({edit(broken)});
  EXPECT_EQ(held.hash, sound.hash);
  EXPECT_FALSE(held.program_changed || held.values_changed);
}

TEST(ProgramBuilder, WhatCameWithAResourceThatNoProgramHoldsIsTakenWithoutIt) {
  World world;
  world.start({edit(route("a", "/a"))});
  world.desired_statuses();
  Json searching = route("r", "/[a-z]+");
  searching["spec"]["rules"][0]["matches"][0]["path"]["type"] = "RegularExpression";
  const ReconcileResult result = world.apply({edit(searching), edit(slice("10.0.0.2"))});
  ASSERT_NE(result.program, nullptr);
  EXPECT_NE(result.fault, "");
  EXPECT_THAT(world.tree(), AllOf(HasSubstr("/a"), Not(HasSubstr("[a-z]"))));
  ASSERT_EQ(result.values.backends.size(), 1u);
  ASSERT_EQ(result.values.backends[0]->endpoints.size(), 1u);
  EXPECT_EQ(result.values.backends[0]->endpoints[0].address, *parse_ip("10.0.0.2"));
  EXPECT_EQ(condition(world.desired_statuses()["ProxyRoute shop/r"].status, "Accepted")["message"],
            "no program can be made with it");
  EXPECT_FALSE(world.try_apply({edit(slice("10.0.0.2"))}).has_value()) << "it is in";
}

/// A route that no program can be made with where there is no worker for expressions.
Json searching(const std::string& name) {
  Json made = route(name, "/[a-z]+");
  made["spec"]["rules"][0]["matches"][0]["path"]["type"] = "RegularExpression";
  return made;
}

TEST(ProgramBuilder, OfABatchThatFailsTheGuiltyAloneAreHeld) {
  World world;
  world.start({edit(route("a", "/a"))});
  world.desired_statuses();
  std::vector<ObjectEdit> batch;
  for (char digit = '0'; digit <= '9'; ++digit) {
    const std::string name = std::string("r") + digit;
    batch.push_back(edit(digit == '3' || digit == '8' ? searching(name) : route(name, "/" + name)));
  }
  Json broken = route("broken", "/broken");
  broken["spec"]["expression"] = "path exact";
  batch.push_back(edit(broken));
  const ReconcileResult result = world.apply(std::move(batch));
  ASSERT_NE(result.program, nullptr);
  EXPECT_NE(result.fault, "");
  auto desired_statuses = world.desired_statuses();
  for (char digit = '0'; digit <= '9'; ++digit) {
    const std::string name = std::string("r") + digit;
    const bool guilty = digit == '3' || digit == '8';
    EXPECT_EQ(world.tree().find("/" + name + "\n") == std::string::npos, guilty) << world.tree();
    EXPECT_EQ(condition(desired_statuses["ProxyRoute shop/" + name].status, "Accepted")["status"],
              guilty ? "False" : "True")
        << name;
  }
  EXPECT_THAT(condition(desired_statuses["ProxyRoute shop/broken"].status, "Accepted")["message"].get<std::string>(),
              HasSubstr("spec.expression"));
}

std::string three_digits(int number) { return std::to_string(1000 + number).substr(1); }

TEST(ProgramBuilder, AHalfThatIsSoundSparesATrialOfTheOther) {
  World world;
  world.start({edit(route("a", "/a"))});
  std::vector<ObjectEdit> batch;
  for (int i = 0; i < 64; ++i) {
    const std::string name = "r" + three_digits(i);
    batch.push_back(edit(i == 63 ? searching(name) : route(name, "/" + name)));
  }
  const ReconcileResult result = world.apply(std::move(batch));
  ASSERT_NE(result.program, nullptr);
  EXPECT_EQ(result.runs, 2 + 6) << "with all, with none, and the sound half of each half";
  EXPECT_THAT(world.tree(), AllOf(HasSubstr("/r000\n"), HasSubstr("/r062\n"), Not(HasSubstr("[a-z]"))));
}

TEST(ProgramBuilder, WhatTakesTooLongToBeTriedAloneIsHeldAndSaysSo) {
  World world;
  world.start({edit(route("a", "/a"))});
  world.desired_statuses();
  std::vector<ObjectEdit> batch;
  for (int i = 0; i < 100; ++i) batch.push_back(edit(searching("r" + three_digits(i))));
  batch.push_back(edit(route("z", "/z")));
  const ReconcileResult result = world.apply(std::move(batch));
  ASSERT_NE(result.program, nullptr);
  EXPECT_LE(result.runs, 3 + ProgramBuilder::most_trials(110));
  EXPECT_THAT(world.tree(), AllOf(HasSubstr("/a"), Not(HasSubstr("[a-z]"))));
  auto desired_statuses = world.desired_statuses();
  const auto message = [&](const std::string& name) {
    return condition(desired_statuses["ProxyRoute shop/" + name].status, "Accepted").value("message", "");
  };
  EXPECT_EQ(message("r000"), "no program can be made with it");
  EXPECT_THAT(message("z"), HasSubstr("with what came together with it"));
  // By itself it is taken.
  world.apply({edit(route("z", "/z2", 2))});
  EXPECT_THAT(world.tree(), HasSubstr("/z2"));
}

TEST(ProgramBuilder, TrialsAreFewerWhereEachTakesLonger) {
  EXPECT_EQ(ProgramBuilder::most_trials(0), 64);
  EXPECT_EQ(ProgramBuilder::most_trials(3'000), 64);
  EXPECT_EQ(ProgramBuilder::most_trials(10'000), 20);
  EXPECT_EQ(ProgramBuilder::most_trials(1'000'000'000), 16);
}

TEST(ProgramBuilder, VerdictsSayWhereARouteIs) {
  World world;
  world.start({edit(route("a", "/a"))});
  auto desired_statuses = world.desired_statuses();
  const Json route = Json::parse(desired_statuses["ProxyRoute shop/a"].status);
  EXPECT_EQ(route["ruleCount"], 1);
  EXPECT_EQ(route["observedGeneration"], 1);
  EXPECT_EQ(route["parents"][0]["gateway"], "shop/gw");
  EXPECT_EQ(route["parents"][0]["listeners"][0], "http");
  EXPECT_TRUE(desired_statuses["ProxyRoute shop/a"].servable);
  const Json gateway = Json::parse(desired_statuses["ProxyGateway shop/gw"].status);
  EXPECT_EQ(gateway["listeners"][0]["attachedRoutes"], 1);
  EXPECT_EQ(gateway["listenerCount"], 1);
  const Json backend = Json::parse(desired_statuses["ProxyBackend shop/be"].status);
  EXPECT_EQ(backend["endpoints"][0]["address"], "10.0.0.1:9000");
  EXPECT_EQ(backend["endpoints"][0]["healthy"], true);
  EXPECT_TRUE(world.desired_statuses().empty());
}

TEST(ProgramBuilder, ABackendTlsPolicyNamesTheGatewaysThatLeadToItsService) {
  const auto listens = [](int port) {
    return Json{{"gatewayClassName", "edge"},
                {"listeners", {{{"name", "http"}, {"port", port}, {"protocol", "HTTP"}}}}};
  };
  const auto on = [](const std::string& gateway) {
    return api(
        "HTTPRoute", "web",
        {{"parentRefs", {{{"name", gateway}}}}, {"rules", {{{"backendRefs", {{{"name", "be"}, {"port", 80}}}}}}}});
  };
  World world;
  world.start({edit(api("GatewayClass", "edge", {{"controllerName", kClass}})),
               edit(api("Gateway", "one", listens(81))), edit(api("Gateway", "two", listens(82))), edit(on("one")),
               edit(api("BackendTLSPolicy", "tls",
                        {{"targetRefs", {{{"group", ""}, {"kind", "Service"}, {"name", "be"}}}},
                         {"validation", {{"hostname", "be.example"}, {"wellKnownCACertificates", "System"}}}}))});
  const auto ancestors = [&](std::map<std::string, DesiredStatus> desired_statuses) {
    const Json status = Json::parse(desired_statuses["BackendTLSPolicy shop/tls"].status, nullptr, false);
    std::vector<std::string> names;
    for (const Json& ancestor : status.value("ancestors", Json::array())) {
      names.push_back(ancestor["ancestorRef"]["name"].get<std::string>());
    }
    return names;
  };
  EXPECT_THAT(ancestors(world.desired_statuses()), ElementsAre("one"));
  // The route goes elsewhere; the policy itself is as it was.
  world.apply({edit(on("two"))});
  EXPECT_THAT(ancestors(world.desired_statuses()), ElementsAre("two"));
}

TEST(ProgramBuilder, ARouteOfGatewayApiSaysWhatBecameOfItOnAProxyGateway) {
  const Json ours = {{"group", "edgeproxy.io"}, {"kind", "ProxyGateway"}, {"name", "gw"}};
  Json lost = ours;
  lost["name"] = "lost";
  World world;
  world.start({edit(api(
      "HTTPRoute", "web",
      {{"parentRefs", Json::array({ours, lost})}, {"rules", {{{"backendRefs", {{{"name", "be"}, {"port", 80}}}}}}}}))});
  auto desired_statuses = world.desired_statuses();
  const Json status = Json::parse(desired_statuses["HTTPRoute shop/web"].status);
  ASSERT_EQ(status["parents"].size(), 1U) << status.dump();
  EXPECT_EQ(status["parents"][0]["parentRef"], ours);
  EXPECT_EQ(status["parents"][0]["conditions"][0]["status"], "True");
}

// A backend is not made with one at fault: whose routes need it, the routes themselves say. More Gateways than a status
// has room for must not hide that one.
TEST(ProgramBuilder, ABackendTlsPolicyAtFaultNamesTheGatewaysThatLeadToItsService) {
  const Json to_service = {{"name", "be"}, {"port", 80}};
  const auto on_used = [&](const Json& rule) {
    return edit(api("HTTPRoute", "web", {{"parentRefs", {{{"name", "used"}}}}, {"rules", Json::array({rule})}}));
  };
  std::vector<ObjectEdit> edits = {
      edit(api("GatewayClass", "edge", {{"controllerName", kClass}})),
      on_used({{"backendRefs", Json::array({to_service})}}),
      edit(api("BackendTLSPolicy", "tls",
               {{"targetRefs", {{{"group", ""}, {"kind", "Service"}, {"name", "be"}}}},
                {"validation",
                 {{"hostname", "be.example"},
                  {"caCertificateRefs", {{{"group", "example.com"}, {"kind", "Authority"}, {"name", "none"}}}}}}}))};
  for (int i = 0; i < 20; ++i) {
    edits.push_back(edit(api("Gateway", i < 19 ? "g" + std::to_string(i) : "used",
                             {{"gatewayClassName", "edge"},
                              {"listeners", {{{"name", "http"}, {"port", 8100 + i}, {"protocol", "HTTP"}}}}})));
  }
  World world;
  world.start(std::move(edits));
  const auto ancestors = [&] {
    auto desired_statuses = world.desired_statuses();
    const Json status = Json::parse(desired_statuses["BackendTLSPolicy shop/tls"].status, nullptr, false);
    std::vector<std::string> names;
    for (const Json& ancestor : status.value("ancestors", Json::array())) {
      names.push_back(ancestor["ancestorRef"]["name"].get<std::string>());
      EXPECT_EQ(ancestor["conditions"][0]["status"], "False");
    }
    return names;
  };
  EXPECT_THAT(ancestors(), ElementsAre("used"));
  // Nobody needs it: whose it would be, nobody knows.
  world.apply({on_used({{"backendRefs", {{{"name", "other"}, {"port", 80}}}}})});
  EXPECT_THAT(ancestors(), IsEmpty());
  // Copies go to it.
  world.apply({on_used({{"filters", {{{"type", "RequestMirror"}, {"requestMirror", {{"backendRef", to_service}}}}}},
                        {"backendRefs", {{{"name", "other"}, {"port", 80}}}}})});
  EXPECT_THAT(ancestors(), ElementsAre("used"));
}

TEST(ProgramBuilder, AShadowedRouteIsToldByWhom) {
  World world;
  world.start({edit(route("a", "/a"))});
  world.desired_statuses();
  world.apply({edit(route("b", "/a"))});
  auto desired_statuses = world.desired_statuses();
  const Json shadowed = condition(desired_statuses["ProxyRoute shop/b"].status, "Shadowed");
  EXPECT_EQ(shadowed["status"], "True");
  EXPECT_THAT(shadowed["message"].get<std::string>(), HasSubstr("shop/a"));
  EXPECT_EQ(condition(desired_statuses["ProxyRoute shop/b"].status, "Ready")["status"], "True");
}

TEST(ProgramBuilder, GatewaysOfAnotherClassAreLeftToTheirController) {
  Json others = gateway();
  others["spec"]["loadBalancerClass"] = "example.com/other";
  World world;
  world.start({edit(others), edit(route("a", "/a"))});
  auto desired_statuses = world.desired_statuses();
  EXPECT_EQ(desired_statuses["ProxyGateway shop/gw"].status, "");
  EXPECT_EQ(desired_statuses["ProxyRoute shop/a"].status, "") << "its gateway's controller tells";
  EXPECT_THAT(world.tree(), Not(HasSubstr("/a")));

  // Started with that class, it is ours; and one without a class is not.
  World other;
  other.start({edit(others, "example.com/other"), edit(route("a", "/a"), "example.com/other")});
  EXPECT_THAT(other.tree(), HasSubstr("/a"));
  World neither;
  neither.apply({edit(gateway(), "example.com/other"), edit(backend()), edit(service()), edit(route("a", "/a"))});
  EXPECT_THAT(neither.tree(), Not(HasSubstr("/a")));
}

}  // namespace
}  // namespace edge::controller
