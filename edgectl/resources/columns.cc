#include "edgectl/resources/columns.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "base/units.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;
using resource_api::objects::JsonPath;

constexpr std::string_view kNothing = "<none>";

/// Columns that the status computes and the spec has as well: the spec is used while no controller has processed the
/// object.
struct FromSpec {
  std::string_view status;
  std::string_view spec;
};
constexpr FromSpec kFromSpec[] = {{".status.listenerCount", ".spec.listeners"},
                                  {".status.ruleCount", ".spec.rules"},
                                  {".status.target", ".spec.targetRef"}};

std::string spec_text(const Json& value) {
  if (value.is_array()) return std::to_string(value.size());
  const std::string kind = text_in(value, "kind");
  const std::string name = text_in(value, "name");
  return kind.empty() || name.empty() ? std::string() : kind + "/" + name;
}

}  // namespace

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string age_of(std::string_view timestamp, std::int64_t now) {
  const auto then = parse_timestamp(timestamp);
  // A clock that runs ahead of ours makes no age below nothing.
  return then ? resource_api::objects::age_text(std::max<std::int64_t>(now - *then, 0)) : "<unknown>";
}

std::string cell_text(const Json& value) {
  if (value.is_null()) return std::string(kNothing);
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return json_line(value);
  std::string out;
  for (const Json& item : value) out += (out.empty() ? "" : ",") + cell_text(item);
  return out.empty() ? std::string(kNothing) : out;
}

void Columns::add(std::string head, std::string_view path, bool age) {
  std::string fault;
  cells_.push_back(
      {.path = JsonPath::parse(path, fault), .spec = nullptr, .age = age, .name = path == ".metadata.name"});
  heads_.push_back(std::move(head));
}

Columns Columns::of_kind(const schemas::Kind& kind, bool wide) {
  Columns columns;
  columns.add("NAMESPACE", ".metadata.namespace", false);
  columns.add("NAME", ".metadata.name", false);
  for (const schemas::Column& column : kind.manifest->columns) {
    if (column.wide && !wide) continue;
    columns.add(std::string(column.name), column.json_path, column.type == schemas::ColumnType::kDate);
    const auto* const other = std::ranges::find(kFromSpec, column.json_path, &FromSpec::status);
    std::string fault;
    if (other != std::end(kFromSpec)) columns.cells_.back().spec = JsonPath::parse(other->spec, fault);
  }
  return columns;
}

Columns Columns::of(std::initializer_list<Column> list) {
  Columns columns;
  for (const Column& column : list)
    columns.add(std::string(column.head), column.path, column.path.ends_with("Timestamp"));
  return columns;
}

Columns Columns::of_any(bool namespaced) {
  if (!namespaced) return of({{"NAME", ".metadata.name"}, {"AGE", ".metadata.creationTimestamp"}});
  return of({{"NAMESPACE", ".metadata.namespace"}, {"NAME", ".metadata.name"}, {"AGE", ".metadata.creationTimestamp"}});
}

Result<Columns> Columns::custom(std::string_view text) {
  const std::string whole(text);
  Columns columns;
  while (!text.empty()) {
    const std::string_view column = text.substr(0, text.find(','));
    text.remove_prefix(std::min(column.size() + 1, text.size()));
    const std::size_t colon = column.find(':');
    if (colon == std::string_view::npos || colon == 0) {
      return Error{ErrorCode::kInvalidArgument,
                   "`-o custom-columns=` takes `HEAD:.path,HEAD:.path`, not `" + whole + "`"};
    }
    columns.add(std::string(column.substr(0, colon)), column.substr(colon + 1), false);
    if (columns.cells_.back().path == nullptr) {
      return Error{ErrorCode::kInvalidArgument, "`" + std::string(column.substr(colon + 1)) + "` is no JSONPath"};
    }
  }
  return columns;
}

std::vector<std::string> Columns::cells(const Json& object, std::int64_t now, std::string_view prefix) const {
  std::vector<std::string> out;
  for (const Cell& cell : cells_) {
    const auto found = cell.path == nullptr ? std::vector<const Json*>() : cell.path->find(object);
    std::string text;
    for (const Json* value : found) text += (text.empty() ? "" : ",") + cell_text(*value);
    if (text.empty() && cell.spec != nullptr) {
      for (const Json* value : cell.spec->find(object)) text = spec_text(*value);
    }
    if (text.empty()) text = cell.age ? "<unknown>" : kNothing;
    if (cell.age) text = age_of(text, now);
    if (cell.name) text.insert(0, prefix);
    out.push_back(std::move(text));
  }
  return out;
}

namespace {

/// Expands a template; `{range}` repeats a part of it for every value.
class Template {
 public:
  Template(std::string_view text, const Json& root) : text_(text), root_(root) {}

  Result<std::string> fill() {
    part(text_, root_, 0);
    if (!fault_.empty()) return Error{ErrorCode::kInvalidArgument, "`-o jsonpath=`: " + fault_};
    return std::move(out_);
  }

 private:
  static constexpr int kMostRanges = 8;

  static std::string plain(const Json& value) {
    return value.is_string() ? value.get<std::string>() : json_line(value);
  }

  std::vector<const Json*> values(std::string_view path, const Json& at) {
    std::string fault;
    const auto compiled = JsonPath::parse(path, fault);
    if (compiled == nullptr) {
      fail("`" + std::string(path) + "`: " + fault);
      return {};
    }
    return compiled->find(at);
  }

  void fail(const std::string& what) {
    if (fault_.empty()) fault_ = what;
  }

  /// Takes what stands between the next braces off `text`; nullopt at its end.
  std::optional<std::string_view> next_field(std::string_view& text) {
    const std::size_t open = text.find('{');
    out_ += text.substr(0, open);
    if (open == std::string_view::npos) return std::nullopt;
    char quote = '\0';
    for (std::size_t at = open + 1; at < text.size(); ++at) {
      if (quote != '\0' && text[at] == '\\') {
        ++at;
      } else if (quote != '\0') {
        if (text[at] == quote) quote = '\0';
      } else if (text[at] == '"' || text[at] == '\'') {
        quote = text[at];
      } else if (text[at] == '}') {
        const std::string_view field = text.substr(open + 1, at - open - 1);
        text.remove_prefix(at + 1);
        return field;
      }
    }
    fail("a `{` is not closed");
    return std::nullopt;
  }

  /// Fills `text` in; `at` is what paths begin at. Gives what stands behind `{end}`.
  std::string_view part(std::string_view text, const Json& at, int ranges) {
    while (fault_.empty()) {
      const auto field = next_field(text);
      if (!field) {
        if (ranges > 0) fail("a `{range}` has no `{end}`");
        return {};
      }
      if (*field == "end") {
        if (ranges == 0) fail("an `{end}` without `{range}`");
        return text;
      }
      if (field->starts_with("range ")) {
        text = range(field->substr(6), text, at, ranges);
      } else if (field->starts_with('"') || field->starts_with('\'')) {
        literal(*field);
      } else {
        std::string joined;
        for (const Json* value : values(*field, at)) joined += (joined.empty() ? "" : " ") + plain(*value);
        out_ += joined;
      }
    }
    return {};
  }

  std::string_view range(std::string_view path, std::string_view text, const Json& at, int ranges) {
    if (ranges == kMostRanges) {
      fail("too many ranges within each other");
      return {};
    }
    std::string_view behind = text;
    const auto all = values(path, at);
    for (const Json* value : all) behind = part(text, *value, ranges + 1);
    if (!all.empty() || !fault_.empty()) return behind;
    // Nothing to show: the part is passed over, and what it would have written is dropped.
    const std::size_t size = out_.size();
    behind = part(text, Json(), ranges + 1);
    out_.resize(size);
    return behind;
  }

  void literal(std::string_view field) {
    if (field.size() < 2 || field.back() != field.front()) return fail("a quoted text is not closed");
    const std::string_view inner = field.substr(1, field.size() - 2);
    for (std::size_t i = 0; i < inner.size(); ++i) {
      if (inner[i] != '\\' || i + 1 == inner.size()) {
        out_ += inner[i];
        continue;
      }
      const char c = inner[++i];
      out_ += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
  }

  std::string_view text_;
  const Json& root_;
  std::string out_{};
  std::string fault_{};
};

}  // namespace

Result<std::string> fill_template(std::string_view text, const Json& object) {
  // kubectl takes a path without braces too.
  const bool bare = text.find('{') == std::string_view::npos && (text.starts_with('.') || text.starts_with('$'));
  const std::string whole = bare ? "{" + std::string(text) + "}" : std::string(text);
  return Template(whole, object).fill();
}

}  // namespace edge::edgectl
