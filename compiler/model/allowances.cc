#include "compiler/model/allowances.h"

#include "compiler/model/validate.h"

namespace edge::compiler::model {
namespace {

bool separates(char c) { return c == ' ' || c == ',' || c == '\t' || c == '\n'; }

class AllowanceReader {
 public:
  AllowanceReader(const std::string& resource, Diagnostics& diagnostics)
      : resource_(resource), diagnostics_(diagnostics) {}

  void codes(yaml::Node value) {
    const std::string_view text = value.text();
    for (std::size_t begin = 0; begin < text.size();) {
      std::size_t end = begin;
      while (end < text.size() && !separates(text[end])) ++end;
      if (end > begin) code(value, begin, end);
      begin = end + 1;
    }
  }

  void unknown(yaml::Node annotation) {
    const bool near = !nearest_name(annotation.key(), {kAllowAnnotation}).empty();
    diagnostics_.add(about(annotation, DiagnosticCode::kUnknownAnnotation, annotation.key_span(),
                           "nothing reads the annotation " + in_quotes(annotation.key()),
                           near ? "did you mean `" + std::string(kAllowAnnotation) + "`?" : "remove it"));
  }

 private:
  void code(yaml::Node value, std::size_t begin, std::size_t end) {
    const std::string_view text = value.text().substr(begin, end - begin);
    if (const auto found = find_code(text)) return diagnostics_.allow(resource_, *found);
    const std::string near = nearest_code(text);
    Diagnostic found =
        about(value, DiagnosticCode::kUnknownAllowance, value.span(), "there is no code " + in_quotes(text),
              near.empty() ? "write codes as they are printed: `EDGE1004, EDGE0404`" : "did you mean `" + near + "`?");
    found.within = Within{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
    diagnostics_.add(std::move(found));
  }

  Diagnostic about(yaml::Node annotation, DiagnosticCode code, Span span, std::string message, std::string fix) const {
    return {.code = code,
            .severity = Severity::kWarning,
            .resource = resource_,
            .field = "metadata.annotations[" + clipped(annotation.key()) + "]",
            .span = span,
            .message = std::move(message),
            .fix = std::move(fix)};
  }

  const std::string& resource_;
  Diagnostics& diagnostics_;
};

}  // namespace

void read_allowances(yaml::Node metadata, bool own, const std::string& resource, Diagnostics& diagnostics) {
  const yaml::Node annotations = metadata ? given(metadata, "annotations") : yaml::Node();
  if (!annotations || !annotations.is_map()) return;
  constexpr std::string_view kGroup = EDGE_API_GROUP "/";
  AllowanceReader reader(resource, diagnostics);
  for (const yaml::Node annotation : annotations) {
    if (!annotation.key().starts_with(kGroup)) continue;
    if (annotation.key() != kAllowAnnotation) {
      if (own) reader.unknown(annotation);
    } else if (annotation.is_scalar()) {
      reader.codes(annotation);
    }
  }
}

}  // namespace edge::compiler::model
