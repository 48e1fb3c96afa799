// The distributed assignment of virtual addresses to nodes: the decisions of one node, from the messages of all.
// Without clock, thread or socket; holder.h provides them. docs/virtual-addresses.md, decision 113.
//
// Every node applies the same rules to the last messages it received:
//   * an address that a live node has stays there. Only its holder gives it away, by an offer that another node
//     accepts;
//   * an address that no live node has is taken by the node that all nodes choose for it: of those that serve it
//     best, and have fewer addresses than their share, the one with the highest rendezvous hash;
//   * the node that takes an address increments its epoch. Of two nodes with one address the one with the lower epoch
//     gives it up, so that nodes after a partition agree with the first message that gets through.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace edge::agent::vip {

/// Time since an arbitrary moment, local to a node. Includes suspended time.
using Time = std::chrono::nanoseconds;

/// The interval of messages when nothing changes.
inline constexpr Time kBeat = std::chrono::milliseconds(150);
/// A node without messages for so long is considered dead: four in a row were lost.
inline constexpr Time kSilence = std::chrono::milliseconds(600);
/// A node that was not running for so long may be considered dead: it listens before it continues.
inline constexpr Time kGap = std::chrono::milliseconds(400);
/// How long a node listens before it takes an address, so that it hears all live nodes.
inline constexpr Time kListen = std::chrono::milliseconds(750);
/// A node that has been live for so long may get addresses of others, for balance.
inline constexpr Time kStable = std::chrono::seconds(10);
/// An offer that is not accepted by then is withdrawn.
inline constexpr Time kOffer = std::chrono::seconds(2);
/// Minimum interval between two offers for balance.
inline constexpr Time kBetweenOffers = std::chrono::seconds(1);

/// How well a node can serve an address.
enum class Serves : std::uint8_t {
  kNone,    ///< no open listener for the address, no interface, or no permission
  kPartly,  ///< some listeners for the address cannot be opened
  kFull,
  kOwn,  ///< as kFull, and the address is configured on the node anyway
};

struct Rule {
  std::uint64_t id = 0;                 ///< stable id of the ProxyVIP
  std::uint32_t min_healthy_nodes = 0;  ///< minimum of nodes that serve the address; with fewer none takes it
  bool shared = false;                  ///< every node that serves it has it: there is no single holder
};

/// A node's state of one address, in its messages.
struct AddressWord {
  std::uint64_t id = 0;
  Serves serves = Serves::kNone;
  std::uint64_t epoch = 0;            ///< of its hold; 0: it does not have it
  std::string offered_to;             ///< with an epoch: the node that should take it; empty: none
  bool moved = false;                 ///< offered by an operator: the new holder does not give it away for balance
  bool keeps = false;                 ///< does not have it, but keeps its connections to it
  std::array<std::uint8_t, 6> mac{};  ///< of the link it is on, or was; zero: none
  friend bool operator==(const AddressWord&, const AddressWord&) = default;
};

/// A node's message.
struct Word {
  std::string node;                    ///< name of its agent
  std::uint64_t instance = 0;          ///< of its process; increases with each
  std::uint64_t number = 0;            ///< sequence number of the message in its process
  bool drained = false;                ///< takes nothing, and gives away what others serve
  bool leaving = false;                ///< as drained, and will soon have nothing
  std::vector<AddressWord> addresses;  ///< ascending by id; without those that it neither serves nor has
};

/// Why an address was taken or given up.
enum class Cause : std::uint8_t {
  kVacant,    ///< no live node had it
  kNodeLost,  ///< the node that had it is not heard any more
  kOffered,   ///< its holder offered it
  kTaken,     ///< another node has it now
  kUnfit,     ///< this node cannot serve it any more
  kTooFew,    ///< fewer nodes than minHealthyNodes serve it
  kRemoved,   ///< the ProxyVIP was deleted, or does not select this node
  kStopped,   ///< the agent shuts down
};
std::string_view to_string(Cause cause);

/// A change made by a step.
struct Move {
  std::uint64_t id = 0;
  bool held = false;
  std::uint64_t epoch = 0;
  Cause cause = Cause::kVacant;
  std::string other;     ///< the node that had it, or has it now; empty: unknown
  bool planned = false;  ///< it was offered to `other`
};

struct Held {
  std::uint64_t epoch = 0;
  Time since{};
  std::string offered_to;
  Time offered_at{};
  bool moved = false;       ///< the offer is an operator's
  bool moved_here = false;  ///< moved here by an operator
};

class Assignment {
 public:
  /// `instance` is larger than that of every earlier process of this name.
  Assignment(std::string node, std::uint64_t instance, Time now);

  /// Sets the addresses, ascending by id. Others are given up with the next step.
  void set_rules(std::vector<Rule> rules);
  void set_serves(std::uint64_t id, Serves serves);
  void set_drained(bool drained) { drained_ = drained; }
  /// Offers everything to others; after `let_go` the next step gives up the rest.
  void leave() { leaving_ = true; }
  void let_go() { let_go_ = true; }
  /// Takes over an address of this node's earlier process, which ended so recently that no other node can have taken
  /// it. Before the first step.
  void adopt(std::uint64_t id, std::uint64_t epoch);
  /// Sets an epoch in use before this process: later ones are larger.
  void remember_epoch(std::uint64_t id, std::uint64_t epoch);

  /// Processes a message. False for one older than the last.
  bool hear(const Word& word, Time now);
  /// Offers an address of this node to `to`, for an operator. False: this node does not have it, or `to` does not serve
  /// it.
  bool offer(std::uint64_t id, const std::string& to, Time now);
  /// Applies the rules. To be called at least every kBeat, and after every message.
  std::vector<Move> step(Time now);
  /// Returns the message to send now: with every beat, and at once after a step with changes.
  Word word();

  /// Returns whether addresses may be refreshed: not while other nodes may consider this node dead.
  bool sure() const { return sure_; }
  const std::map<std::uint64_t, Held>& held() const { return held_; }
  std::uint64_t epoch(std::uint64_t id) const;
  /// Returns the live node that has it, including this one; empty: none.
  std::string holder(std::uint64_t id) const;
  /// Returns the node that would take it, if its holder did not have it; empty: none.
  std::string successor(std::uint64_t id) const;
  /// Returns whether enough nodes serve it for its rule.
  bool enough(std::uint64_t id) const;
  /// Returns the number of live nodes that serve it, including this one, without drained ones.
  std::size_t healthy_nodes(std::uint64_t id) const;
  std::vector<std::string> live_nodes() const;
  /// Returns a live node's last state of an address; null: none.
  const AddressWord* word_of_node(const std::string& node, std::uint64_t id) const;
  /// Called when a machine that is not among the live nodes claims the address. Returns whether this node gives it up:
  /// if fewer of the recently heard nodes are reachable than not, or half of them and the one with the highest weight
  /// is not, since those nodes decide the opposite.
  bool yields_to_unheard(std::uint64_t id) const;

 private:
  struct Peer {
    Word word;
    Time heard{};
    Time live_since{};
    bool live = false;
  };
  /// A node as input of the rules.
  struct Node {
    const std::string* name = nullptr;
    const std::vector<AddressWord>* addresses = nullptr;
    bool drained = false;
    bool leaving = false;
    bool stable = false;
    std::size_t load = 0;
  };

  void note_gap(Time now);
  void expire(Time now);
  void yield(std::vector<Move>& moves);
  void let_go_unfit(std::vector<Move>& moves);
  void take(Time now, std::vector<Move>& moves);
  Held& take_one(std::uint64_t id, Cause cause, const std::string& from, Time now, std::vector<Move>& moves);
  void make_offers(Time now);
  Held* best_for(const Node& node);
  void even_out(std::vector<Node>& nodes, Time now);
  void drop(std::uint64_t id, Cause cause, const std::string& other, std::vector<Move>& moves);
  std::vector<AddressWord> own_words() const;
  std::vector<Node> nodes(const std::vector<AddressWord>& own, Time now) const;
  /// Returns the node of `nodes` that should have it; null: none serves it. `but`: excluded.
  Node* choose(std::uint64_t id, std::vector<Node>& nodes, const std::string* but) const;
  const Rule* rule(std::uint64_t id) const;
  bool enough(const Rule& rule) const;

  const std::string node_;
  const std::uint64_t instance_;
  std::vector<Rule> rules_;
  std::map<std::uint64_t, Serves> serves_;
  std::map<std::uint64_t, Held> held_;
  std::map<std::uint64_t, std::uint64_t> epochs_;     ///< the largest ones received
  std::map<std::uint64_t, std::string> last_holder_;  ///< the last ones received
  std::map<std::string, Peer, std::less<>> peers_;
  std::uint64_t number_ = 0;
  Time began_;  ///< listening
  Time last_step_;
  Time last_even_{};
  bool sure_ = false;
  bool drained_ = false;
  bool leaving_ = false;
  bool let_go_ = false;
};

/// Returns the weight of a node for an address: the highest gets it. The same on every machine.
std::uint64_t rendezvous(std::uint64_t id, std::string_view node);

}  // namespace edge::agent::vip
