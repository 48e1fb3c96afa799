#include "tests/support/case_file.h"

#include <fstream>

#include "base/text/ascii.h"

namespace edge::test {

namespace {

/// A line of a block without its `|` and the one blank that may follow it.
std::string block_line(std::string_view line) {
  line.remove_prefix(1);
  if (line.starts_with(' ')) line.remove_prefix(1);
  return unescape(line) + "\r\n";
}

void add_line(Section& section, std::string_view line, int number) {
  section.text.append(line).push_back('\n');
  const std::string_view content = trim_blanks(line);
  if (content.empty() || content.starts_with('#')) return;
  if (content.starts_with('|')) {
    // A block before any command belongs to the section itself.
    if (section.commands.empty()) section.commands.push_back({number, "", "", "", true});
    section.commands.back().block += block_line(line.substr(line.find('|')));
    section.commands.back().has_block = true;
    return;
  }
  auto [name, argument] = split_word(content);
  section.commands.push_back({number, std::move(name), std::move(argument), "", false});
}

}  // namespace

std::pair<std::string, std::string> split_word(std::string_view text) {
  text = trim_blanks(text);
  const std::size_t blank = text.find_first_of(" \t");
  if (blank == std::string_view::npos) return {std::string(text), ""};
  return {std::string(text.substr(0, blank)), std::string(trim_blanks(text.substr(blank)))};
}

std::string unescape(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out.push_back(text[i]);
      continue;
    }
    switch (const char c = text[++i]) {
      case 'r':
        out.push_back('\r');
        break;
      case 'n':
        out.push_back('\n');
        break;
      case 't':
        out.push_back('\t');
        break;
      case 'x':
        if (i + 2 < text.size()) {
          out.push_back(static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])));
          i += 2;
        }
        break;
      default:
        out.push_back(c);
    }
  }
  return out;
}

Result<CaseFile> read_case(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{ErrorCode::kNotFound, "cannot read " + path};
  const std::size_t slash = path.rfind('/');
  return parse_case(path.substr(slash + 1, path.rfind('.') - slash - 1), file, 1);
}

CaseFile parse_case(std::string name, std::istream& text, int first_line) {
  CaseFile out{std::move(name), {}};
  std::string line;
  for (int number = first_line; std::getline(text, line); ++number) {
    if (line.starts_with("== ")) {
      auto [kind, argument] = split_word(line.substr(3));
      out.sections.push_back({number, std::move(kind), std::move(argument), "", {}});
    } else if (!out.sections.empty()) {
      add_line(out.sections.back(), line, number);
    }
  }
  return out;
}

}  // namespace edge::test
