#include "edgectl/resources/client_config.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "edgectl/resources/test_dir.h"

namespace edge::edgectl {
namespace {

using testing::HasSubstr;

std::string fault_of(const TestDir& dir, const std::string& text) {
  dir.put("config", text);
  const auto config = ClientConfig::read(dir / "config");
  return config ? std::string() : config.error().text;
}

TEST(ClientConfig, NoFileIsAnEmptyOne) {
  const TestDir dir;
  const auto config = ClientConfig::read(dir / "nothing");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->current(), "");
  EXPECT_EQ(config->find_context("x"), nullptr);
  EXPECT_EQ(config->yaml(), "currentContext: ''\ncontexts: []\nclusters: []\n");
}

TEST(ClientConfig, KeepsWhatItDoesNotKnow) {
  const TestDir dir;
  dir.put("config", "theme: dark\ncontexts:\n- {name: a, cluster: one, colour: red}\nclusters: [{name: one}]\n");
  ASSERT_TRUE(change_client_config(dir / "config", [](ClientConfig& config) {
    config.put(ClientContext{.name = "a", .name_space = "shop"});
    config.put(ClientContext{.name = "b", .cluster = "two"});
    config.put(ClientCluster{.name = "two", .kubeconfig = "/k"});
    config.set_current("b");
    return Status();
  }));
  EXPECT_EQ(dir.get("config"), R"(clusters:
- name: one
- name: two
  kubeconfig: '/k'
contexts:
- cluster: one
  colour: red
  name: a
  namespace: shop
- name: b
  cluster: two
theme: dark
currentContext: b
)");
  struct stat info{};
  ASSERT_EQ(::stat((dir / "config").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST(ClientConfig, SaysWhatIsWrongAndWhere) {
  const TestDir dir;
  EXPECT_THAT(fault_of(dir, "a: [1\nb: 2\n"), HasSubstr("config:"));
  EXPECT_THAT(fault_of(dir, "- 1\n"), HasSubstr("is no map"));
  EXPECT_THAT(fault_of(dir, "contexts: 1\n"), HasSubstr("contexts is no list"));
  EXPECT_THAT(fault_of(dir, "contexts: [1]\n"), HasSubstr("contexts[0] is no map"));
  EXPECT_THAT(fault_of(dir, "contexts: [{cluster: x}]\n"), HasSubstr("contexts[0] has no name"));
  EXPECT_THAT(fault_of(dir, "contexts: [{name: a}, {name: a}]\n"), HasSubstr("`a` is there twice"));
  EXPECT_THAT(fault_of(dir, "contexts: [{name: a, cluster: 1}]\n"), HasSubstr("contexts[0].cluster is no string"));
  EXPECT_THAT(fault_of(dir, "currentContext: [a]\n"), HasSubstr("currentContext is no string"));
  EXPECT_THAT(fault_of(dir, "a: 1\n---\nb: 2\n"), HasSubstr("more than one document"));
}

TEST(ClientConfig, AFailedChangeLeavesTheFile) {
  const TestDir dir;
  dir.put("config", "currentContext: a # mine\n");
  EXPECT_FALSE(change_client_config(dir / "config", [](ClientConfig& config) {
    config.set_current("b");
    return Status(Error{ErrorCode::kNotFound, "no"});
  }));
  EXPECT_EQ(dir.get("config"), "currentContext: a # mine\n");
}

TEST(ClientConfig, ChangesAtOnceLoseNothing) {
  const TestDir dir;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&dir, i] {
      for (int k = 0; k < 5; ++k) {
        const Status status = change_client_config(dir / "config", [&](ClientConfig& config) {
          config.put(ClientContext{.name = "c" + std::to_string(i) + "-" + std::to_string(k)});
          return Status();
        });
        EXPECT_TRUE(status);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto config = ClientConfig::read(dir / "config");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->contexts().size(), 40u);
}

}  // namespace
}  // namespace edge::edgectl
