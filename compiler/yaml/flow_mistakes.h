// Finds mistakes in flow style: between `{` and `}`, or `[` and `]`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"

namespace edge::compiler::yaml {

/// Whether messages may quote the text. Not for possible secrets.
enum class Citing : bool { kNo, kYes };
/// Returns "`text`", or "`...`" in its place.
std::string cited(std::string_view text, Citing citing);
/// Returns a syntax error with these texts; omits a fix that would quote what must not be quoted.
Diagnostic mistake_at(Span where, std::string message, std::string fix, std::vector<Label> labels = {});

struct FlowScan {
  std::uint32_t end = 0;  ///< after the closing bracket; without one, the end of the text
  std::optional<Diagnostic> mistake{};
};

/// Scans the collection that begins at `begin`. `column` is that of its key: a line below that begins a key there, or
/// further left, does not belong to it. Spans are of `source`.
FlowScan scan_flow_mistakes(std::string_view text, std::uint32_t begin, std::uint32_t column, std::uint32_t source,
                            Citing citing);

/// Finds a backslash in the double-quoted scalar [begin, end) that begins no escape.
std::optional<Diagnostic> bad_escape(std::string_view text, std::size_t begin, std::size_t end, std::uint32_t source,
                                     Citing citing);

}  // namespace edge::compiler::yaml
