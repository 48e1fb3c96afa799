#include "compiler/link/resolve.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/link/secrets.h"

namespace edge::compiler::link {
namespace {

using testing::ElementsAre;

model::Metadata metadata(std::string kind, std::string name_space, std::string name) {
  model::Metadata out;
  out.kind = std::move(kind);
  out.name_space = std::move(name_space);
  out.name = std::move(name);
  return out;
}

model::Reference reference(std::string name, std::string name_space = {}) {
  return {.name = {std::move(name), {}}, .name_space = std::move(name_space)};
}

/// Resolves references of ProxyRoute shop/r to backends `app` and `apt` of shop and `far` of infra.
struct World {
  World() {
    backends.add("ProxyBackend", "shop", "app", 7);
    backends.add("ProxyBackend", "shop", "apt", 8);
    backends.add("ProxyBackend", "infra", "far", 9);
    backends.add("Service", "infra", "web:80", 10);
  }

  Resolved resolve(std::string_view kind, const model::Reference& to) {
    dependencies.clear();
    Findings findings{diagnostics, &dependencies};
    const Scope scope{grants, refused};
    return Resolver(backends, scope).resolve(from, kind, to, [] { return std::string("spec.here"); }, findings);
  }

  std::vector<std::string> looked() const {
    std::vector<std::string> out;
    for (const Dependency& d : dependencies) out.push_back(d.kind + " " + d.name_space + "/" + d.name);
    return out;
  }

  NameIndex backends;
  std::vector<model::ReferenceGrant> list;
  Grants grants{list};
  Refused refused;
  Diagnostics diagnostics;
  std::vector<Dependency> dependencies;
  const model::Metadata from = metadata("ProxyRoute", "shop", "r");
};

TEST(Resolve, AHitDependsOnItsNameAlone) {
  World world;
  const Resolved found = world.resolve("ProxyBackend", reference("app"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found.position, 7U);
  EXPECT_THAT(world.looked(), ElementsAre("ProxyBackend shop/app"));
  EXPECT_TRUE(world.diagnostics.ok());
}

TEST(Resolve, AMissDependsOnTheNamesThatItMayHaveMeant) {
  World world;
  EXPECT_EQ(world.resolve("ProxyBackend", reference("apq")).fault, ReferenceFault::kNotFound);
  EXPECT_THAT(world.looked(), ElementsAre("ProxyBackend shop/apq", "ProxyBackend shop/*"));
  EXPECT_EQ(world.diagnostics.all()[0].fix, "did you mean `app`?");
  // Another kind of the name is no help.
  EXPECT_EQ(world.resolve("Service", reference("app")).fault, ReferenceFault::kNotFound);
}

TEST(Resolve, AnotherNamespaceDependsOnItsGrants) {
  World world;
  EXPECT_EQ(world.resolve("ProxyBackend", reference("far", "infra")).fault, ReferenceFault::kNotPermitted);
  EXPECT_THAT(world.looked(), ElementsAre("ReferenceGrant infra/*"));
}

TEST(Resolve, AGrantOfAServiceHoldsForItsPorts) {
  World world;
  model::ReferenceGrant grant;
  grant.metadata = metadata("ReferenceGrant", "infra", "g");
  grant.from.push_back({.group = std::string(EDGE_API_GROUP), .kind = "ProxyRoute", .name_space = "shop"});
  grant.to.push_back({.group = "", .kind = "Service", .name = "web"});
  world.list.push_back(grant);
  world.grants = Grants(world.list);
  EXPECT_TRUE(world.resolve("Service", reference("web:80", "infra")));
  EXPECT_FALSE(world.resolve("ProxyBackend", reference("far", "infra")));
}

TEST(Resolve, WhatIsRefusedIsNoSlip) {
  World world;
  world.refused.emplace("ProxyBackend shop/apz", Span{});
  EXPECT_FALSE(world.resolve("ProxyBackend", reference("apz")));
  EXPECT_EQ(world.diagnostics.all()[0].fix, "");
  EXPECT_EQ(world.diagnostics.all()[0].message, "the ProxyBackend `apz` is left out because of its own faults");
}

TEST(Resolve, FewNearNamesAreLookedForPerResource) {
  World world;
  Findings findings{world.diagnostics, &world.dependencies};
  const Scope scope{world.grants, world.refused};
  for (int i = 0; i < 20; ++i) {
    Resolver(world.backends, scope)
        .resolve(
            world.from, "ProxyBackend", reference("apq" + std::to_string(i)), [] { return std::string(); }, findings);
  }
  EXPECT_EQ(std::count_if(world.dependencies.begin(), world.dependencies.end(),
                          [](const Dependency& d) { return d.name == "*"; }),
            8);
}

TEST(NameIndex, NamesComeAndGo) {
  NameIndex index;
  index.add("Secret", "shop", "a", 1);
  index.add("Secret", "shop", "a", 2);
  EXPECT_EQ(index.find("Secret", "shop", "a"), 1U);
  index.remove("Secret", "shop", "a");
  index.remove("Secret", "shop", "a");
  EXPECT_EQ(index.find("Secret", "shop", "a"), std::nullopt);
  index.add("Secret", "shop", "a", 3);
  EXPECT_EQ(index.find("Secret", "shop", "a"), 3U);
  EXPECT_EQ(index.find("Secret", "a", "shop"), std::nullopt);
}

TEST(NameIndex, ACrowdedNamespaceIsNotSearched) {
  NameIndex index;
  for (std::uint32_t i = 0; i < 2001; ++i) index.add("Secret", "shop", "name" + std::to_string(i), i);
  EXPECT_EQ(index.nearest("Secret", "shop", "nam"), "");
  index.remove("Secret", "shop", "name7");
  EXPECT_NE(index.nearest("Secret", "shop", "name"), "");
}

TEST(Secrets, KeysTypesAndLengthsAreChecked) {
  std::vector<model::Secret> secrets(1);
  secrets[0].metadata = metadata("Secret", "shop", "s");
  secrets[0].type = "Opaque";
  secrets[0].entries = {{"empty", 0}, {"key", 31}};
  NameIndex names;
  names.add(secrets[0].metadata, 0);
  const std::vector<model::ReferenceGrant> none;
  const Grants grants(none);
  const Refused refused;
  const Scope scope{grants, refused};
  const Resolver resolver(names, scope);
  const SecretTable table{secrets, resolver};
  const model::Metadata from = metadata("ProxyPolicy", "shop", "p");
  Diagnostics diagnostics;
  Findings findings{diagnostics};
  const auto check = [&](const SecretNeed& need, std::string_view name = "s", std::string space = {}) {
    return check_secret(from, reference(std::string(name), std::move(space)), {need}, "spec.ref", table, findings);
  };
  EXPECT_EQ(check({"key"}), SecretFault::kNone);
  EXPECT_EQ(check({"key", 31, "Opaque"}), SecretFault::kNone);
  EXPECT_EQ(check({"key", 32}), SecretFault::kUnfit);
  EXPECT_EQ(check({"key", 0, kCertificateType}), SecretFault::kUnfit);
  EXPECT_EQ(check({"empty"}), SecretFault::kUnfit);
  EXPECT_EQ(check({"other"}), SecretFault::kUnfit);
  EXPECT_EQ(check({"key"}, "t"), SecretFault::kNotFound);
  EXPECT_EQ(check({"key"}, "s", "infra"), SecretFault::kNotPermitted);
  EXPECT_EQ(diagnostics.all()[0].message, "Secret shop/s holds 31 bytes under `key` where 32 are needed");
  EXPECT_EQ(diagnostics.all()[0].field, "spec.ref.name");
}

}  // namespace
}  // namespace edge::compiler::link
