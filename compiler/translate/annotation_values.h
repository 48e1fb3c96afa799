// Parses the values of an Ingress's annotations with one prefix, by name and type. Errors are reported at their
// positions.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/model/ingress.h"
#include "compiler/model/policy.h"

namespace edge::compiler::translate {

class AnnotationValues {
 public:
  /// `prefix` with its slash; `annotations` by their names without it. Both must outlive this object.
  AnnotationValues(const model::Ingress& ingress, std::string_view prefix,
                   const std::vector<model::NameValue>& annotations, Diagnostics& diagnostics)
      : ingress_(ingress), prefix_(prefix), annotations_(annotations), diagnostics_(diagnostics) {}

  /// nullopt: absent.
  model::Maybe<std::string> text(std::string_view name) const;
  bool has(std::string_view name) const { return text(name).has_value(); }
  bool any(std::initializer_list<std::string_view> names) const;
  /// Returns the position of the first that is present.
  Span first_of(std::initializer_list<std::string_view> names) const;

  /// Returns the value through `parse`, which returns an optional.
  template <typename T, typename Parse>
  model::Maybe<T> value(std::string_view name, std::string_view wanted, Parse parse) {
    const auto written = text(name);
    if (!written) return std::nullopt;
    if (auto parsed = parse(std::string_view(written->value))) return Located<T>{*std::move(parsed), written->span};
    unfit(name, *written, wanted);
    return std::nullopt;
  }
  model::Maybe<std::chrono::nanoseconds> duration(std::string_view name);
  model::Maybe<bool> boolean(std::string_view name);
  model::Maybe<std::int64_t> number(std::string_view name, std::int64_t low, std::int64_t high);
  model::Maybe<std::string> token(std::string_view name);
  model::Maybe<std::string> path(std::string_view name);
  model::Maybe<HostPattern> host(std::string_view name);
  /// Absolute, http or https.
  model::Maybe<std::string> url(std::string_view name);
  model::Maybe<std::string> one_of(std::string_view name, std::span<const std::string_view> allowed);
  /// Comma-separated words.
  model::Strings words(std::string_view name, bool (*fits)(std::string_view), std::string_view wanted);
  model::Strings tokens(std::string_view name);
  std::vector<Located<Cidr>> blocks(std::string_view name);

  /// Returns a required value; reports an error at `because` when it is absent.
  Located<std::string> needed(const model::Maybe<std::string>& value, std::string_view name, Span because);
  void fault(std::string_view name, Span span, std::string message, std::string fix = {});

  /// Returns whether there was an error since the last call.
  bool take_fault() { return std::exchange(faulty_, false); }

 private:
  void unfit(std::string_view name, const Located<std::string>& written, std::string_view wanted);

  const model::Ingress& ingress_;
  std::string_view prefix_;
  const std::vector<model::NameValue>& annotations_;
  Diagnostics& diagnostics_;
  bool faulty_ = false;
};

/// Returns whether a text is a token, RFC 9110 §5.6.2.
bool is_annotation_token(std::string_view text);

}  // namespace edge::compiler::translate
