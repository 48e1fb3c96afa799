#include "agent/vip/state_file.h"

#include <sstream>

#include "agent/vip/datagram.h"
#include "base/os/file.h"

namespace edge::agent::vip {
namespace {

constexpr std::size_t kMaxState = 256 << 10;

}  // namespace

State read_state(const std::string& path) {
  State state;
  const auto text = read_file(path, kMaxState);
  if (!text) return state;
  std::istringstream in(*text);
  std::string word;
  while (in >> word && state.held.size() < kMaxAddresses) {
    std::uint64_t number = 0;
    std::uint64_t second = 0;
    if (word == "instance" && in >> number) state.instance = number;
    if (word == "drained") state.drained = true;
    if (word == "handed-over" && in >> number) state.handed_over = Time(static_cast<std::int64_t>(number));
    if (word == "held" && in >> number >> second) state.held.emplace_back(number, second);
  }
  return state;
}

Status write_state(const std::string& path, const State& state) {
  std::string text = "instance " + std::to_string(state.instance) + "\n";
  if (state.drained) text += "drained\n";
  if (!state.held.empty()) {
    text += "handed-over " + std::to_string(state.handed_over.count()) + "\n";
  }
  for (const auto& [id, epoch] : state.held) {
    text += "held " + std::to_string(id) + " " + std::to_string(epoch) + "\n";
  }
  return write_file(path, std::string_view(text), FileAccess::kOwnerOnly);
}

}  // namespace edge::agent::vip
