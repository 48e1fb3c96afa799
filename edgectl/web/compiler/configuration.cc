#include "edgectl/web/compiler/configuration.h"

#include <cstdint>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::edgectl::web {

using nlohmann::json;

bool Configuration::put(std::string_view plural, std::string_view key, std::string_view text) {
  if (plural.empty() || key.empty() || text.empty()) return false;
  Objects& objects = kinds_.try_emplace(std::string(plural)).first->second;
  const auto [at, added] = objects.try_emplace(std::string(key), text);
  if (!added && at->second == text) return true;
  at->second = text;
  ++version_;
  return true;
}

Status Configuration::update(const json& changes, std::string_view texts) {
  const auto fault = [this] {
    kinds_.clear();
    ++version_;
    return Error{ErrorCode::kInvalidArgument, "the changes do not fit their texts"};
  };
  if (member_in(changes, "forget") == true && !kinds_.empty()) {
    kinds_.clear();
    ++version_;
  }
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> replaced;
  for (const json& plural : list_in(changes, "replace")) replaced.try_emplace(text_value(plural));
  for (const json& one : list_in(changes, "put")) {
    if (!one.is_array() || one.size() != 3 || !one[2].is_number_unsigned()) return fault();
    const auto size = one[2].get<std::uint64_t>();
    if (size > texts.size() || !put(text_value(one[0]), text_value(one[1]), texts.substr(0, size))) return fault();
    texts.remove_prefix(size);
    if (const auto all = replaced.find(text_value(one[0])); all != replaced.end()) all->second.insert(one[1]);
  }
  if (!texts.empty()) return fault();
  for (const json& one : list_in(changes, "remove")) {
    if (!one.is_array() || one.size() != 2) return fault();
    const auto kind = kinds_.find(text_value(one[0]));
    if (kind != kinds_.end()) version_ += kind->second.erase(text_value(one[1]));
  }
  for (const auto& [plural, keys] : replaced) {
    const auto kind = kinds_.find(plural);
    if (kind == kinds_.end()) continue;
    version_ += std::erase_if(kind->second, [&all = keys](const auto& object) { return !all.contains(object.first); });
  }
  return {};
}

void Configuration::add_sources(SourceMap& sources, std::string_view except_plural, std::string_view except_key) const {
  for (const auto& [plural, objects] : kinds_) {
    std::string text = R"({"apiVersion":"v1","kind":"List","items":[)";
    bool first = true;
    for (const auto& [key, object] : objects) {
      if (plural == except_plural && key == except_key) continue;
      if (!std::exchange(first, false)) text += ",\n";
      text += object;
    }
    if (!first) sources.add("cluster: " + plural, text + "]}\n");
  }
}

}  // namespace edge::edgectl::web
