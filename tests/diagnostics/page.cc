#include "tests/diagnostics/page.h"

#include <algorithm>

#include "base/diagnostics.h"
#include "base/source.h"
#include "compiler/compile.h"

namespace edge::diagnostics {
namespace {

constexpr std::string_view kExample = "\n## Example\n";
constexpr std::string_view kMend = "\n## How to mend it\n";
constexpr std::string_view kShownBy = "<!-- shown by: ";

std::string_view between(std::string_view text, std::string_view from, std::string_view to) {
  const std::size_t begin = text.find(from);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin + from.size());
  const std::size_t end = text.find(to);
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end);
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

}  // namespace

Page parse_page(std::string_view text) {
  Page page;
  page.title_line = text.substr(0, text.find('\n'));
  const std::size_t example = text.find(kExample);
  const std::size_t mend = text.find(kMend);
  page.meaning =
      trimmed(text.substr(page.title_line.size(), std::min(example, mend) - std::min(page.title_line.size(), mend)));
  page.yaml = between(text, "\n```yaml\n", "```\n");
  page.shown = between(text, "\n```text\n", "```\n");
  if (mend != std::string_view::npos) page.mend = trimmed(text.substr(mend + kMend.size()));
  page.shown_by = between(text, kShownBy, " -->");
  return page;
}

std::string with_shown(std::string_view text, std::string_view shown) {
  const std::string_view old = between(text, "\n```text\n", "```\n");
  if (old.data() == nullptr) return std::string(text);
  const auto begin = static_cast<std::size_t>(old.data() - text.data());
  return std::string(text.substr(0, begin)) + std::string(shown) + std::string(text.substr(begin + old.size()));
}

std::string diagnose(const std::string& yaml, std::string_view code) {
  SourceMap sources;
  sources.add("example.yaml", yaml);
  Diagnostics diagnostics;
  const compiler::LinkedConfig config = compiler::read_config(sources, diagnostics);
  compiler::Compiler({}).compile(config, diagnostics);
  diagnostics.finish(sources);
  const auto found =
      std::ranges::find_if(diagnostics.all(), [&](const Diagnostic& d) { return code_text(d.code) == code; });
  return found == diagnostics.all().end() ? std::string() : render(*found, sources, Colour::kNo);
}

}  // namespace edge::diagnostics
