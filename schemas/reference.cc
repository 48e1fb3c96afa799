#include "schemas/reference.h"

#include <vector>

#include "schemas/describe.h"

namespace edge::schemas {
namespace {

/// A text as the cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

/// Texts name rules by number: `(rule D1)` becomes a link to the page that explains it.
std::string with_links(std::string text) {
  constexpr std::string_view kRule = "(rule D";
  for (std::size_t at = text.find(kRule); at != std::string::npos; at = text.find(kRule, at + 1)) {
    const std::size_t end = text.find(')', at);
    const std::string number = text.substr(at + kRule.size(), end - at - kRule.size());
    text.replace(at, end - at, "([rule D" + number + "](../rules.md#d" + number + ")");
  }
  return text;
}

std::string type_cell(const Field& field) {
  if (field.values.empty()) return type_text(field);
  std::string text = field.type == Type::kList ? "list of " : "";
  for (std::size_t i = 0; i < field.values.size(); ++i) text += (i == 0 ? "" : ", ") + code(field.values[i]);
  return text;
}

std::string notes_cell(const Field& field) {
  std::string text = with_links(std::string(field.text));
  if (field.type == Type::kList && field.most < Field().most) text += " At most " + std::to_string(field.most) + ".";
  if (!field.goes_with.empty()) text += " Required with type " + code(field.goes_with) + ", refused with another.";
  if (!field.other_form.empty()) text += " May be written as " + code(field.other_form) + " instead.";
  return text;
}

/// A table of the fields of `object`, then of what is below them. `path` ends in `[]` for entries of a list.
void fields_of(const Kind& kind, const Object& object, const std::string& path, std::string& out) {
  out += "\n### " + code(path) + "\n\n| field | type | default | |\n|---|---|---|---|\n";
  for (const Field& field : object.fields) {
    out += "| " + code(field.name) + (field.required ? " *" : "") + " | " + cell(type_cell(field)) + " | " +
           (field.default_value.empty() ? "" : code(field.default_value)) + " | " + cell(notes_cell(field)) + " |\n";
  }
  for (const Field& field : object.fields) {
    const Object* below = object_of(kind, field);
    if (below == nullptr) continue;
    fields_of(kind, *below, path + "." + std::string(field.name) + (field.type == Type::kList ? "[]" : ""), out);
  }
}

std::string columns_of(const Manifest& manifest) {
  std::string out =
      "\n## Columns\n\n| column | from |\n|---|---|\n| NAMESPACE | `.metadata.namespace` |\n"
      "| NAME | `.metadata.name` |\n";
  for (const Column& column : manifest.columns) {
    out += "| " + std::string(column.name) + (column.wide ? " (wide)" : "") + " | " + code(column.json_path) + " |\n";
  }
  return out;
}

}  // namespace

std::string reference_page(const Kind& kind) {
  const Manifest& manifest = *kind.manifest;
  std::string out = "# " + std::string(kind.kind) + "\n\n" + std::string(manifest.text) + "\n\n";
  out += "`apiVersion: " + std::string(kind.api_version) +
         "`, namespaced. Names for `edgectl` and `kubectl`: " + code(kind.plural) + ", short " +
         code(manifest.short_name()) + "; for `edgectl` also";
  for (std::size_t i = 0; i + 1 < manifest.aliases.size(); ++i)
    out += (i == 0 ? " " : ", ") + code(manifest.aliases[i]);
  out += ".\n\nThis page is made from the tables in `schemas/`, as the manifest `deploy/crds/" +
         std::string(kind.plural) + ".yaml` is.\n";
  out += "\n## Example\n\n```yaml\n" + std::string(manifest.example) + "```\n";
  out += "\n## Fields\n\nA field with `*` is required where what it stands in is given.\n";
  for (const Field& field : kind.body->fields) {
    if (const Object* object = object_of(kind, field)) fields_of(kind, *object, std::string(field.name), out);
  }
  return out + columns_of(manifest);
}

std::string reference_index() {
  std::string out =
      "# Reference\n\nEvery kind of `" + std::string(kApiGroup) +
      "`, made from the tables in `schemas/`. `edgectl schema KIND.field` prints the same in a terminal.\n\n"
      "| kind | short | what it is |\n|---|---|---|\n";
  for (const Kind& kind : kinds()) {
    if (kind.manifest == nullptr) continue;
    const std::string_view text = kind.manifest->text;
    out += "| [" + std::string(kind.kind) + "](" + std::string(kind.kind) + ".md) | " +
           code(kind.manifest->short_name()) + " | " + cell(text.substr(0, text.find(". ") + 1)) + " |\n";
  }
  return out;
}

}  // namespace edge::schemas
