#include "compiler/yaml/read.h"

#include <algorithm>
#include <functional>
#include <istream>
#include <optional>
#include <streambuf>
#include <string>
#include <unordered_map>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "base/text/scalar_offset.h"
#include "compiler/yaml/brackets.h"
#include "compiler/yaml/mistakes.h"
#include "compiler/yaml/read_json.h"
#include "compiler/yaml/split.h"
#include "compiler/yaml/surrogates.h"

namespace edge::compiler::yaml {
namespace {

/// Aborts the reading of one document: thrown through the parser, caught in this file.
struct Refused {
  Diagnostic diagnostic;
};

/// Reads from memory that the caller owns.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // the get area is never written to
    setg(begin, begin, begin + text.size());
  }
};

/// Consumption of the limits by one text.
struct Budget {
  std::size_t nodes = 0;
  std::size_t alias_nodes = 0;
};

std::string too_deep(const ReadLimits& limits) {
  return "nested deeper than " + std::to_string(limits.depth) + " levels";
}

/// Builds one Document from the parser's events.
class Builder : public YAML::EventHandler {
 public:
  Builder(const SourceMap& sources, std::uint32_t source, Piece piece, const ReadLimits& limits, Budget& budget)
      : document_(source),
        text_(sources[source].text().substr(0, piece.end)),
        piece_(piece),
        limits_(limits),
        budget_(budget) {}

  Document take() { return std::move(document_); }
  bool empty() const { return document_.nodes.empty() || document_.nodes[0].kind == NodeKind::kNull; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    std::uint32_t begin = skip_properties(offset(mark));
    // The mark of a value that is not written at all is that of the next token.
    std::uint32_t end = begin;
    for (const std::string_view word : {"null", "Null", "NULL", "~"}) {
      if (text_.substr(begin).starts_with(word)) end = begin + static_cast<std::uint32_t>(word.size());
    }
    if (wants_key()) refuse(begin, end, DiagnosticCode::kSyntax, "a key is missing, or is `null`");
    if (end == begin && !frames_.empty() && frames_.back().key_end > frames_.back().key_begin) {
      begin = frames_.back().key_begin;
      end = frames_.back().key_end;
    }
    finish_leaf(add(NodeKind::kNull, begin, end), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const std::uint32_t begin = offset(mark);
    std::uint32_t end = begin;
    while (end < text_.size() && !separates(text_[end])) ++end;
    if (wants_key()) refuse(begin, end, DiagnosticCode::kNotSupported, "an alias cannot be a key here");
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      refuse(begin, end, DiagnosticCode::kSyntax, "the alias refers to the node that it stands in");
    }
    const std::uint32_t original = found->second;
    const std::uint32_t count = document_.nodes[original].subtree;
    budget_.alias_nodes += count;
    if (budget_.alias_nodes > limits_.alias_nodes) {
      refuse(begin, end, DiagnosticCode::kTooManyAliases,
             "aliases make this text larger than " + std::to_string(limits_.alias_nodes) + " nodes");
    }
    spend(count, begin, end);
    const auto index = document_.nodes.size();
    for (std::uint32_t i = 0; i < count; ++i) {
      const NodeData copy = document_.nodes[original + i];
      document_.nodes.push_back(copy);
    }
    take_key(document_.nodes[index]);
    finish_value();
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const std::uint32_t begin = skip_properties(offset(mark));
    const Style style = style_at(begin);
    const bool string_tag = tag == "tag:yaml.org,2002:str";
    const std::uint32_t end = scalar_end(text_, begin, value);
    if (tag != "?" && tag != "!" && !string_tag) refuse_tag(offset(mark), begin, tag);
    // The parser takes the end of the text for the missing quote.
    if (style == Style::kQuoted && (end < begin + 2 || text_[end - 1] != text_[begin])) {
      refuse(begin, begin + 1, DiagnosticCode::kSyntax, "the quoted string does not end",
             std::string("close it by `") + text_[begin] + "`");
    }
    const std::string_view text = keep(begin, style, value);
    if (wants_key()) {
      if (text == "<<" && style == Style::kPlain) {
        refuse(begin, end, DiagnosticCode::kNotSupported, "merge keys (`<<`) are not supported",
               "write the fields out, or use an alias as the value of a field");
      }
      Frame& frame = frames_.back();
      frame.key = text;
      frame.key_begin = begin;
      frame.key_end = end;
      frame.has_key = true;
      return;
    }
    const std::uint32_t index = add(NodeKind::kScalar, begin, end);
    document_.nodes[index].style = string_tag && style == Style::kPlain ? Style::kQuoted : style;
    document_.nodes[index].text = text;
    finish_leaf(index, anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(NodeKind::kList, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(NodeKind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override {
    check_duplicates();
    close();
  }

 private:
  /// A collection that is still being read.
  struct Frame {
    std::uint32_t node = 0;
    YAML::anchor_t anchor = 0;
    bool map = false;
    bool has_key = false;
    std::string_view key{};
    std::uint32_t key_begin = 0;
    std::uint32_t key_end = 0;
  };

  [[noreturn]] void refuse(std::uint32_t begin, std::uint32_t end, DiagnosticCode code, std::string message,
                           std::string fix = {}) {
    throw Refused{{.code = code,
                   .span = {document_.source, begin, std::max(end, begin + 1)},
                   .message = std::move(message),
                   .fix = std::move(fix)}};
  }

  [[noreturn]] void refuse_tag(std::uint32_t begin, std::uint32_t end, const std::string& tag) {
    refuse(begin, end, DiagnosticCode::kNotSupported, "the tag `" + tag.substr(0, 80) + "` is not supported",
           "leave the tag out; quotes make a value a string");
  }

  /// The parser takes a bracket that is never closed for a key whose `:` is still to come.
  [[noreturn]] void refuse_collection_as_key(std::uint32_t begin) {
    const char bracket = begin < text_.size() ? text_[begin] : '\0';
    if ((bracket == '{' || bracket == '[') && !find_closing(text_, begin)) {
      const std::string closing(1, bracket == '{' ? '}' : ']');
      refuse(begin, begin + 1, DiagnosticCode::kSyntax, std::string("the `") + bracket + "` is not closed",
             "add `" + closing + "`");
    }
    if (bracket == '{' && begin > 0 && text_[begin - 1] == '{') {
      refuse(begin - 1, begin + 1, DiagnosticCode::kSyntax, "`{{` is of a template that was not filled in",
             "fill the template in first, as `helm template` does, or put the value in quotes");
    }
    refuse(begin, begin + 1, DiagnosticCode::kNotSupported, "a key must be a string");
  }

  std::uint32_t offset(const YAML::Mark& mark) const {
    const auto at = static_cast<std::uint64_t>(piece_.begin) + static_cast<std::uint32_t>(std::max(mark.pos, 0));
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(at, text_.size()));
  }

  bool wants_key() const { return !frames_.empty() && frames_.back().map && !frames_.back().has_key; }

  static bool separates(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ']' || c == '}';
  }

  /// The parser's mark of a node with an anchor or a tag is the mark of these; the node's text comes after them.
  std::uint32_t skip_properties(std::uint32_t at) const {
    while (at < text_.size() && (text_[at] == '&' || text_[at] == '!')) {
      while (at < text_.size() && !separates(text_[at])) ++at;
      at = skip_space(at);
    }
    return at;
  }

  std::uint32_t skip_space(std::uint32_t at) const {
    while (at < text_.size()) {
      if (text_[at] == '#') {
        while (at < text_.size() && text_[at] != '\n') ++at;
      } else if (text_[at] == ' ' || text_[at] == '\t' || text_[at] == '\n' || text_[at] == '\r') {
        ++at;
      } else {
        break;
      }
    }
    return at;
  }

  Style style_at(std::uint32_t at) const {
    if (at >= text_.size()) return Style::kPlain;
    if (text_[at] == '"' || text_[at] == '\'') return Style::kQuoted;
    if (text_[at] == '|' || text_[at] == '>') return Style::kBlock;
    return Style::kPlain;
  }

  /// The decoded text as a view: of the source where it stands there unchanged.
  std::string_view keep(std::uint32_t begin, Style style, const std::string& value) {
    if (value.empty()) return {};
    const std::string_view there =
        text_.substr(std::min<std::size_t>(begin + (style == Style::kPlain ? 0 : 1), text_.size()));
    if (style != Style::kBlock && there.starts_with(value)) return there.substr(0, value.size());
    return document_.texts.emplace_back(value);
  }

  void spend(std::size_t count, std::uint32_t begin, std::uint32_t end) {
    budget_.nodes += count;
    if (budget_.nodes > limits_.nodes) {
      refuse(begin, end, DiagnosticCode::kInputTooLarge,
             "the text has more than " + std::to_string(limits_.nodes) + " values");
    }
  }

  std::uint32_t add(NodeKind kind, std::uint32_t begin, std::uint32_t end) {
    spend(1, begin, end);
    document_.nodes.push_back({.kind = kind, .begin = begin, .end = end});
    take_key(document_.nodes.back());
    return static_cast<std::uint32_t>(document_.nodes.size() - 1);
  }

  void take_key(NodeData& node) const {
    node.key = {};
    node.key_begin = node.key_end = 0;
    if (frames_.empty() || !frames_.back().map) return;
    node.key = frames_.back().key;
    node.key_begin = frames_.back().key_begin;
    node.key_end = frames_.back().key_end;
  }

  void finish_leaf(std::uint32_t index, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = index;
    finish_value();
  }

  void finish_value() {
    if (frames_.empty()) return;
    Frame& frame = frames_.back();
    frame.has_key = false;
    ++document_.nodes[frame.node].children;
  }

  void open(NodeKind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    const std::uint32_t begin = skip_properties(offset(mark));
    if (tag != "?" && tag != "!") {
      const bool own = tag == (kind == NodeKind::kMap ? "tag:yaml.org,2002:map" : "tag:yaml.org,2002:seq");
      if (!own) refuse_tag(offset(mark), begin, tag);
    }
    if (wants_key()) refuse_collection_as_key(begin);
    if (frames_.size() >= limits_.depth) {
      refuse(begin, begin + 1, DiagnosticCode::kTooDeep, too_deep(limits_));
    }
    const std::uint32_t index = add(kind, begin, begin);
    frames_.push_back({.node = index, .anchor = anchor, .map = kind == NodeKind::kMap});
  }

  void close() {
    const Frame frame = frames_.back();
    frames_.pop_back();
    NodeData& node = document_.nodes[frame.node];
    node.subtree = static_cast<std::uint32_t>(document_.nodes.size()) - frame.node;
    node.end = collection_end(frame.node);
    if (frame.anchor != 0) anchors_[frame.anchor] = frame.node;
    finish_value();
  }

  /// After the last child; in flow style after the bracket, which the events do not tell.
  std::uint32_t collection_end(std::uint32_t index) const {
    const NodeData& node = document_.nodes[index];
    std::uint32_t end = node.begin;
    if (node.begin < text_.size() && (text_[node.begin] == '{' || text_[node.begin] == '[')) end = node.begin + 1;
    const Node view(&document_, index);
    for (const Node child : view) end = std::max({end, child.data().end, child.data().key_end});
    if (end == node.begin || node.begin >= text_.size()) return end;
    const char bracket = text_[node.begin];
    if (bracket != '{' && bracket != '[') return end;
    std::uint32_t at = skip_space(end);
    if (at < text_.size() && text_[at] == ',') at = skip_space(at + 1);
    return at < text_.size() && (text_[at] == '}' || text_[at] == ']') ? at + 1 : end;
  }

  void check_duplicates() {
    const std::uint32_t index = frames_.back().node;
    // The subtree's size is set on closing; iteration needs it now.
    document_.nodes[index].subtree = static_cast<std::uint32_t>(document_.nodes.size()) - index;
    const Node map(&document_, index);
    constexpr std::uint32_t kFew = 12;
    if (map.size() <= kFew) {
      for (const Node child : map) {
        const Node first = map.find(child.key());
        if (first.data().key_begin != child.data().key_begin) refuse_duplicate(first, child);
      }
      return;
    }
    std::unordered_map<std::string_view, Node> seen;
    for (const Node child : map) {
      const auto [first, added] = seen.emplace(child.key(), child);
      if (!added) refuse_duplicate(first->second, child);
    }
  }

  [[noreturn]] void refuse_duplicate(Node first, Node second) {
    throw Refused{{.code = DiagnosticCode::kDuplicateKey,
                   .span = second.key_span(),
                   .message = "the key `" + std::string(second.key().substr(0, 80)) + "` is given twice",
                   .labels = {{first.key_span(), "first given here"}},
                   .fix = "keep one of them"}};
  }

  Document document_;
  std::string_view text_;
  Piece piece_;
  const ReadLimits& limits_;
  Budget& budget_;
  std::vector<Frame> frames_;
  std::unordered_map<YAML::anchor_t, std::uint32_t> anchors_;
};

/// Whether a document that cannot be read says `kind: Secret` somewhere: nothing else of it is known.
bool may_be_secret(std::string_view text, Piece piece) {
  text = text.substr(piece.begin, piece.end - piece.begin);
  for (std::size_t at = text.find("Secret"); at != std::string_view::npos; at = text.find("Secret", at + 1)) {
    std::string_view before = text.substr(0, at);
    for (const char* between : {" \t\"'", ":", " \t\"'"}) {
      const std::size_t last = before.find_last_not_of(between);
      before = before.substr(0, last == std::string_view::npos ? 0 : last + 1);
    }
    if (before.ends_with("kind")) return true;
  }
  return false;
}

/// What is known to be a mistake in a piece that cannot be read, before `fault`.
std::optional<Diagnostic> mistake_in(std::string_view text, std::uint32_t source, Piece piece, std::uint32_t fault) {
  return find_mistake(text, source, piece, fault, may_be_secret(text, piece) ? Citing::kNo : Citing::kYes);
}

/// The mistake that the parser stopped behind; where it is none of the known ones, the place where it stopped.
Diagnostic syntax_fault(const SourceText& source, std::uint32_t id, Piece piece, const YAML::Exception& fault) {
  const std::string_view text = source.text();
  const auto at = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(std::int64_t{piece.begin} + std::max(fault.mark.pos, 0), piece.begin, piece.end));
  if (auto mistake = mistake_in(text, id, piece, at)) return std::move(*mistake);
  return Diagnostic{
      .code = DiagnosticCode::kSyntax,
      .span = {id, at, std::min(at + 1, static_cast<std::uint32_t>(text.size()))},
      .message = fault.msg.empty() ? "this is not YAML" : std::string(syntax_words(fault.msg).substr(0, 200))};
}

/// nullopt when the piece holds nothing.
std::optional<Document> read_piece(const SourceMap& sources, std::uint32_t source, Piece piece,
                                   const ReadLimits& limits, Budget& budget) {
  const std::string_view written = sources[source].text().substr(piece.begin, piece.end - piece.begin);
  if (auto json = read_json(sources, source, piece, limits, limits.nodes - std::min(limits.nodes, budget.nodes))) {
    budget.nodes += json->nodes.size();
    return json;
  }
  if (const auto bracket = find_too_deep(written, limits.depth)) {
    const std::uint32_t at = piece.begin + *bracket;
    throw Refused{{.code = DiagnosticCode::kTooDeep, .span = {source, at, at + 1}, .message = too_deep(limits)}};
  }
  const std::optional<std::string> joined = join_surrogates(written);
  ViewBuffer buffer(joined ? std::string_view(*joined) : written);
  std::istream stream(&buffer);
  YAML::Parser parser(stream);
  Builder builder(sources, source, piece, limits, budget);
  if (!parser.HandleNextDocument(builder) || builder.empty()) return std::nullopt;
  if (parser.HandleNextDocument(builder)) {
    if (auto mistake = mistake_in(sources[source].text(), source, piece, piece.end)) {
      throw Refused{std::move(*mistake)};
    }
    throw Refused{{.code = DiagnosticCode::kSyntax,
                   .span = {source, piece.begin, piece.begin + 1},
                   .message = "more than one value in one document",
                   .fix = "separate documents by a line `---`"}};
  }
  return builder.take();
}

}  // namespace

void read_documents(const SourceMap& sources, std::uint32_t source, Diagnostics& diagnostics, const ReadLimits& limits,
                    const std::function<void(Document)>& each) {
  const std::string_view text = sources[source].text();
  if (text.size() > limits.bytes) {
    diagnostics.add({.code = DiagnosticCode::kInputTooLarge,
                     .span = {source, 0, 0},
                     .message = "the text has " + std::to_string(text.size()) + " bytes; at most " +
                                std::to_string(limits.bytes) + " are read"});
    return;
  }
  if (const auto bad = find_bad_byte(text)) {
    diagnostics.add({.code = DiagnosticCode::kSyntax,
                     .span = {source, *bad, *bad + 1},
                     .message = "a control byte, or bytes that are not UTF-8"});
    return;
  }
  const std::vector<Piece> pieces = split_documents(text, limits.documents);
  if (pieces.size() > limits.documents) {
    diagnostics.add({.code = DiagnosticCode::kTooMany,
                     .span = {source, pieces.back().begin, pieces.back().begin},
                     .message = "more than " + std::to_string(limits.documents) + " documents in one text"});
    return;
  }
  Budget budget;
  for (const Piece piece : pieces) {
    std::optional<Document> document;
    try {
      document = read_piece(sources, source, piece, limits, budget);
    } catch (Refused& refused) {
      if (may_be_secret(text, piece)) diagnostics.hide({source, piece.begin, piece.end});
      diagnostics.add(std::move(refused.diagnostic));
    } catch (const YAML::Exception& fault) {
      if (may_be_secret(text, piece)) diagnostics.hide({source, piece.begin, piece.end});
      diagnostics.add(syntax_fault(sources[source], source, piece, fault));
    }
    if (document) each(std::move(*document));
  }
}

std::vector<Document> read_documents(const SourceMap& sources, std::uint32_t source, Diagnostics& diagnostics,
                                     const ReadLimits& limits) {
  std::vector<Document> documents;
  read_documents(sources, source, diagnostics, limits,
                 [&](Document document) { documents.push_back(std::move(document)); });
  return documents;
}

}  // namespace edge::compiler::yaml
