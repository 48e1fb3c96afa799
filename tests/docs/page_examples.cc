#include "tests/docs/page_examples.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace edge::test {
namespace {

constexpr std::string_view kFence = "```";
constexpr std::string_view kExample = "# example: ";
/// What whole configurations of pages begin with that tests/first_hour goes through.
constexpr std::string_view kGateway = "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\n";

struct Block {
  std::string language;
  std::string text;
  int first_line = 0;
};

std::vector<Block> blocks_of(const std::filesystem::path& page) {
  std::ifstream file(page);
  std::vector<Block> blocks;
  bool inside = false;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.starts_with(kFence)) {
      inside = !inside;
      if (inside) blocks.push_back({line.substr(kFence.size()), {}, number + 1});
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

/// Services that backends name, and that the configuration does not hold itself.
std::string services(const std::string& configuration) {
  static const std::regex kService(R"(serviceRef:\s*\{?\s*name:\s*([A-Za-z0-9-]+))");
  std::set<std::string> names;
  for (std::sregex_iterator at(configuration.begin(), configuration.end(), kService); at != std::sregex_iterator();
       ++at) {
    const std::string name = (*at)[1].str();
    if (configuration.find("kind: Service\nmetadata: {name: " + name + "}") == std::string::npos) names.insert(name);
  }
  std::string out;
  for (const std::string& name : names) out += "@service " + name + "\n";
  return out;
}

/// Certificates that listeners show, and authorities that are trusted.
std::string secrets(const std::string& configuration) {
  static const std::regex kCertificate(R"(tls: \{secretRef: \{name: ([a-z0-9-]+))");
  static const std::regex kAuthority(R"(caCertificateRefs: \[\{name: ([a-z0-9-]+))");
  std::set<std::string> lines;
  for (const auto& [regex, macro] :
       {std::pair{&kCertificate, "@certificate "}, std::pair{&kAuthority, "@authority "}}) {
    for (std::sregex_iterator at(configuration.begin(), configuration.end(), *regex); at != std::sregex_iterator();
         ++at) {
      lines.insert(macro + (*at)[1].str() + "\n");
    }
  }
  std::string out;
  for (const std::string& line : lines) out += line;
  return out;
}

/// A configuration that names no Secret which the reader makes by a command.
bool is_whole(const std::string& text) {
  return text.starts_with(kGateway) && text.find("secretRef: {") == std::string::npos;
}

/// Services that policies call by an address, `http://NAME.auth.svc:PORT`: upstreams of the script.
std::string with_called_services(const std::string& configuration) {
  static const std::regex kAddress(R"(http://([a-z0-9]+)\.auth\.svc:[0-9]+)");
  return std::regex_replace(configuration, kAddress, "$${url:$1}");
}

}  // namespace

std::vector<PageExample> page_examples(const std::string& directory) {
  std::vector<std::filesystem::path> pages;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  std::sort(pages.begin(), pages.end());
  std::vector<PageExample> examples;
  for (const std::filesystem::path& page : pages) {
    bool open = false;
    int number = 0;
    for (const Block& block : blocks_of(page)) {
      if (block.language == "yaml" && block.text.starts_with(kExample)) {
        const std::string name = block.text.substr(kExample.size(), block.text.find('\n') - kExample.size());
        examples.push_back(
            {page.stem().string() + "/" + name, block.text + services(block.text) + secrets(block.text), {}});
        open = true;
      } else if (block.language == "yaml" && is_whole(block.text)) {
        examples.push_back(
            {page.stem().string() + "/" + std::to_string(++number), block.text + services(block.text), {}});
        open = false;
      } else if (block.language == "case" && open) {
        std::istringstream text(block.text);
        examples.back().script = parse_case(examples.back().name, text, block.first_line);
        examples.back().script.sections.insert(
            examples.back().script.sections.begin(),
            {0, "config", "", with_called_services(examples.back().configuration), {}});
        open = false;
      }
    }
  }
  return examples;
}

}  // namespace edge::test
