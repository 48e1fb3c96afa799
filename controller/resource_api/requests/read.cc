#include "controller/resource_api/requests/read.h"

#include <algorithm>
#include <map>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/text/base64.h"
#include "base/text/json.h"
#include "controller/resource_api/requests/render.h"

namespace edge::resource_api {
namespace {

using objects::Answer;
using objects::Json;

constexpr std::size_t kMaxTokenBytes = 2048;

/// Continue token of a list: after the key `start`, at `version`; 0: at the current version.
struct Token {
  std::int64_t version = 0;
  ObjectKey start{};
};

std::string write_token(const Token& token) {
  const Json json = {
      {"v", "meta.k8s.io/v1"}, {"rv", token.version}, {"ns", token.start.name_space}, {"name", token.start.name}};
  return to_base64url(json_line(json));
}

std::optional<Token> read_token(std::string_view text) {
  if (text.size() > kMaxTokenBytes) return std::nullopt;
  const auto bytes = from_base64url(text);
  if (!bytes) return std::nullopt;
  const Json value = Json::parse(*bytes, nullptr, false);
  if (!value.is_object() || value.value("v", Json()) != "meta.k8s.io/v1") return std::nullopt;
  const Json version = value.value("rv", Json());
  const Json name_space = value.value("ns", Json());
  const Json name = value.value("name", Json());
  if (!version.is_number_integer() || !name_space.is_string() || !name.is_string()) return std::nullopt;
  Token token{version.get<std::int64_t>(), {name_space.get<std::string>(), name.get<std::string>()}};
  if (token.version < 0) return std::nullopt;
  return token;
}

/// Calls `told` for each object of the namespace (empty: all) from `from` on, in order, as they were when
/// `differences` are taken into account; until it says false.
template <typename Visitor>
void each_from(const Collection& collection, const std::map<ObjectKey, ObjectPtr>& differences,
               const std::string& name_space, const ObjectKey& from, const Visitor& visit) {
  const auto within = [&](const ObjectKey& key) { return name_space.empty() || key.name_space == name_space; };
  auto now = collection.objects.lower_bound(from);
  auto then = differences.lower_bound(from);
  while (true) {
    const bool has_now = now != collection.objects.end() && within(now->first);
    const bool has_then = then != differences.end() && within(then->first);
    if (!has_now && !has_then) return;
    if (!has_then || (has_now && now->first < then->first)) {
      if (!visit(now->second)) return;
      ++now;
      continue;
    }
    if (has_now && now->first == then->first) ++now;
    if (then->second && !visit(then->second)) return;
    ++then;
  }
}

/// The snapshot that a list shows.
struct View {
  std::int64_t version = 0;
  ObjectKey from{};
  std::map<ObjectKey, ObjectPtr> differences{};
  bool expired = false;  ///< what the token asks for is forgotten
};

/// 410, with a token by which a client that can do with less goes on at what is there by then.
ApiReply expired_token(const ObjectKey& start) {
  const objects::StatusError error = objects::expired(
      "The provided continue parameter is too old to display a consistent list result. You can start a new list "
      "without the continue parameter, or use the continue token in this response to retrieve the remainder of the "
      "results. Continuing with the provided token results in an inconsistent list - objects that were created, "
      "modified, or deleted between the time the first chunk was returned and now may show up in the list.");
  Json body = error.to_json();
  body["metadata"]["continue"] = write_token({0, start});
  return reply_of(error.code, body.dump());
}

Answer<View> view_of(const Collection& collection, const Operation& op, std::int64_t current) {
  View view;
  view.version = current;
  view.from.name_space = op.name_space;
  if (!op.continued.empty()) {
    if (op.version && *op.version != 0) {
      return objects::bad_request("specifying resource version is not allowed when using continue");
    }
    auto token = read_token(op.continued);
    if (!token || token->version > current) return objects::bad_request("continue key is not valid");
    if (!op.name_space.empty() && token->start.name_space != op.name_space) {
      return objects::bad_request("continue key is not valid: it is of another namespace");
    }
    view.expired = token->version != 0 && token->version < collection.floor;
    view.from = std::move(token->start);
    if (view.expired) return view;
    if (token->version != 0) view.version = token->version;
    view.from.name += '\0';  // the next name that there can be
  } else if (op.version && *op.version > 0) {
    if (*op.version > current) return version_too_large(*op.version, current);
    // A version with a limit and no word on how to take it is exact, as it has been since before there was that word.
    if (op.match == VersionMatch::kExact || (op.match == VersionMatch::kUnset && op.limit > 0)) {
      if (*op.version < collection.floor) {
        return objects::expired("The provided resource version is too old: " + std::to_string(*op.version) + " (" +
                                std::to_string(collection.floor) + ")");
      }
      view.version = *op.version;
    }
  }
  if (view.version < current) view.differences = Store::differences_since(collection, view.version);
  return view;
}

}  // namespace

objects::StatusError version_too_large(std::int64_t version, std::int64_t current) {
  objects::StatusError error;
  error.code = 504;
  error.reason = "Timeout";
  error.message = "Too large resource version: " + std::to_string(version) + ", current: " + std::to_string(current);
  error.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  error.retry_after_seconds = 1;
  return error;
}

ApiReply get(Store& store, const Operation& op, std::int64_t now) {
  if (op.version && *op.version > store.version()) return reply_of(version_too_large(*op.version, store.version()));
  const ObjectPtr object = store.find(store.collection(op.type->collection), {op.name_space, op.name});
  if (!object) return reply_of(objects::not_found(op.subject(), op.name));
  return reply_of(200, answer_text(*object, *op.type, op.form, now));
}

ApiReply list(Store& store, const Operation& op, const ApiLimits& limits, std::int64_t now) {
  const Collection& collection = store.collection(op.type->collection);
  const Answer<View> view = view_of(collection, op, store.version());
  if (!view) return reply_of(view.error());
  if (view->expired) return expired_token(view->from);
  ListText text(*op.type, op.form, now);
  std::size_t shown = 0;
  std::int64_t remaining = 0;
  ObjectKey last;
  each_from(collection, view->differences, op.name_space, view->from, [&](const ObjectPtr& object) {
    if (!op.selector.matches(*object)) return true;
    if (op.limit > 0 && shown == op.limit) {
      ++remaining;
      return op.selector.everything();  // how many more match a selector is not counted
    }
    text.add(*object);
    ++shown;
    last = object->key;
    return text.bytes() <= limits.list_bytes;
  });
  if (text.bytes() > limits.list_bytes) {
    return reply_of(objects::too_large("the list is too long for one answer; ask for pages of it with `limit`"));
  }
  const std::string continued = remaining > 0 ? write_token({view->version, last}) : std::string();
  return reply_of(200, text.finish(view->version, continued, op.selector.everything() ? remaining : -1));
}

std::vector<ObjectPtr> select(const Collection& collection, const Operation& op) {
  std::vector<ObjectPtr> selected;
  each_from(collection, {}, op.name_space, {op.name_space, ""}, [&](const ObjectPtr& object) {
    if (op.selector.matches(*object)) selected.push_back(object);
    return true;
  });
  return selected;
}

}  // namespace edge::resource_api
