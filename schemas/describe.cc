#include "schemas/describe.h"

#include <algorithm>

#include "schemas/formats.h"

namespace edge::schemas {
namespace {

std::string joined(std::span<const std::string_view> values) {
  std::string text;
  for (const std::string_view value : values) text += (text.empty() ? "" : ", ") + std::string(value);
  return text;
}

std::string range_text(const Field& field) {
  if (field.minimum == kNoMinimum && field.maximum == kNoMaximum) return {};
  if (field.maximum == kNoMaximum) return " of at least " + std::to_string(field.minimum);
  return " from " + std::to_string(field.minimum) + " to " + std::to_string(field.maximum);
}

/// One value, or each entry of a list.
std::string value_text(const Field& field, Type type) {
  if (!field.values.empty()) return "one of " + joined(field.values);
  switch (type) {
    case Type::kString:
      return std::string(format_text(field.format));
    case Type::kInteger:
      return "integer" + range_text(field);
    case Type::kBoolean:
      return "boolean";
    case Type::kObject:
      return "object";
    case Type::kStringMap:
      return "map of strings";
    case Type::kIntOrString:
      return field.format == Format::kNone ? "number or name" : std::string(format_text(field.format));
    case Type::kAny:
      return "anything";
    case Type::kList:
      break;
  }
  return {};
}

/// The first step of a path without the index that may stand behind it, and the rest.
std::string_view take_step(std::string_view& path) {
  const std::size_t dot = std::min(path.find('.'), path.size());
  std::string_view step = path.substr(0, dot);
  path.remove_prefix(std::min(dot + 1, path.size()));
  return step.substr(0, std::min(step.find('['), step.size()));
}

const Field* field_named(const Object& object, std::string_view name) {
  const auto found = std::ranges::find(object.fields, name, &Field::name);
  return found == object.fields.end() ? nullptr : &*found;
}

void wrap(std::string_view text, std::size_t indent, std::string& out) {
  constexpr std::size_t kWidth = 100;
  std::size_t column = indent;
  out.append(indent, ' ');
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    if (column > indent && column + 1 + space > kWidth) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += text.substr(0, space);
    column += space;
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  out += '\n';
}

void list_fields(const Object& object, std::string& out) {
  out += "\nFields:\n";
  for (const Field& field : object.fields) {
    const std::string remarks = remarks_text(field);
    out +=
        "  " + std::string(field.name) + "  <" + type_text(field) + ">" + (remarks.empty() ? "" : " " + remarks) + "\n";
    wrap(field.text, 6, out);
  }
}

}  // namespace

std::string type_text(const Field& field) {
  if (field.type != Type::kList) return value_text(field, field.type);
  return "list, each " + value_text(field, field.item);
}

std::string remarks_text(const Field& field) {
  std::string text;
  const auto add = [&](std::string remark) { text += (text.empty() ? "" : ", ") + std::move(remark); };
  if (field.required) add("required");
  if (!field.goes_with.empty()) add("with type " + std::string(field.goes_with));
  if (!field.default_value.empty()) add("default " + std::string(field.default_value));
  if (!field.other_form.empty()) add("or as " + std::string(field.other_form));
  return text;
}

const Object* object_of(const Kind& kind, const Field& field) {
  if (field.name == "status" && kind.manifest != nullptr && field.type == Type::kAny) return kind.manifest->status;
  return field.object;
}

const Field* find_field(const Kind& kind, std::string_view path) {
  const Object* object = kind.body;
  const Field* field = nullptr;
  while (!path.empty()) {
    if (object == nullptr) return nullptr;
    field = field_named(*object, take_step(path));
    if (field == nullptr) return nullptr;
    object = object_of(kind, *field);
  }
  return field;
}

std::vector<std::string> next_paths(const Kind& kind, std::string_view typed) {
  const std::size_t dot = typed.rfind('.');
  const std::string_view above = dot == std::string_view::npos ? std::string_view() : typed.substr(0, dot);
  const std::string_view begun = dot == std::string_view::npos ? typed : typed.substr(dot + 1);
  const Object* object = kind.body;
  if (!above.empty()) {
    const Field* field = find_field(kind, above);
    object = field == nullptr ? nullptr : object_of(kind, *field);
  }
  std::vector<std::string> paths;
  if (object == nullptr) return paths;
  for (const Field& field : object->fields) {
    if (!field.name.starts_with(begun)) continue;
    paths.push_back((above.empty() ? "" : std::string(above) + ".") + std::string(field.name));
  }
  return paths;
}

std::optional<std::string> describe(const Kind& kind, std::string_view path) {
  std::string out = std::string(kind.kind) + (path.empty() ? "" : "." + std::string(path)) + "  (" +
                    std::string(kind.api_version) + ")\n\n";
  if (path.empty()) {
    if (kind.manifest != nullptr) {
      wrap(kind.manifest->text, 2, out);
      out += "\n  Names: " + std::string(kind.plural) + ", " + joined(kind.manifest->aliases) + "\n";
    }
    list_fields(*kind.body, out);
    return out;
  }
  const Field* field = find_field(kind, path);
  if (field == nullptr) return std::nullopt;
  const std::string remarks = remarks_text(*field);
  out += "  <" + type_text(*field) + ">" + (remarks.empty() ? "" : " " + remarks) + "\n";
  wrap(field->text, 2, out);
  if (const Object* object = object_of(kind, *field)) list_fields(*object, out);
  return out;
}

}  // namespace edge::schemas
