#include "edgectl/reports/diagnostics_output.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::edgectl {
namespace {

using OrderedJson = nlohmann::ordered_json;

const char* severity_text(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "note";
}

struct Counts {
  std::size_t errors = 0;
  std::size_t warnings = 0;
};

std::string verdict(const Counts& counts) {
  std::string text = counts.errors == 0 ? "valid" : "invalid";
  if (counts.errors + counts.warnings == 0) return text;
  text += " (";
  if (counts.errors > 0) text += counted(counts.errors, "error");
  if (counts.errors > 0 && counts.warnings > 0) text += ", ";
  if (counts.warnings > 0) text += counted(counts.warnings, "warning");
  return text + ")";
}

/// Nothing but comments, blank lines and document marks: valid, and mostly not what was meant.
bool has_nothing(const SourceText& source) {
  std::string_view text = source.text();
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#' && line.substr(first).substr(0, 3) != "---") return false;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return true;
}

std::string dropped_text(const Diagnostics& diagnostics) {
  return diagnostics.dropped() == 0 ? std::string()
                                    : "and " + counted(diagnostics.dropped(), "further finding") + " not kept\n";
}

LineColumn position(const Span& span, const SourceMap& sources) { return sources[span.source].position(span.begin); }

/// SARIF counts code points where we count bytes.
std::uint32_t code_point_column(const SourceText& source, const LineColumn& at) {
  const std::string_view before = source.line(at.line).substr(0, at.column - 1);
  const auto continuations =
      std::ranges::count_if(before, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; });
  return at.column - static_cast<std::uint32_t>(continuations);
}

OrderedJson region(const Span& span, const SourceMap& sources) {
  const SourceText& source = sources[span.source];
  const LineColumn begin = source.position(span.begin);
  const LineColumn end = source.position(span.end);
  return {{"startLine", begin.line},
          {"startColumn", code_point_column(source, begin)},
          {"endLine", end.line},
          {"endColumn", code_point_column(source, end)}};
}

/// A file's name as a relative URI reference (RFC 3986).
std::string uri_of(const std::string& name) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  constexpr std::string_view kKept = "-._~/+,=@";
  std::string uri;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain || kKept.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += std::string("%") + kHex[byte >> 4] + kHex[byte & 15];
    }
  }
  return uri;
}

OrderedJson location(const Span& span, const SourceMap& sources) {
  return {{"physicalLocation",
           {{"artifactLocation", {{"uri", uri_of(sources[span.source].name())}}}, {"region", region(span, sources)}}}};
}

}  // namespace

std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string errors_text(const Diagnostics& diagnostics, const SourceMap& sources, Colour colour) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity == Severity::kError) text += render(diagnostic, sources, colour) + "\n";
  }
  return text + dropped_text(diagnostics);
}

std::string diagnostics_text(const Diagnostics& diagnostics, const SourceMap& sources, std::uint32_t files,
                             Colour colour) {
  std::map<std::uint32_t, Counts> counts;
  std::map<std::uint32_t, std::string> texts;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    Counts& of_file = counts[diagnostic.span.source];
    of_file.errors += diagnostic.severity == Severity::kError ? 1 : 0;
    of_file.warnings += diagnostic.severity == Severity::kWarning ? 1 : 0;
    texts[diagnostic.span.source] += render(diagnostic, sources, colour) + "\n";
  }
  std::string out;
  std::size_t invalid = 0;
  for (std::uint32_t id = 0; id < files; ++id) {
    invalid += counts[id].errors > 0 ? 1 : 0;
    out += sources[id].name() + ": " + verdict(counts[id]) + (has_nothing(sources[id]) ? ", without a resource" : "") +
           "\n";
    if (!texts[id].empty()) out += "\n" + texts[id];
  }
  if (!texts[Span::kNowhere].empty()) out += "\n" + texts[Span::kNowhere];
  out += dropped_text(diagnostics);
  out += "total " + std::to_string(files) + ", valid " + std::to_string(files - invalid) + ", invalid " +
         std::to_string(invalid);
  if (diagnostics.errors() + diagnostics.warnings() > 0) {
    out += "; " + counted(diagnostics.errors(), "error") + ", " + counted(diagnostics.warnings(), "warning");
  }
  return out + "\n";
}

std::string diagnostics_json(const Diagnostics& diagnostics, const SourceMap& sources) {
  OrderedJson list = OrderedJson::array();
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    OrderedJson entry = {{"code", code_text(diagnostic.code)},
                         {"severity", severity_text(diagnostic.severity)},
                         {"message", diagnostic.message},
                         {"resource", diagnostic.resource},
                         {"field", diagnostic.field}};
    if (diagnostic.span.somewhere()) {
      const LineColumn at = position(diagnostic.span, sources);
      entry["file"] = sources[diagnostic.span.source].name();
      entry["line"] = at.line;
      entry["column"] = at.column;
    } else {
      entry["file"] = entry["line"] = entry["column"] = nullptr;
    }
    entry["notes"] = diagnostic.notes;
    entry["related"] = OrderedJson::array();
    for (const Label& label : diagnostic.labels) {
      if (!label.span.somewhere()) continue;
      const LineColumn at = position(label.span, sources);
      entry["related"].push_back({{"file", sources[label.span.source].name()},
                                  {"line", at.line},
                                  {"column", at.column},
                                  {"message", label.text}});
    }
    entry["fix"] = diagnostic.fix;
    list.push_back(std::move(entry));
  }
  return indented_json(list);
}

std::string diagnostics_sarif(const Diagnostics& diagnostics, const SourceMap& sources) {
  std::map<std::string, std::string> rules;
  OrderedJson results = OrderedJson::array();
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    const std::string code = code_text(diagnostic.code);
    rules.emplace(code, code_title(diagnostic.code));
    std::string message = diagnostic.message;
    for (const std::string& note : diagnostic.notes) message += "\nnote: " + note;
    if (!diagnostic.fix.empty()) message += "\nhelp: " + diagnostic.fix;
    OrderedJson result = {
        {"ruleId", code}, {"level", severity_text(diagnostic.severity)}, {"message", {{"text", message}}}};
    if (diagnostic.span.somewhere()) result["locations"] = OrderedJson::array({location(diagnostic.span, sources)});
    if (!diagnostic.resource.empty()) {
      const std::string full = diagnostic.resource + (diagnostic.field.empty() ? "" : " " + diagnostic.field);
      OrderedJson logical = {{"logicalLocations", OrderedJson::array({{{"fullyQualifiedName", full}}})}};
      if (result.contains("locations")) {
        result["locations"][0].update(logical);
      } else {
        result["locations"] = OrderedJson::array({logical});
      }
    }
    for (const Label& label : diagnostic.labels) {
      if (!label.span.somewhere()) continue;
      OrderedJson related = location(label.span, sources);
      related["message"] = {{"text", label.text}};
      result["relatedLocations"].push_back(std::move(related));
    }
    results.push_back(std::move(result));
  }
  OrderedJson descriptions = OrderedJson::array();
  for (const auto& [id, title] : rules) descriptions.push_back({{"id", id}, {"shortDescription", {{"text", title}}}});
  const OrderedJson driver = {{"name", "edgectl"}, {"version", EDGE_VERSION}, {"rules", descriptions}};
  return indented_json(OrderedJson{
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", OrderedJson::array(
                   {{{"tool", {{"driver", driver}}}, {"columnKind", "unicodeCodePoints"}, {"results", results}}})}});
}

}  // namespace edge::edgectl
