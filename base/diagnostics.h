// Diagnostics: what a person who writes configuration is told. Collected by every stage, never thrown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/source.h"

namespace edge {

enum class Severity : std::uint8_t { kError, kWarning, kNote };

/// Stable codes, printed as EDGE0123. The list, with a title each, is base/diagnostic_codes.def.
enum class DiagnosticCode : std::uint16_t {
#define EDGE_DIAGNOSTIC(number, name, title) name = number,
#include "base/diagnostic_codes.def"
#undef EDGE_DIAGNOSTIC
};

/// A second place that helps to understand the first, e.g. "first defined here".
struct Label {
  Span span;
  std::string text;
};

/// Bytes [begin, end) of a decoded value. Stages after the reader know a value, not how it was written.
struct Within {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

struct Diagnostic {
  DiagnosticCode code;
  Severity severity = Severity::kError;
  /// `Kind namespace/name`, as in "ProxyRoute shop/api". Empty when no resource could be told.
  std::string resource{};
  /// Field path in the resource, e.g. `spec.rules[0].matches[1].path.value`. Empty when the whole resource is meant.
  std::string field{};
  Span span{};
  /// When set, `span` is a whole scalar and the fault is in these bytes of its value: `finish` narrows the span to
  /// them, through quotes, escapes and folded lines.
  std::optional<Within> within{};
  std::string message{};
  std::vector<Label> labels{};
  std::vector<std::string> notes{};
  /// How to mend it; empty when there is no single remedy.
  std::string fix{};
  /// Bytes that no excerpt may show, on or between the lines of the spans above. Set by `finish`.
  std::vector<Span> hidden{};
};

/// The collector that all stages of one compilation write to. Not thread-safe; one a compilation.
class Diagnostics {
 public:
  /// Keeps at most `limit` diagnostics, counts the rest: a hostile file must not fill the memory.
  explicit Diagnostics(std::size_t limit = 10'000) : limit_(limit) {}

  void add(Diagnostic diagnostic);
  /// Warnings and notes of `code` about `resource` (`Kind namespace/name`) are meant so: `finish` drops them. Errors
  /// stay, since what they leave out stays out.
  void allow(std::string resource, DiagnosticCode code);
  /// The bytes hold a secret: `finish` keeps them out of every excerpt.
  void hide(Span span);
  /// What `other` collected, allows and hides, as if it had been added here.
  void append(const Diagnostics& other);
  /// Replaces every place by what `place` makes of it: of texts that were read in pieces.
  void relocate(const std::function<Span(Span)>& position);
  /// Drops what is allowed, narrows spans to `within`, finds what excerpts must hide, sorts by place, then code, then
  /// text, and drops doubles. The order is the same for any order of `add`.
  void finish(const SourceMap& sources);

  const std::vector<Diagnostic>& all() const { return all_; }
  /// Nothing was said, and nothing is allowed.
  bool empty() const { return all_.empty() && allowed_.empty(); }
  std::size_t errors() const { return errors_; }
  std::size_t warnings() const { return warnings_; }
  std::size_t dropped() const { return dropped_; }
  bool ok() const { return errors_ == 0; }

 private:
  void drop_allowed();
  void find_hidden(Diagnostic& diagnostic, const SourceMap& sources) const;
  void uncount(const Diagnostic& diagnostic);

  std::vector<Diagnostic> all_;
  std::set<std::pair<std::string, DiagnosticCode>> allowed_;
  std::vector<Span> hidden_;
  std::size_t limit_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
  std::size_t dropped_ = 0;
};

/// `EDGE0123`.
std::string code_text(DiagnosticCode code);
/// The code's title in the list.
std::string_view code_title(DiagnosticCode code);

/// The code that `EDGE0123` names; nullopt when there is none such.
std::optional<DiagnosticCode> find_code(std::string_view text);
/// The code's text that is nearest to `text`, or empty.
std::string nearest_code(std::string_view text);

enum class Colour : bool { kNo, kYes };

/// One diagnostic in the manner of rustc: header, place, the line with carets, labels, notes, help.
std::string render(const Diagnostic& diagnostic, const SourceMap& sources, Colour colour);

/// The name in `candidates` nearest to `name` by edit distance, or empty when none is near enough to be offered.
std::string_view nearest_name(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace edge
