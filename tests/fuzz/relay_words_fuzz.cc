// Any messages of a relay: what it has and wants of programs, and what it says of the agents of its site. What the hub
// answers is bounded and of granted groups, and what the registry takes is of that site and within its bounds.
//
// Input: a byte (even: programs, odd: agents), then messages, each after its size in two bytes, little-endian.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

#include <unistd.h>

#include "base/labels.h"
#include "base/resource_id.h"
#include "controller/authority/authority.h"
#include "controller/distribute/hub.h"
#include "controller/distribute/relay/agent_message.h"
#include "controller/distribute/relay/site_programs.h"
#include "program/test_program.h"
#include "schemas/relay.pb.h"
#include "tests/fuzz/require.h"

using namespace edge;
using namespace edge::controller;

namespace {

constexpr std::size_t kMaxText = 253;
constexpr std::size_t kMaxReason = 1024;

/// With a program for the groups `default` and `edge`.
class PublishedHub {
 public:
  PublishedHub() {
    std::string pattern = (std::filesystem::temp_directory_path() / "relay_fuzz.XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    auto authority = Authority::open({.directory = directory_ + "/agents"});
    require(authority.ok());
    hub_ = std::make_unique<Hub>(options_, std::move(*authority));
    for (const char* group : {"default", "edge"}) {
      require(hub_->enter_group(group).ok());
      hub_->publish({.program = std::make_shared<const std::vector<std::byte>>(program::sample::program_of({})),
                     .values = program::ValueSet{},
                     .group = group});
      while (hub_->current(group).program == nullptr) std::this_thread::yield();
    }
  }
  ~PublishedHub() {
    hub_.reset();
    std::filesystem::remove_all(directory_);
  }
  Hub& hub() { return *hub_; }

 private:
  std::string directory_;
  DistributorOptions options_;
  std::unique_ptr<Hub> hub_;
};

template <typename Message, typename Take>
void for_each(std::string_view bytes, Take take) {
  while (bytes.size() >= 2) {
    const std::size_t size = static_cast<std::uint8_t>(bytes[0]) | static_cast<std::size_t>(bytes[1] & 0xff) << 8;
    bytes.remove_prefix(2);
    const std::string_view one = bytes.substr(0, size);
    bytes.remove_prefix(one.size());
    Message message;
    if (message.ParseFromArray(one.data(), static_cast<int>(one.size())) && !take(message)) return;
  }
}

void programs(std::string_view bytes) {
  static PublishedHub published;
  SitePrograms site(published.hub(), {"default", "edge"});
  for_each<relay::v1::ProgramsUp>(bytes, [&](const relay::v1::ProgramsUp& up) {
    if (!site.hear(up)) return false;
    require(site.version().size() <= kMaxText);
    // Whatever was said, the answer to it ends: two programs of one part each, refusals, and words.
    for (std::size_t answers = 0;; ++answers) {
      relay::v1::ProgramsDown down;
      if (!site.next(down)) break;
      require(answers < 2 * Hub::kMaxGroups);
      if (down.has_part()) require(down.part().group() == "default" || down.part().group() == "edge");
      if (down.has_refused()) require(down.refused().group().size() <= kMaxText);
    }
    return true;
  });
}

void agents(std::string_view bytes) {
  AgentRegistry registry;
  for_each<relay::v1::AgentsUp>(bytes, [&](const relay::v1::AgentsUp& up) {
    for (const relay::v1::AgentChange& change : up.agents()) {
      const std::string& name = change.state().name();
      if (!is_subject_name(name) || !split_cluster(name).cluster.empty()) return false;
      AgentRegistry::Relayed read = read_agent_change(change, "berlin");
      const AgentState& state = read.state;
      require(state.name == "berlin:" + name && state.backends.empty() && state.vips.empty());
      for (const std::string* text :
           {&state.node, &state.version, &state.cpu, &state.program, &state.published, &state.refused.program}) {
        require(text->size() <= kMaxText);
      }
      require(state.refused.reason.size() <= kMaxReason && state.group.size() <= kMaxReason);
      require(state.labels.size() <= kMaxLabels);
      for (const auto& [key, value] : state.labels) require(is_label_key(key) && is_label_value(value));
      require(registry.relayed(std::move(read), 1, WallTime(std::chrono::hours(1))));
    }
    return true;
  });
  for (const AgentState& agent : registry.agents()) require(agent.name.starts_with("berlin:"));
  require(registry.vips().empty() && registry.wan().empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  data[0] % 2 == 0 ? programs(bytes) : agents(bytes);
  return 0;
}
