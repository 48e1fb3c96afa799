#include "compiler/yaml/read_json.h"

#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace edge::compiler::yaml {
namespace {

/// Builds a Document from the parser's events. The events lack positions but come in the order of the text, one token
/// each: `at_` follows along.
class JsonBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonBuilder(std::string_view text, std::uint32_t source, std::uint32_t begin, std::size_t depth, std::size_t nodes)
      : document_(source), text_(text), at_(begin), most_depth_(depth), most_nodes_(nodes) {}

  Document take() { return std::move(document_); }

  bool null() override { return leaf(NodeKind::kNull, word_end()); }
  bool boolean(bool) override { return leaf(NodeKind::kScalar, word_end()); }
  bool number_integer(number_integer_t) override { return leaf(NodeKind::kScalar, word_end()); }
  bool number_unsigned(number_unsigned_t) override { return leaf(NodeKind::kScalar, word_end()); }
  bool number_float(number_float_t, const string_t&) override { return leaf(NodeKind::kScalar, word_end()); }
  bool binary(binary_t&) override { return false; }

  bool string(string_t& value) override {
    const std::uint32_t end = quoted_end();
    const std::uint32_t begin = at_;
    if (!leaf(NodeKind::kScalar, end)) return false;
    NodeData& node = document_.nodes.back();
    node.style = Style::kQuoted;
    node.text = keep(begin, end, value);
    return true;
  }

  bool key(string_t& value) override {
    const std::uint32_t end = quoted_end();
    Frame& frame = frames_.back();
    frame.key = keep(at_, end, value);
    frame.key_begin = at_;
    frame.key_end = end;
    at_ = end;
    return is_new(frame);
  }

  bool start_object(std::size_t) override { return open(NodeKind::kMap); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(NodeKind::kList); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  /// A collection that is still being read.
  struct Frame {
    std::uint32_t node = 0;
    bool map = false;
    std::string_view key{};
    std::uint32_t key_begin = 0;
    std::uint32_t key_end = 0;
    std::unordered_set<std::string_view> keys{};  ///< once there are more than kFew
  };
  static constexpr std::uint32_t kFew = 12;

  /// Goes to the beginning of the next token.
  void to_token() { at_ = static_cast<std::uint32_t>(text_.find_first_not_of(" \t\r\n,:", at_)); }

  /// Of a number, `true`, `false` or `null`.
  std::uint32_t word_end() {
    to_token();
    const std::size_t end = text_.find_first_of(" \t\r\n,]}", at_);
    return static_cast<std::uint32_t>(end == std::string_view::npos ? text_.size() : end);
  }

  /// After the closing quote.
  std::uint32_t quoted_end() {
    to_token();
    std::size_t at = text_.find_first_of("\"\\", at_ + 1);
    while (text_[at] == '\\') at = text_.find_first_of("\"\\", at + 2);
    return static_cast<std::uint32_t>(at + 1);
  }

  /// The decoded text as a view: of the source where it stands there unchanged.
  std::string_view keep(std::uint32_t begin, std::uint32_t end, const std::string& value) {
    const std::string_view there = text_.substr(begin + 1, end - begin - 2);
    return there.size() == value.size() ? there : std::string_view(document_.texts.emplace_back(value));
  }

  bool add(NodeKind kind, std::uint32_t end) {
    if (document_.nodes.size() >= most_nodes_) return false;
    NodeData node{.kind = kind, .begin = at_, .end = end};
    if (!frames_.empty()) {
      const Frame& frame = frames_.back();
      if (frame.map) {
        node.key = frame.key;
        node.key_begin = frame.key_begin;
        node.key_end = frame.key_end;
      }
      ++document_.nodes[frame.node].children;
    }
    document_.nodes.push_back(node);
    at_ = end;
    return true;
  }

  bool leaf(NodeKind kind, std::uint32_t end) {
    const std::uint32_t begin = at_;
    if (!add(kind, end)) return false;
    if (kind == NodeKind::kScalar) document_.nodes.back().text = text_.substr(begin, end - begin);
    return true;
  }

  bool open(NodeKind kind) {
    to_token();
    const auto index = static_cast<std::uint32_t>(document_.nodes.size());
    if (frames_.size() >= most_depth_ || !add(kind, at_ + 1)) return false;
    frames_.push_back({.node = index, .map = kind == NodeKind::kMap});
    return true;
  }

  bool close() {
    to_token();
    NodeData& node = document_.nodes[frames_.back().node];
    node.subtree = static_cast<std::uint32_t>(document_.nodes.size()) - frames_.back().node;
    node.end = ++at_;
    frames_.pop_back();
    return true;
  }

  /// Whether the map has not had the key that was just read.
  bool is_new(Frame& frame) {
    const NodeData& map = document_.nodes[frame.node];
    if (map.children < kFew) {
      // The map's own size is not set yet, those below it are.
      std::uint32_t child = frame.node + 1;
      for (std::uint32_t i = 0; i < map.children; ++i, child += document_.nodes[child].subtree) {
        if (document_.nodes[child].key == frame.key) return false;
      }
      return true;
    }
    if (frame.keys.empty()) {
      std::uint32_t child = frame.node + 1;
      for (std::uint32_t i = 0; i < map.children; ++i, child += document_.nodes[child].subtree) {
        frame.keys.insert(document_.nodes[child].key);
      }
    }
    return frame.keys.insert(frame.key).second;
  }

  Document document_;
  std::string_view text_;
  std::uint32_t at_;
  std::size_t most_depth_;
  std::size_t most_nodes_;
  std::vector<Frame> frames_;
};

}  // namespace

std::optional<Document> read_json(const SourceMap& sources, std::uint32_t source, Piece piece, const ReadLimits& limits,
                                  std::size_t most_nodes) {
  const std::string_view text = sources[source].text().substr(0, piece.end);
  const std::size_t begin = text.find_first_not_of(" \t\r\n", piece.begin);
  if (begin == std::string_view::npos || text[begin] != '{') return std::nullopt;
  JsonBuilder builder(text, source, static_cast<std::uint32_t>(begin), limits.depth, most_nodes);
  if (!nlohmann::json::sax_parse(text.begin() + begin, text.end(), &builder)) return std::nullopt;
  return builder.take();
}

}  // namespace edge::compiler::yaml
