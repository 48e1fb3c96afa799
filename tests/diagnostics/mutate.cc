#include "tests/diagnostics/mutate.h"

#include <algorithm>

#include "compiler/yaml/read.h"

namespace edge::diagnostics {
namespace {

using compiler::yaml::Node;

/// Walks a resource beside its schema.
class Walk {
 public:
  Walk(const std::string& text, std::vector<FieldSpan>& places) : text_(text), places_(places) {}

  void resource(Node root) {
    const Node kind = root.find("kind");
    const schemas::Kind* known = kind && kind.is_scalar() ? schemas::find_kind(kind.text()) : nullptr;
    if (known != nullptr && known->own) object(root, *known->body);
  }

 private:
  void object(Node node, const schemas::Object& schema) {
    if (!node || !node.is_map()) return;
    for (const Node child : node) {
      const auto field = std::ranges::find(schema.fields, child.key(), &schemas::Field::name);
      if (field == schema.fields.end() || child.is_null()) continue;
      places_.push_back({.field = &*field,
                         .closed = !schema.open,
                         .flow = text_[node.data().begin] == '{',
                         .key_begin = child.data().key_begin,
                         .key_end = child.data().key_end,
                         .begin = child.data().begin,
                         .end = child.data().end});
      if (field->object == nullptr) continue;
      if (field->type == schemas::Type::kObject) object(child, *field->object);
      if (field->type != schemas::Type::kList || !child.is_list()) continue;
      for (const Node entry : child) object(entry, *field->object);
    }
  }

  const std::string& text_;
  std::vector<FieldSpan>& places_;
};

bool opens(char c) { return c == '{' || c == '[' || c == '"' || c == '\''; }

bool fits(const std::string& text, const FieldSpan& position, Fault fault) {
  switch (fault) {
    case Fault::kDropped:
      return position.field->required;
    case Fault::kMisspelt:
      return position.closed;
    case Fault::kMistyped:
      return position.field->type != schemas::Type::kAny;
    case Fault::kTruncated:
      return opens(text[position.begin]) && position.end > position.begin + 2;
    case Fault::kDoubled:
    case Fault::kDeep:
    case Fault::kExploding:
      return true;
  }
  return false;
}

std::string aliases_of_aliases() {
  std::string text = "[&a0 [x, x, x, x, x, x, x, x, x, x]";
  for (int i = 1; i < 7; ++i) {
    text += ", &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) text += "*a" + std::to_string(i - 1) + (k < 9 ? " , " : " ]");
  }
  return text + "]";
}

/// The spaces that stand before the key's first line, as a block map's next key needs them.
std::string indent_of(const std::string& text, const FieldSpan& position) {
  const std::size_t end_of_last = text.rfind('\n', position.key_begin);
  const std::size_t line = end_of_last == std::string::npos ? 0 : end_of_last + 1;
  return std::string(position.key_begin - line, ' ');
}

std::string without(std::string text, const FieldSpan& position) {
  std::size_t end = position.end;
  if (position.flow) {
    while (end < text.size() && (text[end] == ' ' || text[end] == '\n')) ++end;
    if (end < text.size() && text[end] == ',') return text.erase(position.key_begin, end + 1 - position.key_begin);
  }
  return text.erase(position.key_begin, position.end - position.key_begin);
}

}  // namespace

DiagnosticCode code_of(Fault fault) {
  switch (fault) {
    case Fault::kDropped:
      return DiagnosticCode::kMissingField;
    case Fault::kDoubled:
      return DiagnosticCode::kDuplicateKey;
    case Fault::kMisspelt:
      return DiagnosticCode::kUnknownField;
    case Fault::kMistyped:
      return DiagnosticCode::kWrongType;
    case Fault::kTruncated:
      return DiagnosticCode::kSyntax;
    case Fault::kDeep:
      return DiagnosticCode::kTooDeep;
    case Fault::kExploding:
      return DiagnosticCode::kTooManyAliases;
  }
  return DiagnosticCode::kCompilerFault;
}

const char* name_of(Fault fault) {
  switch (fault) {
    case Fault::kDropped:
      return "Dropped";
    case Fault::kDoubled:
      return "Doubled";
    case Fault::kMisspelt:
      return "Misspelt";
    case Fault::kMistyped:
      return "Mistyped";
    case Fault::kTruncated:
      return "Truncated";
    case Fault::kDeep:
      return "Deep";
    case Fault::kExploding:
      return "Exploding";
  }
  return "";
}

std::vector<FieldSpan> places_of(const std::string& text) {
  SourceMap sources;
  const std::uint32_t id = sources.add("seed.yaml", text);
  Diagnostics ignored;
  std::vector<FieldSpan> places;
  for (const compiler::yaml::Document& document : compiler::yaml::read_documents(sources, id, ignored)) {
    Walk(text, places).resource(document.root());
  }
  return places;
}

std::optional<std::string> mutate(const std::string& text, const std::vector<FieldSpan>& places, Fault fault,
                                  std::mt19937& random) {
  std::vector<const FieldSpan*> candidates;
  for (const FieldSpan& position : places) {
    if (fits(text, position, fault)) candidates.push_back(&position);
  }
  if (candidates.empty()) return std::nullopt;
  const FieldSpan& position = *candidates[random() % candidates.size()];
  const std::string field = text.substr(position.key_begin, position.end - position.key_begin);
  std::string out = text;
  switch (fault) {
    case Fault::kDropped:
      return without(text, position);
    case Fault::kDoubled:
      return out.insert(position.key_begin, field + (position.flow ? ", " : "\n" + indent_of(text, position)));
    case Fault::kMisspelt:
      return out.insert(position.key_begin + random() % (position.key_end - position.key_begin) + 1, "x");
    case Fault::kMistyped:
      // No field takes a list of lists.
      return out.replace(position.begin, position.end - position.begin, "[[]]");
    case Fault::kTruncated:
      return out.substr(0, position.begin + 1 + random() % (position.end - position.begin - 2));
    case Fault::kDeep:
      return out.replace(position.begin, position.end - position.begin, std::string(200, '[') + std::string(200, ']'));
    case Fault::kExploding:
      return out.replace(position.begin, position.end - position.begin, aliases_of_aliases());
  }
  return std::nullopt;
}

}  // namespace edge::diagnostics
