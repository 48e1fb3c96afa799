#include "agent/wan/steer/shaper.h"

#include <algorithm>
#include <utility>

#include "agent/wan/tunnel/child.h"

namespace edge::agent::wan {
namespace {

constexpr std::uint64_t kLeastKbps = 8;
/// Percent of the whole that is a class's own.
constexpr std::uint64_t kVoiceShare = 30;
constexpr std::uint64_t kDefaultShare = 50;
constexpr std::uint64_t kBulkShare = 20;

std::string class_line(const ShapedDevice& device, std::string_view name, std::uint64_t share, int priority) {
  const std::uint64_t own = std::max(device.kbps * share / 100, kLeastKbps);
  return "class replace dev " + device.name + " parent ed0e:1 classid ed0e:" + std::string(name) + " htb rate " +
         std::to_string(own) + "kbit ceil " + std::to_string(device.kbps) + "kbit prio " + std::to_string(priority) +
         "\n";
}

}  // namespace

std::string classes_text(const ShapedDevice& device) {
  const std::string whole = std::to_string(device.kbps) + "kbit";
  return "qdisc replace dev " + device.name + " root handle ed0e: htb default 20\nclass replace dev " + device.name +
         " parent ed0e: classid ed0e:1 htb rate " + whole + " ceil " + whole + "\n" +
         class_line(device, "10", kVoiceShare, 0) + class_line(device, "20", kDefaultShare, 1) +
         class_line(device, "30", kBulkShare, 2);
}

std::string rate_text(const ShapedDevice& device) {
  // Enough for two packets, and for what arrives between two ticks of a clock of 250 Hz.
  const std::uint64_t burst = std::max<std::uint64_t>(3200, device.kbps * 1000 / 8 / 250);
  return "qdisc replace dev " + device.name + " root handle ed0e: tbf rate " + std::to_string(device.kbps) +
         "kbit burst " + std::to_string(burst) + " latency 50ms\n";
}

std::vector<std::string> Shaper::apply(const std::vector<ShapedDevice>& devices) {
  std::map<std::string, ShapedDevice> wanted;
  for (const ShapedDevice& device : devices) wanted.emplace(device.name, device);
  if (wanted == applied_) return faults_;
  faults_.clear();
  const std::string tc = find_system_program("tc");
  bool any = false;
  for (const auto& [name, device] : wanted) {
    any = any || device.kbps != 0;
    const auto before = applied_.find(name);
    if (before != applied_.end() && before->second == device) continue;
    const bool was_shaped =
        before != applied_.end() && before->second.index == device.index && before->second.kbps != 0;
    if (device.kbps == 0 && !was_shaped) continue;
    if (device.kbps == 0) {
      const auto removed = run_program(tc, {"qdisc", "del", "dev", name, "root"}, {});
      if (!removed) faults_.push_back(name + " is still shaped: " + removed.error().text);
      continue;
    }
    auto done = run_program(tc, {"-batch", "-"}, without_classes_ ? rate_text(device) : classes_text(device));
    if (!done && !without_classes_ && done.error().text.find("kind is unknown") != std::string::npos) {
      without_classes_ = true;
      done = run_program(tc, {"-batch", "-"}, rate_text(device));
    }
    if (!done) faults_.push_back(name + " is not shaped: " + done.error().text);
  }
  if (any && tc.empty()) faults_ = {"links are not shaped: there is no tc (package iproute2)"};
  if (any && without_classes_) faults_.emplace_back("this kernel has no HTB: all classes of traffic share one queue");
  applied_ = std::move(wanted);
  return faults_;
}

}  // namespace edge::agent::wan
