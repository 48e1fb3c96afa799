#include "base/diagnostics.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "base/text/ascii.h"
#include "base/text/scalar_offset.h"

namespace edge {
namespace {

struct CodeRow {
  DiagnosticCode code;
  std::string_view title;
};

constexpr CodeRow kCodes[] = {
#define EDGE_DIAGNOSTIC(number, name, title) {DiagnosticCode::name, title},
#include "base/diagnostic_codes.def"
#undef EDGE_DIAGNOSTIC
};

/// Optimal string alignment distance, letters compared without case: insert, delete, replace, swap of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  constexpr std::size_t kWidth = 65;
  std::array<std::array<std::size_t, kWidth>, 3> rows{};
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i + 2) % 3];
    const auto& two_above = rows[(i + 1) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = ascii_lower(a[i - 1]) == ascii_lower(b[j - 1]);
      row[j] = std::min({row[j - 1] + 1, above[j] + 1, above[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && ascii_lower(a[i - 1]) == ascii_lower(b[j - 2]) &&
          ascii_lower(a[i - 2]) == ascii_lower(b[j - 1])) {
        row[j] = std::min(row[j], two_above[j - 2] + 1);
      }
    }
  }
  return rows[a.size() % 3][b.size()];
}

void narrow(Diagnostic& diagnostic, const SourceMap& sources) {
  if (!diagnostic.within || diagnostic.span.source >= sources.size()) return;
  const std::string_view text = sources[diagnostic.span.source].text();
  const Span whole = diagnostic.span;
  const auto begin = scalar_offset(text, whole.begin, whole.end, diagnostic.within->begin);
  const auto end = diagnostic.within->end > diagnostic.within->begin
                       ? scalar_offset(text, whole.begin, whole.end, diagnostic.within->end - 1) + 1
                       : begin + 1;
  diagnostic.span = {whole.source, begin, std::max(end, begin + 1)};
  diagnostic.within.reset();
}

}  // namespace

void Diagnostics::add(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::kError) ++errors_;
  if (diagnostic.severity == Severity::kWarning) ++warnings_;
  if (all_.size() >= limit_) {
    ++dropped_;
    return;
  }
  all_.push_back(std::move(diagnostic));
}

void Diagnostics::allow(std::string resource, DiagnosticCode code) { allowed_.emplace(std::move(resource), code); }

void Diagnostics::append(const Diagnostics& other) {
  for (const Diagnostic& diagnostic : other.all_) add(diagnostic);
  dropped_ += other.dropped_;
  allowed_.insert(other.allowed_.begin(), other.allowed_.end());
  hidden_.insert(hidden_.end(), other.hidden_.begin(), other.hidden_.end());
}

void Diagnostics::hide(Span span) {
  if (span.somewhere() && span.end > span.begin) hidden_.push_back(span);
}

/// An excerpt may show every line from the first to the last of a diagnostic's places in one source.
void Diagnostics::find_hidden(Diagnostic& diagnostic, const SourceMap& sources) const {
  if (hidden_.empty()) return;
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> shown;
  const auto take = [&](const Span& span) {
    if (span.source >= sources.size()) return;
    const std::string_view text = sources[span.source].text();
    const std::size_t begin = std::min<std::size_t>(span.begin, text.size());
    const std::size_t before = begin == 0 ? std::string_view::npos : text.rfind('\n', begin - 1);
    const auto first = static_cast<std::uint32_t>(before == std::string_view::npos ? 0 : before + 1);
    const auto last = static_cast<std::uint32_t>(std::min(text.find('\n', span.end), text.size()));
    const auto [range, added] = shown.try_emplace(span.source, first, last);
    range->second = {std::min(range->second.first, first), std::max(range->second.second, last)};
  };
  take(diagnostic.span);
  for (const Label& label : diagnostic.labels) take(label.span);
  for (const Span& span : hidden_) {
    const auto range = shown.find(span.source);
    if (range == shown.end() || span.end <= range->second.first || span.begin >= range->second.second) continue;
    diagnostic.hidden.push_back(span);
  }
}

void Diagnostics::uncount(const Diagnostic& diagnostic) {
  if (diagnostic.severity == Severity::kError) --errors_;
  if (diagnostic.severity == Severity::kWarning) --warnings_;
}

void Diagnostics::drop_allowed() {
  if (allowed_.empty()) return;
  std::erase_if(all_, [&](const Diagnostic& diagnostic) {
    if (diagnostic.severity == Severity::kError) return false;
    if (!allowed_.contains({diagnostic.resource, diagnostic.code})) return false;
    uncount(diagnostic);
    return true;
  });
}

void Diagnostics::relocate(const std::function<Span(Span)>& position) {
  for (Diagnostic& diagnostic : all_) {
    diagnostic.span = position(diagnostic.span);
    for (Label& label : diagnostic.labels) label.span = position(label.span);
  }
}

void Diagnostics::finish(const SourceMap& sources) {
  drop_allowed();
  for (Diagnostic& diagnostic : all_) {
    narrow(diagnostic, sources);
    find_hidden(diagnostic, sources);
  }
  // Files are ordered by name, not by id: ids depend on the order in which files were given.
  const auto file = [&](const Diagnostic& d) {
    return d.span.source < sources.size() ? std::string_view(sources[d.span.source].name()) : std::string_view();
  };
  const auto key = [&](const Diagnostic& d) {
    return std::make_tuple(!d.span.somewhere(), file(d), d.span.begin, d.code, d.severity, d.span.end,
                           std::string_view(d.resource), std::string_view(d.field), std::string_view(d.message));
  };
  const auto first_label = [](const Diagnostic& d) {
    return d.labels.empty() ? std::pair<std::uint32_t, std::string_view>()
                            : std::pair(d.labels[0].span.begin, std::string_view(d.labels[0].text));
  };
  std::sort(all_.begin(), all_.end(), [&](const Diagnostic& a, const Diagnostic& b) {
    const auto left = key(a);
    const auto right = key(b);
    if (left != right) return left < right;
    return std::tuple(first_label(a), std::tie(a.notes, a.fix)) < std::tuple(first_label(b), std::tie(b.notes, b.fix));
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (kept > 0 && key(all_[kept - 1]) == key(all_[i])) {
      uncount(all_[i]);
      continue;
    }
    if (kept != i) all_[kept] = std::move(all_[i]);
    ++kept;
  }
  all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(kept), all_.end());
}

std::string code_text(DiagnosticCode code) {
  std::string digits = std::to_string(static_cast<unsigned>(code));
  return "EDGE" + std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits;
}

std::string_view code_title(DiagnosticCode code) {
  for (const CodeRow& row : kCodes) {
    if (row.code == code) return row.title;
  }
  return {};
}

std::optional<DiagnosticCode> find_code(std::string_view text) {
  for (const CodeRow& row : kCodes) {
    if (code_text(row.code) == text) return row.code;
  }
  return std::nullopt;
}

std::string nearest_code(std::string_view text) {
  std::vector<std::string> texts;
  for (const CodeRow& row : kCodes) texts.push_back(code_text(row.code));
  return std::string(nearest_name(text, {texts.begin(), texts.end()}));
}

std::string_view nearest_name(std::string_view name, const std::vector<std::string_view>& candidates) {
  constexpr std::size_t kLongest = 64;
  if (name.empty() || name.size() > kLongest) return {};
  // A third of the letters may differ, so that short names do not attract everything.
  const std::size_t allowed = std::max<std::size_t>(1, name.size() / 3);
  std::string_view best;
  std::size_t best_distance = allowed + 1;
  for (const std::string_view candidate : candidates) {
    if (candidate.empty() || candidate.size() > kLongest) continue;
    // A name cut short (`match` for `matches`) is as near as one letter.
    const bool cut_short = name.size() >= 3 && candidate.size() > name.size() && candidate.starts_with(name);
    const std::size_t distance = cut_short ? 1 : edit_distance(name, candidate);
    if (distance < best_distance && (distance < candidate.size() || cut_short)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace edge
