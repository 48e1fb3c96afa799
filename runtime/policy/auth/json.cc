#include "runtime/policy/auth/json.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json_sax.h"

namespace edge::runtime::auth {

/// Builds a value event by event: input over a limit is refused before it is stored.
class JsonReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonReader(const JsonBounds& bounds) : bounds_(bounds) {}

  Json take() { return std::move(root_); }
  const char* fault() const { return fault_; }

  bool null() override { return add({}) != nullptr; }
  bool boolean(bool value) override {
    Json made;
    made.kind_ = Json::Kind::kBoolean;
    made.integer_ = value ? 1 : 0;
    return add(std::move(made)) != nullptr;
  }
  bool number_integer(number_integer_t value) override { return add_integer(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<number_unsigned_t>(INT64_MAX)) return add_integer(static_cast<std::int64_t>(value));
    return add_fraction(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return add_fraction(value); }
  bool string(string_t& value) override {
    Json made;
    made.kind_ = Json::Kind::kString;
    made.text_ = std::move(value);
    return add(std::move(made)) != nullptr;
  }
  bool binary(binary_t&) override { return fail("binary data"); }
  bool start_object(std::size_t) override { return open(Json::Kind::kObject); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::Kind::kArray); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    std::vector<Json::Member>& members = open_.back()->members_;
    if (members.size() == bounds_.members) return fail("too many members in an object");
    const bool twice = std::ranges::any_of(members, [&](const Json::Member& member) { return member.name == name; });
    if (twice) return fail("a member that stands twice");
    members.push_back({std::move(name), {}});
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return fail("not JSON");
  }

 private:
  bool add_integer(std::int64_t value) {
    Json made;
    made.kind_ = Json::Kind::kInteger;
    made.integer_ = value;
    return add(std::move(made)) != nullptr;
  }
  bool add_fraction(double value) {
    Json made;
    made.kind_ = Json::Kind::kFraction;
    made.fraction_ = value;
    return add(std::move(made)) != nullptr;
  }

  /// Where the value now stands; null: over a bound. A container's values are added while it is the innermost that is
  /// open, so that no vector that holds an open one ever grows.
  Json* add(Json value) {
    if (++values_ > bounds_.values) {
      fail("too many values");
      return nullptr;
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& container = *open_.back();
    if (container.kind_ == Json::Kind::kArray) return &container.items_.emplace_back(std::move(value));
    container.members_.back().value = std::move(value);
    return &container.members_.back().value;
  }
  bool open(Json::Kind kind) {
    if (open_.size() == bounds_.depth) return fail("too deep");
    Json made;
    made.kind_ = kind;
    Json* const added = add(std::move(made));
    if (added != nullptr) open_.push_back(added);
    return added != nullptr;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  bool fail(const char* what) {
    if (fault_ == nullptr) fault_ = what;
    return false;
  }

  const JsonBounds& bounds_;
  Json root_;
  std::vector<Json*> open_;
  std::size_t values_ = 0;
  const char* fault_ = nullptr;
};

std::optional<std::string_view> Json::text() const {
  if (kind_ != Kind::kString) return std::nullopt;
  return text_;
}

std::optional<bool> Json::boolean() const {
  if (kind_ != Kind::kBoolean) return std::nullopt;
  return integer_ != 0;
}

std::optional<std::int64_t> Json::integer() const {
  if (kind_ != Kind::kInteger) return std::nullopt;
  return integer_;
}

std::optional<double> Json::number() const {
  if (kind_ == Kind::kInteger) return static_cast<double>(integer_);
  if (kind_ != Kind::kFraction) return std::nullopt;
  return fraction_;
}

const Json* Json::find(std::string_view name) const {
  const auto found = std::ranges::find_if(members_, [&](const Member& member) { return member.name == name; });
  return found == members_.end() ? nullptr : &found->value;
}

std::optional<std::string_view> Json::text_of(std::string_view name) const {
  const Json* const member = find(name);
  return member == nullptr ? std::nullopt : member->text();
}

const Json* Json::find_path(std::string_view path) const {
  if (const Json* whole = find(path)) return whole;
  const Json* at = this;
  for (bool more = true; more && at != nullptr;) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    more = dot != path.size();
    at = at->find(path.substr(0, dot));
    path.remove_prefix(dot + (more ? 1 : 0));
  }
  return at;
}

Result<Json> read_json(std::string_view text, const JsonBounds& bounds) {
  const auto invalid = [](const char* what) { return Error{ErrorCode::kInvalidArgument, what}; };
  if (text.size() > bounds.bytes) return invalid("too large");
  JsonReader reader(bounds);
  if (!parse_events(text, reader)) {
    return invalid(reader.fault() == nullptr ? "not JSON" : reader.fault());
  }
  return reader.take();
}

}  // namespace edge::runtime::auth
