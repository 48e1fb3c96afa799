#include "controller/vip/vip_index.h"

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/diagnostics.h"
#include "base/source.h"
#include "compiler/model/decode.h"
#include "compiler/yaml/read.h"

namespace edge::controller {
namespace {

namespace model = compiler::model;

std::uint64_t epoch_in(const std::string& status) {
  const auto json = nlohmann::json::parse(status, nullptr, false);
  if (!json.is_object()) return 0;
  const auto epoch = json.find("epoch");
  return epoch != json.end() && epoch->is_number_unsigned() ? epoch->get<std::uint64_t>() : 0;
}

std::optional<VirtualAddress> read(const std::string& document) {
  SourceMap sources;
  sources.add("ProxyVIP", document);
  Diagnostics said;
  model::ResourceSet set;
  compiler::yaml::read_documents(sources, 0, said, {},
                                 [&](const compiler::yaml::Document& one) { model::decode(one, set, said); });
  if (!said.ok() || set.vips.size() != 1) return std::nullopt;
  const model::ProxyVip& vip = set.vips.front();
  VirtualAddress address;
  address.address = vip.address.value;
  address.prefix_length = vip.prefix_length;
  address.bgp = vip.mode && vip.mode->value == "BGP";
  if (vip.interface) address.interface = vip.interface->value;
  if (vip.min_healthy_nodes) address.min_healthy_nodes = static_cast<std::uint32_t>(vip.min_healthy_nodes->value);
  for (const auto& [key, value] : vip.node_selector) address.node_selector.emplace(key.value, value.value);
  return address;
}

}  // namespace

bool VipIndex::put(const std::string& name_space, const std::string& name, const std::string& document,
                   const std::string& status) {
  auto next = read(document);
  if (!next) return false;
  next->name_space = name_space;
  next->name = name;
  next->epoch = epoch_in(status);
  const auto [place, fresh] = addresses_.try_emplace({name_space, name});
  // Agents count on from what they know: that a status is written is no change.
  if (!fresh) next->epoch = std::max(next->epoch, place->second.epoch);
  VirtualAddress before = std::exchange(place->second, std::move(*next));
  before.epoch = place->second.epoch;
  return fresh || before != place->second;
}

bool VipIndex::remove(const std::string& name_space, const std::string& name) {
  return addresses_.erase({name_space, name}) != 0;
}

std::vector<VirtualAddress> VipIndex::addresses() const {
  std::vector<VirtualAddress> all;
  for (const auto& [name, address] : addresses_) {
    if (all.size() == VirtualAddresses::kMost) break;
    all.push_back(address);
  }
  return all;
}

}  // namespace edge::controller
