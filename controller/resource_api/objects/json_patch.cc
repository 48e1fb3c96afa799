// JSON Patch (RFC 6902). Errors are worded as by the library that API servers use, since scripts match on them.
#include <algorithm>
#include <charconv>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/resource_api/objects/patch.h"
#include "controller/resource_api/objects/read.h"
#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {
namespace {

/// Elements that insertions and removals in lists may together move: ten thousand insertions at the front of a long
/// list would else take minutes. A value that is looked through, as each is whose depth is to be known, costs more than
/// an element that is moved; a large one can be moved to and fro as often as the patch has operations.
constexpr std::size_t kMaxMoved = 50'000'000;
constexpr std::size_t kMovedPerVisit = 8;

StatusError rejected(std::string_view why) {
  StatusError error;
  error.code = 422;
  error.reason = "Invalid";
  error.message = words({"the server rejected our request due to an error in our request: ", why});
  error.causes.push_back({"UnexpectedServerResponse", std::string(why), ""});
  return error;
}

using Tokens = std::vector<std::string>;

/// RFC 6901; nullopt: it is none.
std::optional<Tokens> tokens_of(std::string_view pointer) {
  Tokens tokens;
  if (pointer.empty()) return tokens;
  if (pointer.front() != '/') return std::nullopt;
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] == '/') {
      tokens.emplace_back();
    } else if (pointer[i] != '~') {
      tokens.back() += pointer[i];
    } else {
      const char next = i + 1 < pointer.size() ? pointer[++i] : ' ';
      if (next != '0' && next != '1') return std::nullopt;
      tokens.back() += next == '0' ? '~' : '/';
    }
  }
  return tokens;
}

/// Below `size`; no sign, no leading zero.
std::optional<std::size_t> index_of(const std::string& token, std::size_t size) {
  std::size_t index = 0;
  const char* end = token.data() + token.size();
  const auto [last, error] = std::from_chars(token.data(), end, index);
  if (error != std::errc() || last != end || index >= size || (token.size() > 1 && token.front() == '0')) {
    return std::nullopt;
  }
  return index;
}

Json* child(Json& value, const std::string& token) {
  if (value.is_object()) {
    const auto found = value.find(token);
    return found == value.end() ? nullptr : &*found;
  }
  if (!value.is_array()) return nullptr;
  const auto index = index_of(token, value.size());
  return index ? &value[*index] : nullptr;
}

/// The value that the first `count` tokens lead to; nullptr: there is none.
Json* walk(Json& root, const Tokens& tokens, std::size_t count) {
  Json* value = &root;
  for (std::size_t i = 0; i < count && value != nullptr; ++i) value = child(*value, tokens[i]);
  return value;
}

/// `visited` grows by how many values there are.
std::size_t depth_of(const Json& value, std::size_t& visited) {
  ++visited;
  if (!value.is_structured()) return 0;
  std::size_t deepest = 0;
  for (const Json& inner : value) deepest = std::max(deepest, depth_of(inner, visited));
  return deepest + 1;
}

class Patcher {
 public:
  explicit Patcher(Json object) : root_(std::move(object)) {}

  /// Empty: it was done. Else what is wrong.
  std::string run(const Json& operation);
  bool too_much() const { return copied_ > kMaxCopiedBytes || moved_ > kMaxMoved; }
  Json take() { return std::move(root_); }

 private:
  std::string add(const Tokens& path, std::string_view text, Json value);
  std::string remove(const Tokens& path, std::string_view text, Json* removed);
  std::string copy_or_move(bool move, const Json& operation, const Tokens& path, std::string_view text);
  std::string replace_or_test(bool test, const Json& operation, const Tokens& path, std::string_view text);
  bool nests_too_deep(const Tokens& path, const Json& value);

  Json root_;
  std::size_t copied_ = 0;
  std::size_t moved_ = 0;
};

std::string missing(std::string_view operation, std::string_view path) {
  return words({operation, " operation does not apply: doc is missing path: ", in_quotes(path), ": missing value"});
}

bool Patcher::nests_too_deep(const Tokens& path, const Json& value) {
  std::size_t visited = 0;
  const std::size_t depth = depth_of(value, visited);
  moved_ += visited * kMovedPerVisit;
  return path.size() + depth > kMaxDepth;
}

std::string Patcher::add(const Tokens& path, std::string_view text, Json value) {
  if (nests_too_deep(path, value)) return words({"add operation nests too deep at ", in_quotes(text)});
  if (path.empty()) {
    root_ = std::move(value);
    return {};
  }
  Json* parent = walk(root_, path, path.size() - 1);
  if (parent == nullptr || !parent->is_structured()) return missing("add", text);
  const std::string& last = path.back();
  if (parent->is_object()) {
    (*parent)[last] = std::move(value);
    return {};
  }
  const auto index = last == "-" ? parent->size() : index_of(last, parent->size() + 1);
  if (!index)
    return words(
        {"add operation does not apply: doc is missing path: ", in_quotes(text), ": invalid index referenced"});
  moved_ += parent->size() - *index;
  parent->insert(parent->begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
  return {};
}

std::string Patcher::remove(const Tokens& path, std::string_view text, Json* removed) {
  Json* parent = path.empty() ? nullptr : walk(root_, path, path.size() - 1);
  Json* value = parent == nullptr ? nullptr : child(*parent, path.back());
  if (value == nullptr) return missing("remove", text);
  if (removed != nullptr) *removed = std::move(*value);
  if (parent->is_object()) {
    parent->erase(path.back());
  } else {
    const auto at = value - &parent->front();
    moved_ += parent->size() - static_cast<std::size_t>(at);
    parent->erase(parent->begin() + at);
  }
  return {};
}

std::string Patcher::copy_or_move(bool move, const Json& operation, const Tokens& path, std::string_view text) {
  const Json& named = member_in(operation, "from");
  const std::string from_text = named.is_string() ? text_value(named) : "?";
  const auto from = tokens_of(from_text);
  if (!from) return words({"operation has no \"from\" that is a JSON pointer"});
  Json* value = walk(root_, *from, from->size());
  if (value == nullptr) return missing(move ? "move" : "copy", from_text);
  if (!move) {
    copied_ += json_line(*value).size();
    if (too_much()) return {};
    return add(path, text, Json(*value));
  }
  if (path == *from) return {};
  if (path.size() > from->size() && std::equal(from->begin(), from->end(), path.begin())) {
    return words({"move operation does not apply: ", in_quotes(text), " is below ", in_quotes(from_text)});
  }
  Json moved;
  if (std::string fault = remove(*from, from_text, &moved); !fault.empty()) return fault;
  return add(path, text, std::move(moved));
}

std::string Patcher::replace_or_test(bool test, const Json& operation, const Tokens& path, std::string_view text) {
  const auto given = operation.find("value");
  static const Json kNull;
  const Json& value = given == operation.end() ? kNull : *given;
  Json* target = walk(root_, path, path.size());
  if (test) {
    // What is not there is null to a test, as API servers have it.
    if (target == nullptr ? value.is_null() : *target == value) return {};
    return words({"testing value ", text, " failed: test failed"});
  }
  if (target == nullptr) return missing("replace", text);
  if (nests_too_deep(path, value)) return words({"replace operation nests too deep at ", in_quotes(text)});
  *target = value;
  return {};
}

std::string Patcher::run(const Json& operation) {
  const Json& placed = member_in(operation, "path");
  const std::string text = placed.is_string() ? text_value(placed) : "?";
  const auto path = tokens_of(text);
  if (!path) return words({"operation has no \"path\" that is a JSON pointer"});
  const std::string& op = text_in(operation, "op");
  if (op == "add") {
    const auto value = operation.find("value");
    return add(*path, text, value == operation.end() ? Json() : *value);
  }
  if (op == "remove") return remove(*path, text, nullptr);
  if (op == "replace" || op == "test") return replace_or_test(op == "test", operation, *path, text);
  if (op == "copy" || op == "move") return copy_or_move(op == "move", operation, *path, text);
  return words({"Unexpected kind: ", op});
}

}  // namespace

Answer<Json> json_patch(const Json& object, const Json& patch) {
  if (!patch.is_array()) return bad_request("error decoding patch: a JSON patch is a list of operations");
  if (patch.size() > kMaxPatchOperations) {
    return too_large(words({"The allowed maximum operations in a JSON patch is ", std::to_string(kMaxPatchOperations),
                            ", got ", std::to_string(patch.size())}));
  }
  Patcher patcher(object);
  for (const Json& operation : patch) {
    if (!operation.is_object()) return bad_request("error decoding patch: an operation is an object");
    if (const std::string fault = patcher.run(operation); !fault.empty()) return rejected(fault);
    if (patcher.too_much()) return too_large("the JSON patch copies or moves too much");
  }
  return patcher.take();
}

}  // namespace edge::resource_api::objects
