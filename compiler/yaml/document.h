// A YAML or JSON document as a tree of nodes with positions. The first stage after SourceText.
//
// Nodes are stored in one array in the order of the text, each followed by its descendants: a document is two
// allocations, and a copy of a subtree (an alias) is a copy of a range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace edge::compiler::yaml {

enum class NodeKind : std::uint8_t { kNull, kScalar, kMap, kList };

/// How a scalar was written. Only a plain one can be a number or a boolean.
enum class Style : std::uint8_t { kPlain, kQuoted, kBlock };

struct NodeData {
  NodeKind kind = NodeKind::kNull;
  Style style = Style::kPlain;
  std::uint32_t children = 0;
  std::uint32_t subtree = 1;  ///< nodes from this one to its last descendant
  std::uint32_t begin = 0;    ///< bytes of the source: the value, quotes and block header included
  std::uint32_t end = 0;
  std::uint32_t key_begin = 0;  ///< of the key in the map above; equal to key_end without one
  std::uint32_t key_end = 0;
  std::string_view text{};  ///< scalar, decoded
  std::string_view key{};
};

class Document;

/// A node of a document, or nothing, which reads as a null that is nowhere. A view: cheap to copy, valid as long as the
/// document and its source.
class Node {
 public:
  Node() = default;
  Node(const Document* document, std::uint32_t index) : document_(document), index_(index) {}

  explicit operator bool() const { return document_ != nullptr; }
  const NodeData& data() const;
  NodeKind kind() const { return data().kind; }
  bool is_map() const { return kind() == NodeKind::kMap; }
  bool is_list() const { return kind() == NodeKind::kList; }
  bool is_scalar() const { return kind() == NodeKind::kScalar; }
  bool is_null() const { return kind() == NodeKind::kNull; }
  std::string_view text() const { return data().text; }
  std::string_view key() const { return data().key; }
  std::uint32_t size() const { return data().children; }
  Span span() const;
  /// Returns the key's position; the value's where there is no key.
  Span key_span() const;

  /// Returns the value of `key` in a map; nothing when it is absent or this is not a map. Linear in the map's size.
  Node find(std::string_view key) const;

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Node;
    using difference_type = std::ptrdiff_t;
    using pointer = const Node*;
    using reference = Node;
    Iterator(const Document* document, std::uint32_t index) : document_(document), index_(index) {}
    Node operator*() const { return {document_, index_}; }
    Iterator& operator++();
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const Document* document_;
    std::uint32_t index_;
  };
  Iterator begin() const { return {document_, index_ + 1}; }
  Iterator end() const;

 private:
  const Document* document_ = nullptr;
  std::uint32_t index_ = 0;
};

/// Not empty: node 0 is the root. Movable only as a whole: views point into it.
class Document {
 public:
  explicit Document(std::uint32_t source_id) : source(source_id) {}
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
  Document(Document&&) = default;
  Document& operator=(Document&&) = default;

  Node root() const { return {this, 0}; }

  std::uint32_t source;
  std::vector<NodeData> nodes{};
  /// Decoded texts that do not occur in the source.
  std::deque<std::string> texts{};
};

inline const NodeData& Node::data() const {
  static constexpr NodeData kNothing{};
  return document_ != nullptr ? document_->nodes[index_] : kNothing;
}
inline Node::Iterator& Node::Iterator::operator++() {
  index_ += document_->nodes[index_].subtree;
  return *this;
}
inline Node::Iterator Node::end() const { return {document_, index_ + data().subtree}; }
inline Span Node::span() const {
  return document_ != nullptr ? Span{document_->source, data().begin, data().end} : Span{};
}
inline Span Node::key_span() const {
  const NodeData& node = data();
  return node.key_begin == node.key_end ? span() : Span{document_->source, node.key_begin, node.key_end};
}
inline Node Node::find(std::string_view key) const {
  if (document_ == nullptr || !is_map()) return {};
  for (const Node child : *this) {
    if (child.key() == key) return child;
  }
  return {};
}

}  // namespace edge::compiler::yaml
