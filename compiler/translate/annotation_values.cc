#include "compiler/translate/annotation_values.h"

#include <algorithm>
#include <charconv>

#include "base/text/ascii.h"
#include "base/units.h"

namespace edge::compiler::translate {

using model::Maybe;

namespace {

/// Of what is quoted in a message.
constexpr std::size_t kShown = 60;

bool is_url(std::string_view text) {
  const bool absolute =
      (text.starts_with("http://") && text.size() > 7) || (text.starts_with("https://") && text.size() > 8);
  return absolute && std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f && c != '$'; });
}

}  // namespace

bool is_annotation_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

Maybe<std::string> AnnotationValues::text(std::string_view name) const {
  const auto found = std::ranges::find(annotations_, name,
                                       [](const model::NameValue& one) { return std::string_view(one.name.value); });
  if (found == annotations_.end()) return std::nullopt;
  return found->value;
}

bool AnnotationValues::any(std::initializer_list<std::string_view> names) const {
  return std::ranges::any_of(names, [&](std::string_view name) { return has(name); });
}

Span AnnotationValues::first_of(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    if (const auto written = text(name)) return written->span;
  }
  return {};
}

void AnnotationValues::fault(std::string_view name, Span span, std::string message, std::string fix) {
  faulty_ = true;
  diagnostics_.add({.code = DiagnosticCode::kInvalidAnnotation,
                    .resource = ingress_.metadata.text(),
                    .field = "metadata.annotations." + std::string(prefix_) + std::string(name),
                    .span = span,
                    .message = std::move(message),
                    .fix = std::move(fix)});
}

void AnnotationValues::unfit(std::string_view name, const Located<std::string>& written, std::string_view wanted) {
  fault(name, written.span,
        "`" + written.value.substr(0, kShown) + "` is not " + std::string(wanted) + ", which `" + std::string(name) +
            "` takes");
}

Maybe<std::chrono::nanoseconds> AnnotationValues::duration(std::string_view name) {
  return value<std::chrono::nanoseconds>(name, "a duration such as `30s`", parse_duration);
}

Maybe<bool> AnnotationValues::boolean(std::string_view name) {
  return value<bool>(name, "`true` or `false`", [](std::string_view text) -> std::optional<bool> {
    if (text == "true" || text == "false") return text == "true";
    return std::nullopt;
  });
}

Maybe<std::int64_t> AnnotationValues::number(std::string_view name, std::int64_t low, std::int64_t high) {
  const std::string range = "a number from " + std::to_string(low) + " to " + std::to_string(high);
  return value<std::int64_t>(name, range, [&](std::string_view text) -> std::optional<std::int64_t> {
    std::int64_t parsed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
    if (error != std::errc() || end != text.data() + text.size() || parsed < low || parsed > high) return {};
    return parsed;
  });
}

Maybe<std::string> AnnotationValues::token(std::string_view name) {
  return value<std::string>(name, "the name of a header", [](std::string_view text) {
    return is_annotation_token(text) ? std::optional(std::string(text)) : std::nullopt;
  });
}

Maybe<std::string> AnnotationValues::path(std::string_view name) {
  return value<std::string>(name, "a path", [](std::string_view text) {
    return text.starts_with('/') ? std::optional(std::string(text)) : std::nullopt;
  });
}

Maybe<HostPattern> AnnotationValues::host(std::string_view name) {
  return value<HostPattern>(name, "a host name", [](std::string_view text) {
    auto host = HostPattern::parse(text);
    return host && !host->wildcard() ? host : std::nullopt;
  });
}

Maybe<std::string> AnnotationValues::url(std::string_view name) {
  return value<std::string>(name, "an absolute http or https URL", [](std::string_view text) {
    return is_url(text) ? std::optional(std::string(text)) : std::nullopt;
  });
}

Maybe<std::string> AnnotationValues::one_of(std::string_view name, std::span<const std::string_view> allowed) {
  std::string all;
  for (const std::string_view candidate : allowed) all += (all.empty() ? "one of " : ", ") + std::string(candidate);
  return value<std::string>(name, all, [&](std::string_view text) {
    const bool found = std::find(allowed.begin(), allowed.end(), text) != allowed.end();
    return found ? std::optional(std::string(text)) : std::nullopt;
  });
}

model::Strings AnnotationValues::words(std::string_view name, bool (*fits)(std::string_view), std::string_view wanted) {
  model::Strings out;
  const auto written = text(name);
  if (!written) return out;
  std::string_view rest = written->value;
  while (true) {
    const std::string_view word = trim_blanks(rest.substr(0, rest.find(',')));
    if (!fits(word)) {
      fault(name, written->span,
            "`" + std::string(word.substr(0, kShown)) + "` is not " + std::string(wanted) + ", of which `" +
                std::string(name) + "` takes a list");
      return out;
    }
    out.push_back({std::string(word), written->span});
    if (rest.find(',') == std::string_view::npos) return out;
    rest.remove_prefix(rest.find(',') + 1);
  }
}

model::Strings AnnotationValues::tokens(std::string_view name) { return words(name, is_annotation_token, "a token"); }

std::vector<Located<Cidr>> AnnotationValues::blocks(std::string_view name) {
  const auto is_block = [](std::string_view text) { return parse_cidr(text).has_value(); };
  std::vector<Located<Cidr>> out;
  for (const Located<std::string>& word : words(name, is_block, "an address or a block such as `10.0.0.0/8`")) {
    out.push_back({*parse_cidr(word.value), word.span});
  }
  return out;
}

Located<std::string> AnnotationValues::needed(const Maybe<std::string>& value, std::string_view name, Span because) {
  if (value) return *value;
  if (!text(name)) fault(name, because, "the annotation `" + std::string(name) + "` is needed with this one");
  return {};
}

}  // namespace edge::compiler::translate
