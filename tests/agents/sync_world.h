// A controller's Distributor and agents' Syncs, over loopback and real TLS.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "agent/service.h"
#include "agent/sync/sync.h"
#include "base/test_log.h"
#include "controller/distribute/distributor.h"
#include "controller/distribute/inspect_client.h"
#include "program/read.h"
#include "program/sign.h"

namespace edge::test {

/// How long is waited for what comes.
inline constexpr auto kSyncPatience = std::chrono::seconds(120);

using SyncBytes = std::shared_ptr<const std::vector<std::byte>>;

/// Programs that differ by number: they have no listeners, and one host section each besides.
SyncBytes program_of(std::uint64_t number, const program::SigningKey& key,
                     program::Target target = program::Target::kTablesOnly);
std::string hash_of(const SyncBytes& bytes);

class SyncTest : public testing::Test {
 protected:
  struct Agent {
    std::unique_ptr<agent::Service> service;
    std::unique_ptr<agent::Sync> sync;
    ~Agent() { sync.reset(); }
  };

  SyncTest();
  ~SyncTest() override;

  void start_controller(const std::string& listen = "127.0.0.1:0");
  agent::SyncOptions options(const std::string& name);
  Agent& start_agent(const agent::SyncOptions& with);
  Agent& start_agent(const std::string& name) { return start_agent(options(name)); }
  /// Waits until the agent's state is as wanted.
  bool becomes(const std::string& name, const std::function<bool(const controller::AgentState&)>& wanted);
  bool runs(const std::string& name, const SyncBytes& program);
  controller::WallTime now() const { return std::chrono::system_clock::now() + shift_.load(); }
  Result<std::unique_ptr<controller::InspectClient>> inspect();

  std::string directory_;
  std::atomic<std::chrono::seconds> shift_{std::chrono::seconds(0)};
  Result<program::SigningKey> key_ = program::SigningKey::generate();
  TestLog log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<controller::Distributor> distributor_;
  std::vector<std::unique_ptr<Agent>> agents_;
};

}  // namespace edge::test
