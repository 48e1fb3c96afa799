#include "tests/agents/sync_world.h"

#include <filesystem>

#include <stdlib.h>

#include "program/test_program.h"

namespace edge::test {
namespace {

namespace fs = std::filesystem;
using controller::AgentState;
using controller::Distributor;

}  // namespace

SyncBytes program_of(std::uint64_t number, const program::SigningKey& key, program::Target target) {
  program::sample::Host host(number);
  std::vector<program::SectionInput> sections;
  sections.push_back({program::SectionKind::kHost, number, program::make_blob(std::move(host).build())});
  sections.push_back({program::SectionKind::kListeners, 0, program::make_blob(program::sample::empty_listeners())});
  sections.push_back({program::SectionKind::kBackends, 0, program::make_blob(program::sample::empty_backends())});
  sections.push_back({program::SectionKind::kPolicies, 0, program::make_blob(program::sample::empty_policies())});
  auto bytes = program::assemble(target, std::move(sections));
  EXPECT_TRUE(key.sign(bytes));
  return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

std::string hash_of(const SyncBytes& bytes) { return program::to_hex(program::read(bytes)->hash()); }

SyncTest::SyncTest() {
  std::string pattern = (fs::temp_directory_path() / "sync.XXXXXX").string();
  directory_ = ::mkdtemp(pattern.data());
}

SyncTest::~SyncTest() {
  agents_.clear();
  distributor_.reset();
  fs::remove_all(directory_);
}

void SyncTest::start_controller(const std::string& listen) {
  auto started = Distributor::start({.listen = listen,
                                     .data_dir = directory_ + "/controller",
                                     .program_key = key_->public_pem(),
                                     .log = log_.logger(),
                                     .history = {},
                                     .clock = [this] { return now(); }});
  ASSERT_TRUE(started) << started.error().text;
  distributor_ = std::move(*started);
  distributor_->on_change([this] {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
}

agent::SyncOptions SyncTest::options(const std::string& name) {
  return {.controller = "127.0.0.1:" + std::to_string(distributor_->port()),
          .name = name,
          .node = "node-of-" + name,
          .token_file = distributor_->join_file(),
          .data_dir = directory_ + "/" + name,
          .clock = [this] { return now(); }};
}

SyncTest::Agent& SyncTest::start_agent(const agent::SyncOptions& with) {
  auto made = std::make_unique<Agent>();
  agent::ServiceOptions service;
  service.log = std::make_shared<edge::Log>(LogOptions{.program = with.name});
  service.server.threads = 1;
  auto started = agent::Service::start(std::move(service));
  EXPECT_TRUE(started) << started.error().text;
  made->service = std::move(*started);
  auto sync = agent::Sync::start(with, *made->service);
  EXPECT_TRUE(sync) << sync.error().text;
  if (sync) made->sync = std::move(*sync);
  agents_.push_back(std::move(made));
  return *agents_.back();
}

bool SyncTest::becomes(const std::string& name, const std::function<bool(const AgentState&)>& wanted) {
  std::unique_lock lock(mutex_);
  const bool seen = changed_.wait_for(lock, kSyncPatience, [&] {
    const auto state = distributor_->agent(name);
    return state && wanted(*state);
  });
  if (seen) return true;
  const auto state = distributor_->agent(name);
  ADD_FAILURE() << name
                << (state ? ": runs " + state->program + ", refused: " + state->refused.reason : " is not there")
                << "\n"
                << log_.text();
  return false;
}

bool SyncTest::runs(const std::string& name, const SyncBytes& program) {
  const std::string hash = hash_of(program);
  return becomes(name, [&](const AgentState& state) {
    return state.connected && state.program == hash && state.values_current && state.refused.program.empty();
  });
}

Result<std::unique_ptr<controller::InspectClient>> SyncTest::inspect() {
  return controller::InspectClient::open({.controller = {}, .credentials_file = distributor_->admin_file()});
}

}  // namespace edge::test
