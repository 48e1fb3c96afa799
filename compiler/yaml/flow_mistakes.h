// Mistakes in flow style: what stands between `{` and `}`, or `[` and `]`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"

namespace edge::compiler::yaml {

/// Whether messages may hold words of the text. Of what may be a secret they must not.
enum class Citing : bool { kNo, kYes };
/// "`text`", or "`...`" in its place.
std::string cited(std::string_view text, Citing citing);
/// A syntax error with these texts; a fix that would cite what is not to be cited is left out.
Diagnostic mistake_at(Span where, std::string message, std::string fix, std::vector<Label> labels = {});

struct FlowScan {
  std::uint32_t end = 0;  ///< behind the bracket that closes it; without one, the end of the text
  std::optional<Diagnostic> mistake{};
};

/// Looks through the collection that begins at `begin`. `column` is that of the key whose value it is: a line below
/// that begins a key there, or further left, is no part of it. Spans are of `source`.
FlowScan scan_flow_mistakes(std::string_view text, std::uint32_t begin, std::uint32_t column, std::uint32_t source,
                            Citing citing);

/// A backslash in the double-quoted scalar [begin, end) that begins no escape.
std::optional<Diagnostic> bad_escape(std::string_view text, std::size_t begin, std::size_t end, std::uint32_t source,
                                     Citing citing);

}  // namespace edge::compiler::yaml
