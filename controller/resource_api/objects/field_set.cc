#include "controller/resource_api/objects/field_set.h"

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {
namespace {

/// The step that fieldsV1 writes as `text`, in its one form; nullopt: it is none.
std::optional<PathStep> step_of(const std::string& text) {
  if (text.starts_with("f:")) return PathStep{text};
  if (text.starts_with("k:") || text.starts_with("v:")) {
    const Json value = parse_json(std::string_view(text).substr(2));
    if (value.is_discarded()) return std::nullopt;
    if (text.front() == 'v') return PathStep::value(value);
    if (!value.is_object() || value.empty()) return std::nullopt;
    return PathStep::key(value);
  }
  const bool index = text.starts_with("i:") && text.size() > 2 && text.size() < 12 &&
                     text.find_first_not_of("0123456789", 2) == std::string::npos;
  return index ? std::optional(PathStep{text}) : std::nullopt;
}

std::string readable(const PathStep& step) {
  const std::string rest = step.text.substr(2);
  switch (step.text.front()) {
    case 'f':
      return "." + rest;
    case 'v':
      return words({"[=", rest, "]"});
    case 'k': {
      std::string out = "[";
      const Json keys = Json::parse(rest, nullptr, false);
      for (const auto& [name, value] : keys.items()) {
        if (out.size() > 1) out += ",";
        out += words({name, "=", json_line(value)});
      }
      return out + "]";
    }
    default:
      return words({"[", rest, "]"});
  }
}

std::string read(const Json& fields, FieldSet& out) {
  if (!fields.is_object()) return "a set of fields must be an object";
  if (fields.empty()) out.set_member(true);
  for (const auto& [name, inner] : fields.items()) {
    if (name == ".") {
      out.set_member(true);
      continue;
    }
    const auto step = step_of(name);
    if (!step) return words({"missing or unknown key type in ", in_quotes(name)});
    if (std::string fault = read(inner, out.at(*step)); !fault.empty()) return fault;
  }
  return {};
}

void each_below(const FieldSet& set, const std::string& path, const std::function<void(const std::string&)>& visit) {
  if (set.member()) visit(path);
  for (const auto& [step, inner] : set.below()) each_below(inner, path + readable(step), visit);
}

}  // namespace

PathStep PathStep::field(std::string_view name) { return {words({"f:", name})}; }
PathStep PathStep::key(const Json& keys) { return {words({"k:", json_line(keys)})}; }
PathStep PathStep::value(const Json& value) { return {words({"v:", json_line(value)})}; }
PathStep PathStep::index(std::size_t at) { return {words({"i:", std::to_string(at)})}; }

const FieldSet* FieldSet::find(const PathStep& step) const {
  const auto found = below_.find(step);
  return found == below_.end() ? nullptr : &found->second;
}

void FieldSet::insert(std::span<const PathStep> path) {
  FieldSet* at = this;
  for (const PathStep& step : path) at = &at->below_[step];
  at->member_ = true;
}

FieldSet FieldSet::united(const FieldSet& other) const {
  FieldSet out = *this;
  out.member_ = member_ || other.member_;
  for (const auto& [step, inner] : other.below_) {
    const auto [at, added] = out.below_.try_emplace(step, inner);
    if (!added) at->second = at->second.united(inner);
  }
  return out;
}

FieldSet FieldSet::intersected(const FieldSet& other) const {
  FieldSet out;
  out.member_ = member_ && other.member_;
  for (const auto& [step, inner] : below_) {
    const FieldSet* same = other.find(step);
    if (same == nullptr) continue;
    FieldSet both = inner.intersected(*same);
    if (!both.empty()) out.below_.emplace(step, std::move(both));
  }
  return out;
}

FieldSet FieldSet::without(const FieldSet& other) const {
  FieldSet out;
  out.member_ = member_ && !other.member_;
  for (const auto& [step, inner] : below_) {
    const FieldSet* same = other.find(step);
    FieldSet rest = same == nullptr ? inner : inner.without(*same);
    if (!rest.empty()) out.below_.emplace(step, std::move(rest));
  }
  return out;
}

FieldSet FieldSet::without_below(const FieldSet& other) const {
  if (other.member_) return {};
  FieldSet out;
  out.member_ = member_;
  for (const auto& [step, inner] : below_) {
    const FieldSet* same = other.find(step);
    FieldSet rest = same == nullptr ? inner : inner.without_below(*same);
    if (!rest.empty()) out.below_.emplace(step, std::move(rest));
  }
  return out;
}

void FieldSet::each(const std::function<void(const std::string& path)>& visit) const { each_below(*this, "", visit); }

Answer<FieldSet> FieldSet::parse(const Json& fields_v1) {
  FieldSet set;
  if (const std::string fault = read(fields_v1, set); !fault.empty()) return bad_request(fault);
  // `{}` as a whole is the empty set.
  if (fields_v1.empty()) set.member_ = false;
  return set;
}

Json FieldSet::to_json() const {
  Json out = Json::object();
  if (member_ && !below_.empty()) out["."] = Json::object();
  for (const auto& [step, inner] : below_) out[step.text] = inner.to_json();
  return out;
}

}  // namespace edge::resource_api::objects
