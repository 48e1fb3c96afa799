// Diagnostics: messages for authors of configuration. Collected by every stage, never thrown.
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

/// A second position that explains the first, such as "first defined here".
struct Label {
  Span span;
  std::string text;
};

/// Bytes [begin, end) of a decoded value. Stages after the reader know values, not their spelling.
struct Within {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

struct Diagnostic {
  DiagnosticCode code;
  Severity severity = Severity::kError;
  /// `Kind namespace/name`, as in "ProxyRoute shop/api". Empty when the resource is unknown.
  std::string resource{};
  /// Field path in the resource, such as `spec.rules[0].matches[1].path.value`. Empty for the whole resource.
  std::string field{};
  Span span{};
  /// When set, `span` is a whole scalar and the error is in these bytes of its value: `finish` narrows the span to
  /// them, through quotes, escapes and folded lines.
  std::optional<Within> within{};
  std::string message{};
  std::vector<Label> labels{};
  std::vector<std::string> notes{};
  /// The suggested fix; empty when there is no single one.
  std::string fix{};
  /// Bytes that excerpts must not show, on or between the lines of the spans above. Set by `finish`.
  std::vector<Span> hidden{};
};

/// The collector that all stages of one compilation write to. Not thread-safe; one per compilation.
class Diagnostics {
 public:
  /// Keeps at most `limit` diagnostics, and counts the rest: untrusted files must not exhaust memory.
  explicit Diagnostics(std::size_t limit = 10'000) : limit_(limit) {}

  void add(Diagnostic diagnostic);
  /// Allows warnings and notes of `code` about `resource` (`Kind namespace/name`): `finish` drops them. Errors stay,
  /// since what they exclude stays excluded.
  void allow(std::string resource, DiagnosticCode code);
  /// Marks bytes as secret: `finish` removes them from every excerpt.
  void hide(Span span);
  /// Appends what `other` collected, allows and hides.
  void append(const Diagnostics& other);
  /// Replaces every position by `position(span)`: for texts that were read in pieces.
  void relocate(const std::function<Span(Span)>& position);
  /// Drops allowed diagnostics, narrows spans to `within`, determines what excerpts must hide, sorts by position, then
  /// code, then text, and drops duplicates. The order is the same for any order of `add`.
  void finish(const SourceMap& sources);

  const std::vector<Diagnostic>& all() const { return all_; }
  /// Whether there are no diagnostics, and nothing is allowed.
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

/// Returns `EDGE0123`.
std::string code_text(DiagnosticCode code);
/// Returns the code's title.
std::string_view code_title(DiagnosticCode code);

/// Returns the code that `EDGE0123` names; nullopt when there is none.
std::optional<DiagnosticCode> find_code(std::string_view text);
/// Returns the text of the code most similar to `text`, or empty.
std::string nearest_code(std::string_view text);

enum class Colour : bool { kNo, kYes };

/// Formats one diagnostic like rustc: header, position, the line with carets, labels, notes, help.
std::string render(const Diagnostic& diagnostic, const SourceMap& sources, Colour colour);

/// Returns the name in `candidates` most similar to `name` by edit distance, or empty when none is similar enough.
std::string_view nearest_name(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace edge
