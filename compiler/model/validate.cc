#include "compiler/model/validate.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/model/formats.h"
#include "compiler/model/forms.h"
#include "schemas/formats.h"

namespace edge::compiler::model {
namespace {

using schemas::Field;
using schemas::Format;
using schemas::Object;
using schemas::Type;
using yaml::Node;
using yaml::NodeKind;
using yaml::Style;

constexpr std::size_t kMostFields = 64;

std::string_view type_text(Type type) {
  switch (type) {
    case Type::kString:
      return "a string";
    case Type::kInteger:
      return "a whole number";
    case Type::kBoolean:
      return "true or false";
    case Type::kObject:
    case Type::kStringMap:
      return "a map";
    case Type::kList:
      return "a list";
    case Type::kIntOrString:
      return "a number or a name";
    case Type::kAny:
      return "anything";
  }
  return {};
}

bool is_plain(Node node) { return node.is_scalar() && node.data().style == yaml::Style::kPlain; }

std::string found_text(Node node) {
  switch (node.kind()) {
    case NodeKind::kNull:
      return "nothing";
    case NodeKind::kMap:
      return "a map";
    case NodeKind::kList:
      return "a list";
    case NodeKind::kScalar:
      break;
  }
  if (node.data().style != Style::kPlain) return "the string " + in_quotes(node.text());
  switch (plain_type(node.text())) {
    case PlainType::kInteger:
    case PlainType::kFloat:
      return "the number " + in_quotes(node.text());
    case PlainType::kBoolean:
      return "the boolean " + in_quotes(node.text());
    case PlainType::kString:
      break;
  }
  return "the string " + in_quotes(node.text());
}

std::optional<std::int64_t> integer_of(Node node) {
  if (!node.is_scalar() || node.data().style != Style::kPlain) return std::nullopt;
  std::string_view text = node.text();
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_empty(Node node) { return node.is_null() || (!node.is_scalar() && node.size() == 0); }

class Validator {
 public:
  explicit Validator(Report& report) : report_(report) {}

  void object(Node node, const Object& schema, const FieldPath* path) {
    if (!node.is_map()) return wrong_type(node, Type::kObject, path);
    std::array<bool, kMostFields> seen{};
    for (const Node child : node) {
      const auto field = std::find_if(schema.fields.begin(), schema.fields.end(),
                                      [&](const Field& f) { return f.name == child.key(); });
      if (field == schema.fields.end()) {
        if (!schema.open) unknown_field(child, schema, path);
        continue;
      }
      const FieldPath here{.above = path, .name = field->name};
      if (field->narrows && is_empty(child)) {
        empty(child, *field, &here);
        continue;
      }
      // Null is "not given", as in Kubernetes.
      if (child.is_null()) continue;
      seen[static_cast<std::size_t>(field - schema.fields.begin())] = true;
      value(child, *field, field->type, &here);
    }
    for (std::size_t i = 0; i < schema.fields.size(); ++i) {
      if (schema.fields[i].required && !seen[i]) missing(node, schema.fields[i], path);
    }
  }

 private:
  void value(Node node, const Field& field, Type type, const FieldPath* path) {
    switch (type) {
      case Type::kAny:
        return;
      case Type::kObject:
        return object(node, *field.object, path);
      case Type::kList:
        return list(node, field, path);
      case Type::kStringMap:
        return string_map(node, path);
      case Type::kBoolean:
        if (!node.is_scalar() || node.data().style != Style::kPlain || plain_type(node.text()) != PlainType::kBoolean) {
          wrong_type(node, type, path);
        }
        return;
      case Type::kInteger:
        return integer(node, field, path);
      case Type::kIntOrString:
        if (integer_of(node)) return integer(node, field, path);
        return string(node, field, path, type);
      case Type::kString:
        // A size may be a bare number of bytes.
        if (field.format == Format::kSize && integer_of(node)) break;
        return string(node, field, path, type);
    }
    check_text(node, field, path);
  }

  void list(Node node, const Field& field, const FieldPath* path) {
    if (!node.is_list()) {
      const std::string hint =
          node.is_scalar() && field.item == Type::kString ? "write `[" + clipped(node.text()) + "]`" : std::string();
      return wrong_type(node, Type::kList, path, hint);
    }
    if (node.size() > field.most) {
      return report_.fault(DiagnosticCode::kTooMany, node.key_span(), path->text(),
                           "the list has " + std::to_string(node.size()) + " entries; at most " +
                               std::to_string(field.most) + " are taken");
    }
    int index = 0;
    for (const Node item : node) {
      const FieldPath here{.above = path, .name = {}, .index = index++};
      value(item, field, field.item, &here);
    }
  }

  void string_map(Node node, const FieldPath* path) {
    if (!node.is_map()) return wrong_type(node, Type::kStringMap, path);
    for (const Node child : node) {
      const FieldPath here{.above = path, .name = child.key()};
      if (!child.is_null() && !is_string(child)) wrong_type(child, Type::kString, &here, quote_hint(child));
    }
  }

  void integer(Node node, const Field& field, const FieldPath* path) {
    const auto number = integer_of(node);
    if (!number) {
      if (node.is_scalar() && node.data().style == Style::kPlain && plain_type(node.text()) == PlainType::kInteger) {
        return report_.fault(DiagnosticCode::kOutOfRange, node.span(), path->text(),
                             in_quotes(node.text()) + " is not a decimal number of 64 bits");
      }
      const bool digits = node.is_scalar() && plain_type(node.text()) == PlainType::kInteger;
      return wrong_type(node, field.type == Type::kList ? field.item : field.type, path,
                        digits ? "write it without quotes" : "");
    }
    if (!field.values.empty()) return one_of(node, field, path);
    if (*number >= field.minimum && *number <= field.maximum) return;
    std::string range = field.maximum == schemas::kNoMaximum
                            ? "at least " + std::to_string(field.minimum)
                            : std::to_string(field.minimum) + " to " + std::to_string(field.maximum);
    report_.fault(DiagnosticCode::kOutOfRange, node.span(), path->text(),
                  std::to_string(*number) + " is out of range: the field takes " + range);
  }

  static bool is_string(Node node) {
    return node.is_scalar() && (node.data().style != Style::kPlain || plain_type(node.text()) == PlainType::kString);
  }
  static std::string quote_hint(Node node) {
    return node.is_scalar() ? "write `\"" + clipped(node.text()) + "\"`" : std::string();
  }

  void string(Node node, const Field& field, const FieldPath* path, Type wanted) {
    if (!is_string(node)) {
      const bool unit = field.format == Format::kDuration && node.is_scalar();
      if (field.format == Format::kPercent && node.is_scalar()) {
        return wrong_type(node, wanted, path, "write a percentage with its sign: `" + clipped(node.text()) + "%`");
      }
      return wrong_type(node, wanted, path,
                        unit ? "write a duration with its unit: `" + clipped(node.text()) + "s`" : quote_hint(node));
    }
    check_text(node, field, path);
  }

  void check_text(Node node, const Field& field, const FieldPath* path) {
    if (!field.values.empty()) return one_of(node, field, path);
    if (has_format(node.text(), field.format)) return;
    report_.fault(DiagnosticCode::kInvalidValue, node.span(), path->text(),
                  in_quotes(node.text()) + " is not " + std::string(schemas::format_text(field.format)));
  }

  void one_of(Node node, const Field& field, const FieldPath* path) {
    if (std::find(field.values.begin(), field.values.end(), node.text()) != field.values.end()) return;
    std::string values;
    for (const std::string_view allowed : field.values) {
      if (!values.empty()) values += ", ";
      values += "`" + std::string(allowed) + "`";
    }
    // A digit that differs is no slip of the pen.
    const bool number = plain_type(node.text()) == PlainType::kInteger;
    const std::string_view near =
        number ? std::string_view() : nearest_name(node.text(), {field.values.begin(), field.values.end()});
    report_.fault(DiagnosticCode::kInvalidValue, node.span(), path->text(),
                  in_quotes(node.text()) + " is not one of " + values,
                  near.empty() ? "" : "did you mean `" + std::string(near) + "`?");
  }

  void unknown_field(Node child, const Object& schema, const FieldPath* path) {
    std::vector<std::string_view> names;
    for (const Field& field : schema.fields) names.push_back(field.name);
    const std::string_view near = nearest_name(child.key(), names);
    std::string fix;
    const bool claim = child.key() == "claims" || child.key() == "claim" || child.key() == "jwt";
    if (claim && near.empty() && path->text().find(".matches[") != std::string::npos) {
      fix = "match a header that the gateway's JWT policy makes of the claim, by `claimToHeaders` with `beforeRouting`";
    } else if (!near.empty()) {
      fix = "did you mean `" + std::string(near) + "`?";
    } else if (const std::size_t colon = child.key().find(':'); colon != std::string_view::npos && colon > 0) {
      fix = "put a space after the colon: `" + clipped(child.key().substr(0, colon)) + ": ...`";
    } else if (names.size() <= 12) {
      fix = "the fields here are ";
      for (std::size_t i = 0; i < names.size(); ++i) fix += (i == 0 ? "`" : ", `") + std::string(names[i]) + "`";
    }
    const std::string name = clipped(child.key());
    const FieldPath here{.above = path, .name = name};
    // A slip in a field's name is one in others' kinds, too: a rule without its `matchs` would take everything.
    const bool slip = !near.empty() || !schema.lenient;
    report_.add({.code = DiagnosticCode::kUnknownField,
                 .severity = slip ? Severity::kError : Severity::kWarning,
                 .field = here.text(),
                 .span = child.key_span(),
                 .message = "unknown field " + in_quotes(child.key()),
                 .fix = std::move(fix)});
  }

  void empty(Node child, const Field& field, const FieldPath* path) {
    report_.fault(DiagnosticCode::kMissingField, child.key_span(), path->text(),
                  "`" + std::string(field.name) + "` is empty, which is not as good as left out",
                  "name what is meant; left out, it lets more pass");
  }

  void missing(Node node, const Field& field, const FieldPath* path) {
    const FieldPath here{.above = path, .name = field.name};
    Span span = node.key_span();
    // An entry of a list has no key: its first field shows it.
    if (span == node.span() && node.size() > 0) span = (*node.begin()).key_span();
    std::string fix;
    for (const Node child : node) {
      const std::string_view key = child.key();
      const bool joined =
          key.starts_with(field.name) && key.size() > field.name.size() && key[field.name.size()] == ':';
      if (joined) fix = "put a space after the colon of `" + std::string(field.name) + ":`";
    }
    report_.fault(DiagnosticCode::kMissingField, span, here.text(),
                  "the field `" + std::string(field.name) + "` is required", std::move(fix));
  }

  /// What somebody who knows YAML little may have meant by a value that is read otherwise.
  std::string slip_of_the_pen(Node node, Type wanted) const {
    const std::string_view text = node.is_scalar() ? node.text() : std::string_view();
    const std::size_t colon = is_plain(node) ? text.find(':') : std::string_view::npos;
    if ((wanted == Type::kObject || wanted == Type::kStringMap) && colon != std::string_view::npos && colon > 0 &&
        colon + 1 < text.size()) {
      return "put a space after the colon: `" + std::string(text.substr(0, colon)) + ": " +
             clipped(text.substr(colon + 1)) + "`";
    }
    if (wanted != Type::kList) return {};
    if (node.is_map() && node.size() > 0 && (*node.begin()).key().starts_with('-')) {
      return "put a space after the `-`: `- " + clipped((*node.begin()).key().substr(1)) + ":`";
    }
    const bool folded = is_plain(node) && text.find(" - ") != std::string_view::npos;
    return folded ? "put each item on a line of its own, below a key without a value" : std::string();
  }

  void wrong_type(Node node, Type wanted, const FieldPath* path, std::string fix = {}) {
    if (std::string slip = slip_of_the_pen(node, wanted); !slip.empty()) fix = std::move(slip);
    Span span = node.span();
    if (!node.is_scalar() && node.key_span() != span) span = node.key_span();
    report_.fault(DiagnosticCode::kWrongType, span, path == nullptr ? "" : path->text(),
                  "expected " + std::string(type_text(wanted)) + ", found " +
                      (report_.hides_values() ? "something else" : found_text(node)),
                  report_.hides_values() ? std::string() : std::move(fix));
  }

  Report& report_;
};

}  // namespace

std::string FieldPath::text() const {
  std::string prefix = above == nullptr ? std::string() : above->text();
  if (index >= 0) return prefix + "[" + std::to_string(index) + "]";
  if (!prefix.empty()) prefix += ".";
  return prefix + std::string(name);
}

void Report::fault(DiagnosticCode code, Span span, std::string field, std::string message, std::string fix) {
  add({.code = code, .field = std::move(field), .span = span, .message = std::move(message), .fix = std::move(fix)});
}

void Report::add(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::kError) ok_ = false;
  diagnostic.resource = resource_;
  diagnostics_.add(std::move(diagnostic));
}

void two_forms(Span first, std::string_view first_field, Span second, std::string_view second_field, Report& report) {
  report.add({.code = DiagnosticCode::kExclusiveFields,
              .field = std::string(second_field),
              .span = second,
              .message = "`" + std::string(second_field) + "` says something else than `" + std::string(first_field) +
                         "`, which is the same setting",
              .labels = {{first, "the other form"}},
              .fix = "keep one of them"});
}

void validate(Node node, const Object& object, const FieldPath* path, Report& report) {
  Validator(report).object(node, object, path);
}

Node given(Node map, std::string_view key) {
  const Node value = map.find(key);
  return value && !value.is_null() ? value : Node();
}

std::string clipped(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  if (text.size() <= kLongest) return std::string(text);
  std::size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

std::string in_quotes(std::string_view text) { return "`" + clipped(text) + "`"; }

}  // namespace edge::compiler::model
