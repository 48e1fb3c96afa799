#include "edgectl/web/api/draft_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "base/text/json.h"
#include "compiler/model/node_json.h"
#include "compiler/yaml/read.h"
#include "edgectl/agents/redact.h"
#include "edgectl/resources/write/merge.h"
#include "program/sha256.h"
#include "schemas/yaml_text.h"

namespace edge::edgectl::web {
namespace {

using compiler::yaml::Node;
using Json = nlohmann::json;

constexpr std::array<std::string_view, 4> kWritten = {"name", "namespace", "labels", "annotations"};
/// Shorter ones occur in other words; what is so short is no secret.
constexpr std::size_t kShortestSecret = 6;
constexpr std::uint64_t kMostNodes = 200'000;

std::string text_of(Node node) { return node && node.is_scalar() ? std::string(node.text()) : std::string(); }

/// The entry of `list` that an entry of a draft was: the one of its name, else the one at its place.
const Json* entry_of(const Json& list, Node entry, std::size_t index) {
  if (const Node name = entry.find("name"); name && name.is_scalar()) {
    for (const Json& one : list) {
      if (text_in(one, "name") == name.text()) return &one;
    }
    return nullptr;
  }
  return index < list.size() ? &list[index] : nullptr;
}

struct Hidden {
  Node node;
  const Json* value;  ///< null: nothing is hidden there
};

/// Finds the scalars `<redacted>`. `shown` is `stored` without its secret values.
void find_hidden(Node node, const Json* stored, const Json* shown, std::vector<Hidden>& out) {
  if (node.is_scalar()) {
    if (node.text() != kRedacted) return;
    const bool hidden = stored != nullptr && shown != nullptr && stored->is_string() && shown->is_string() &&
                        shown->get_ref<const std::string&>() == kRedacted;
    out.push_back({node, hidden ? stored : nullptr});
    return;
  }
  std::size_t index = 0;
  for (const Node child : node) {
    const Json* inner = nullptr;
    const Json* inner_shown = nullptr;
    if (node.is_map() && stored != nullptr && stored->is_object() && stored->contains(child.key())) {
      inner = &(*stored)[std::string(child.key())];
      inner_shown = &member_in(*shown, child.key());
    } else if (node.is_list() && stored != nullptr && stored->is_array()) {
      inner = entry_of(*stored, child, index);
      // The two have the same entries.
      if (inner != nullptr) inner_shown = &(*shown)[static_cast<std::size_t>(inner - &stored->front())];
    }
    find_hidden(child, inner, inner_shown, out);
    ++index;
  }
}

/// Sets the value at the node's place in the tree that was made of the document.
void replace_all(Json& value, Node node, const std::vector<Hidden>& hidden) {
  if (node.is_scalar()) {
    for (const Hidden& one : hidden) {
      if (one.node.data().begin == node.data().begin) value = *one.value;
    }
    return;
  }
  std::size_t index = 0;
  for (const Node child : node) {
    if (node.is_map()) replace_all(value[std::string(child.key())], child, hidden);
    if (node.is_list() && index < value.size()) replace_all(value[index], child, hidden);
    ++index;
  }
}

void hide_all(nlohmann::ordered_json& value, const std::vector<std::string>& secrets) {
  if (value.is_structured()) {
    for (nlohmann::ordered_json& inner : value) hide_all(inner, secrets);
  } else if (value.is_string()) {
    auto& text = value.get_ref<std::string&>();
    for (const std::string& secret : secrets) {
      for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at)) {
        text.replace(at, secret.size(), kRedacted);
        at += std::string_view(kRedacted).size();
      }
    }
  }
}

std::string hex_of(const std::string& text) {
  return program::to_hex(program::sha256(std::as_bytes(std::span(text)))).substr(0, 16);
}

std::vector<DraftFault> errors_of(const Diagnostics& diagnostics, std::uint32_t end) {
  std::vector<DraftFault> errors;
  for (const Diagnostic& one : diagnostics.all()) {
    if (one.severity != Severity::kError) continue;
    errors.push_back(
        {one.message, one.span.somewhere() ? one.span.begin : 0, one.span.somewhere() ? one.span.end : end});
  }
  return errors;
}

}  // namespace

Json editable(const Json& object) {
  Json out = Json::object();
  for (const auto& [field, value] : object.items()) {
    if (field != "status" && field != "metadata") out[field] = value;
  }
  const Json& metadata = member_in(object, "metadata");
  Json kept = Json::object();
  for (const std::string_view field : kWritten) {
    if (const Json& value = member_in(metadata, field); !value.is_null()) kept[std::string(field)] = value;
  }
  if (const auto notes = kept.find("annotations"); notes != kept.end() && notes->is_object()) {
    notes->erase(kLastApplied);
    if (notes->empty()) kept.erase(notes);
  }
  out["metadata"] = std::move(kept);
  return out;
}

std::string draft_yaml(const Json& object) {
  Json shown = editable(object);
  redact(shown);
  return schemas::yaml_text(shown);
}

std::string version_of(const Json& object) {
  const Json& metadata = member_in(object, "metadata");
  const std::int64_t generation = integer_in(metadata, "generation");
  Json shown = editable(object);
  redact(shown);
  // Kinds of the core have no generation.
  const std::string count =
      generation > 0 ? "g" + std::to_string(generation) : "r" + text_in(metadata, "resourceVersion");
  return text_in(metadata, "uid") + "." + count + "." + hex_of(json_line(shown["metadata"]));
}

Draft::Draft(std::string_view yaml, const Json* stored) { read(yaml, stored); }

void Draft::note_fields(const Node& root) {
  kind_ = text_of(root.find("kind"));
  const Node metadata = root.find("metadata");
  name_ = text_of(metadata.find("name"));
  name_space_ = text_of(metadata.find("namespace"));
  const auto add_place = [&](const char* field, Node node) {
    if (node) places_.push_back({field, node.span().begin, node.span().end});
  };
  add_place("apiVersion", root.find("apiVersion"));
  add_place("kind", root.find("kind"));
  add_place("metadata", metadata ? root.find("metadata") : Node());
  add_place("metadata.name", metadata.find("name"));
  add_place("metadata.namespace", metadata.find("namespace"));
}

void Draft::read(std::string_view yaml, const Json* stored) {
  const auto end = static_cast<std::uint32_t>(yaml.size());
  SourceMap sources;
  sources.add("draft", std::string(yaml));
  Diagnostics diagnostics(100);
  const std::vector<compiler::yaml::Document> documents =
      compiler::yaml::read_documents(sources, 0, diagnostics, {.nodes = kMostNodes});
  diagnostics.finish(sources);
  faults_ = errors_of(diagnostics, end);
  if (!faults_.empty()) return;
  if (documents.size() != 1) {
    faults_.push_back({documents.empty() ? "the draft is empty: write one object"
                                         : "the draft has several documents: write one object",
                       documents.empty() ? 0 : documents[1].root().span().begin, end});
    return;
  }
  const Node root = documents.front().root();
  if (!root.is_map()) {
    faults_.push_back({"an object is a map with apiVersion, kind, metadata and spec", 0, end});
    return;
  }
  note_fields(root);

  Json own, shown;
  if (stored != nullptr) {
    own = editable(*stored);
    shown = own;
    redact(shown);
  }
  std::vector<Hidden> hidden;
  find_hidden(root, stored == nullptr ? nullptr : &own, stored == nullptr ? nullptr : &shown, hidden);
  for (const Hidden& one : hidden) {
    if (one.value != nullptr) continue;
    faults_.push_back({"no value is hidden here: write it in place of `" + std::string(kRedacted) + "`",
                       one.node.span().begin, one.node.span().end});
  }
  if (!faults_.empty()) return;
  object_ = compiler::model::json_of(root);
  if (!hidden.empty()) replace_all(object_, root, hidden);
  std::uint32_t from = 0;
  for (const Hidden& one : hidden) {
    const auto& data = one.node.data();
    // An alias has no text of its own.
    if (data.begin < from) continue;
    text_.append(yaml.substr(from, data.begin - from));
    const auto begin = static_cast<std::uint32_t>(text_.size());
    text_ += json_line(*one.value);
    moved_.push_back({data.begin, data.end, begin, static_cast<std::uint32_t>(text_.size())});
    from = data.end;
    if (const auto& secret = one.value->get_ref<const std::string&>(); secret.size() >= kShortestSecret) {
      secrets_.push_back(secret);
    }
  }
  text_.append(yaml.substr(from));
  // The longest first: one may be part of another.
  std::ranges::sort(secrets_, [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::uint32_t Draft::position(std::uint32_t of_text) const {
  std::uint32_t at = of_text;
  for (const Moved& one : moved_) {
    if (of_text < one.text_begin) break;
    if (of_text < one.text_end) return one.begin;
    at = of_text - one.text_end + one.end;
  }
  return at;
}

std::string Draft::hide(std::string json) const {
  if (secrets_.empty()) return json;
  nlohmann::ordered_json tree = parse_ordered_json(json);
  hide_all(tree, secrets_);
  return json_line(tree);
}

void Draft::refuse(std::string_view field, std::string message) {
  const auto found = std::ranges::find(places_, field, &Place::field);
  const bool known = found != places_.end();
  faults_.push_back({std::move(message), known ? found->begin : 0,
                     known ? found->end : static_cast<std::uint32_t>(std::min<std::size_t>(text_.size(), 1))});
}

}  // namespace edge::edgectl::web
