#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/pages.h"
#include "edgectl/resources/output.h"

namespace edge::edgectl {
namespace {

/// `EDGE0123`, `edge0123`, `E0123`, `0123` and `123` are all meant.
std::optional<std::uint16_t> number_of(std::string_view text) {
  for (const std::string_view prefix : {"EDGE", "edge", "Edge", "E", "e"}) {
    if (!text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    break;
  }
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string code_of(const Page& page) { return code_text(static_cast<DiagnosticCode>(page.code)); }

/// The three codes that a slip of the finger or of the memory may have meant: by letters, then by number.
std::string nearest_codes(std::uint16_t wanted) {
  const std::string wanted_text = code_text(static_cast<DiagnosticCode>(wanted));
  const auto letters = [&](const Page& page) {
    const std::string code = code_of(page);
    std::size_t different = code.size() == wanted_text.size() ? 0 : 9;
    for (std::size_t i = 0; i < std::min(code.size(), wanted_text.size()); ++i) different += code[i] != wanted_text[i];
    return different;
  };
  std::vector<const Page*> near;
  for (const Page& page : pages()) near.push_back(&page);
  std::ranges::stable_sort(
      near, {}, [&](const Page* page) { return std::pair(letters(*page), std::abs(int{page->code} - int{wanted})); });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, near.size()); ++i) {
    text += (i == 0 ? "" : ", ") + ("`" + code_of(*near[i]) + "`");
  }
  return text;
}

nlohmann::ordered_json head_of(const Page& page) {
  return {{"code", code_of(page)}, {"title", code_title(static_cast<DiagnosticCode>(page.code))}};
}

std::string list_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Page& page : pages()) all.push_back(head_of(page));
  return indented_json(all);
}

std::string page_json(const Page& page) {
  nlohmann::ordered_json json = head_of(page);
  json["page"] = page.text;
  return indented_json(json);
}

std::string list_text() {
  std::string text;
  for (const Page& page : pages()) {
    text += code_of(page) + "  " + std::string(code_title(static_cast<DiagnosticCode>(page.code))) + "\n";
  }
  return text;
}

int refuse(std::string_view given, const std::string& hint) {
  cli::print_error("edgectl explain-code", "there is no code `" + std::string(given.substr(0, 40)) + "`" + hint);
  return cli::kExitUsage;
}

int explain_code(const cli::Arguments& arguments) {
  const std::string given = arguments.one("CODE");
  const bool data = wants_data(arguments);
  if (given.empty() || arguments.has("list")) return print(data ? data_text(arguments, list_json()) : list_text());
  const auto number = number_of(given);
  if (!number) return refuse(given, "; a code looks like `EDGE0101`, and `edgectl explain-code` lists them");
  const auto page = std::ranges::find(pages(), *number, &Page::code);
  if (page == pages().end()) return refuse(given, "; near it are " + nearest_codes(*number));
  return print(data ? data_text(arguments, page_json(*page)) : std::string(page->text));
}

}  // namespace

cli::Command explain_code_command() {
  return {.name = "explain-code",
          .group = kProgramGroup,
          .summary = "Explain a diagnostic's code, with an example and the remedy",
          .details = "The same pages are in docs/diagnostics. Without a code: lists all codes with their titles.",
          .flags = {{.name = "list", .help = "List every code with its title"}, form_flag({"text", "json", "yaml"})},
          .positional = cli::Positional{.name = "CODE", .help = "`EDGE0104`, or `104`", .required = false},
          .examples = {"edgectl explain-code EDGE0104"},
          .run = explain_code};
}

}  // namespace edge::edgectl
