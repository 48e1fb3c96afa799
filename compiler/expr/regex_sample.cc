#include "compiler/expr/regex_sample.h"

#include <algorithm>
#include <array>
#include <random>
#include <string_view>

namespace edge::compiler::expr {
namespace {

using Kind = RegexNode::Kind;

/// No sample grows past this: a pattern's repeats multiply.
constexpr std::size_t kMaxSample = 2'048;
constexpr std::string_view kPreferred = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_.~/";

class Sampler {
 public:
  /// Without `random` the shortest choice is made everywhere.
  explicit Sampler(std::mt19937* random) : random_(random) {}

  void append(const RegexNode& node, std::string& text) {
    if (text.size() > kMaxSample) return;
    switch (node.kind) {
      case Kind::kBytes:
        text += node.bytes;
        break;
      case Kind::kSet:
        text += byte_of(node.set);
        break;
      case Kind::kConcat:
        for (const RegexNode& child : node.children) append(child, text);
        break;
      case Kind::kAlternate:
        append(node.children[pick(node.children.size())], text);
        break;
      case Kind::kRepeat: {
        const std::uint32_t room = std::min(node.max - node.min, 3U);
        for (std::size_t i = node.min + pick(room + 1); i > 0; --i) append(node.children.front(), text);
        break;
      }
      default:
        break;
    }
  }

 private:
  std::size_t pick(std::size_t choices) { return random_ == nullptr ? 0 : (*random_)() % choices; }

  char byte_of(const std::bitset<256>& set) {
    std::string good;
    for (const char c : kPreferred) {
      if (set[static_cast<unsigned char>(c)]) good += c;
    }
    if (!good.empty()) return good[pick(good.size())];
    // Printable before anything else.
    for (unsigned byte = 0x21; byte < 0x7f; ++byte) {
      if (set[byte]) return static_cast<char>(byte);
    }
    for (unsigned byte = 0; byte < 256; ++byte) {
      if (set[byte]) return static_cast<char>(byte);
    }
    return 'x';
  }

  std::mt19937* random_;
};

}  // namespace

std::vector<std::string> sample_matches(const RegexNode& node, std::size_t count) {
  std::vector<std::string> samples;
  std::mt19937 random(1);
  for (std::size_t attempt = 0; attempt < 4 * count && samples.size() < count; ++attempt) {
    std::string text;
    Sampler(attempt == 0 ? nullptr : &random).append(node, text);
    if (std::find(samples.begin(), samples.end(), text) == samples.end()) samples.push_back(std::move(text));
  }
  return samples;
}

}  // namespace edge::compiler::expr
