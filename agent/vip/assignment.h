// Which node holds which virtual address: the decision of one node among several that hear each other. No clock, no
// thread, no socket; holder.h gives it those. docs/virtual-addresses.md, decision 113.
//
// Every node runs the same rules over what it heard last:
//   * an address that a live node holds stays there. Only its holder gives it away, by an offer that another node
//   takes;
//   * an address that no live node holds is taken by the node that every node chooses for it: among those that serve it
//     best, and have fewer addresses than their share, the one with the highest rendezvous hash;
//   * who takes an address counts its epoch up. Of two that hold one address the lower epoch lets go, so two nodes that
//     did not hear each other agree with the first word that comes through.
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

/// Time since some moment, of one node alone. It goes on while the machine sleeps.
using Time = std::chrono::nanoseconds;

/// How often a node says how it is, when nothing changes.
inline constexpr Time kBeat = std::chrono::milliseconds(150);
/// A node that was not heard for so long is taken for dead: four words in a row were lost.
inline constexpr Time kSilence = std::chrono::milliseconds(600);
/// A node that did not run for so long may have been taken for dead: it listens before it goes on.
inline constexpr Time kGap = std::chrono::milliseconds(400);
/// So long a node listens before it takes an address: others that live are heard by then.
inline constexpr Time kListen = std::chrono::milliseconds(750);
/// A node that has been there for so long is given addresses of others, to even out how many each has.
inline constexpr Time kStable = std::chrono::seconds(10);
/// An offer that nobody took by then is withdrawn.
inline constexpr Time kOffer = std::chrono::seconds(2);
/// Between two offers that only even out.
inline constexpr Time kBetweenOffers = std::chrono::seconds(1);

/// What a node can do for an address.
enum class Serves : std::uint8_t {
  kNone,    ///< no listener of the address, no interface, no right to hold it
  kPartly,  ///< some listeners of the address cannot be opened
  kFull,
  kOwn,  ///< as kFull, and the node has the address in any case: it is configured there
};

struct Rule {
  std::uint64_t id = 0;                 ///< stable id of the ProxyVIP
  std::uint32_t min_healthy_nodes = 0;  ///< nodes that serve the address, without which none holds it
  bool shared = false;                  ///< every node that serves it has it: who holds it is not decided
};

/// What a node says of one address.
struct AddressWord {
  std::uint64_t id = 0;
  Serves serves = Serves::kNone;
  std::uint64_t epoch = 0;            ///< of its hold; 0: it does not hold it
  std::string offered_to;             ///< with an epoch: who is to take it; empty: nobody
  bool moved = false;                 ///< offered by an operator: who takes it does not give it away to even out
  bool keeps = false;                 ///< does not hold it, and keeps the connections that it has to it
  std::array<std::uint8_t, 6> mac{};  ///< of the link that it is held on, or was; zero: none
  friend bool operator==(const AddressWord&, const AddressWord&) = default;
};

/// What a node says of itself.
struct Word {
  std::string node;                    ///< name of its agent
  std::uint64_t instance = 0;          ///< of its process; a later one has a larger number
  std::uint64_t number = 0;            ///< of the word, counted by its process
  bool drained = false;                ///< takes nothing, and gives away what it holds where another serves it
  bool leaving = false;                ///< as drained, and holds nothing soon
  std::vector<AddressWord> addresses;  ///< ascending by id; those that it neither serves nor holds are left out
};

/// Why an address came, or went.
enum class Cause : std::uint8_t {
  kVacant,    ///< no live node held it
  kNodeLost,  ///< the node that held it is not heard any more
  kOffered,   ///< its holder gave it away
  kTaken,     ///< another node has it now
  kUnfit,     ///< this node cannot serve it any more
  kTooFew,    ///< fewer nodes than minHealthyNodes serve it
  kRemoved,   ///< there is no such ProxyVIP any more, or it is not for this node
  kStopped,   ///< the agent ends
};
std::string_view to_string(Cause cause);

/// What changed in a step.
struct Move {
  std::uint64_t id = 0;
  bool held = false;
  std::uint64_t epoch = 0;
  Cause cause = Cause::kVacant;
  std::string other;     ///< the node that had it, or has it now; empty: none is known
  bool planned = false;  ///< it was given to `other`
};

struct Held {
  std::uint64_t epoch = 0;
  Time since{};
  std::string offered_to;
  Time offered_at{};
  bool moved = false;       ///< the offer is an operator's
  bool moved_here = false;  ///< by an operator
};

class Assignment {
 public:
  /// `instance` is larger than that of every process of this name before.
  Assignment(std::string node, std::uint64_t instance, Time now);

  /// Ascending by id. What is held and is not among them is let go of with the next step.
  void set_rules(std::vector<Rule> rules);
  void set_serves(std::uint64_t id, Serves serves);
  void set_drained(bool drained) { drained_ = drained; }
  /// Offers everything to others. With `now_or_never` the next step lets go of what is left.
  void leave() { leaving_ = true; }
  void let_go() { let_go_ = true; }
  /// What a process of this node before held when it ended, so shortly ago that nobody else can have taken it. Before
  /// the first step.
  void adopt(std::uint64_t id, std::uint64_t epoch);
  /// Epochs that were in use before this process: the next ones are larger.
  void remember_epoch(std::uint64_t id, std::uint64_t epoch);

  /// False for one that is older than what was heard.
  bool hear(const Word& word, Time now);
  /// An operator gives an address that this node holds to `to`. False: this node does not hold it, or `to` does not
  /// serve it.
  bool offer(std::uint64_t id, const std::string& to, Time now);
  /// To be called at least every kBeat, and after every word.
  std::vector<Move> step(Time now);
  /// What is to be said now: with every beat, and at once after a step in which something changed.
  Word word();

  /// Whether what is held may be refreshed: not as long as this node may have been taken for dead.
  bool sure() const { return sure_; }
  const std::map<std::uint64_t, Held>& held() const { return held_; }
  std::uint64_t epoch(std::uint64_t id) const;
  /// The live node that holds it, this one included; empty: none.
  std::string holder(std::uint64_t id) const;
  /// The node that would take it, if the one that holds it did not; empty: none.
  std::string successor(std::uint64_t id) const;
  /// Whether as many nodes serve it as its rule takes.
  bool enough(std::uint64_t id) const;
  /// Live nodes that serve it, this one included, without those that are drained.
  std::size_t healthy_nodes(std::uint64_t id) const;
  std::vector<std::string> live_nodes() const;
  /// What a live node said last of an address; null: nothing.
  const AddressWord* word_of_node(const std::string& node, std::uint64_t id) const;
  /// Another machine that is heard by nobody says that it has the address. Whether this node lets go of it: it does
  /// where fewer of the nodes that were heard lately are here than away, or half of them and the one of the highest
  /// weight is away, since these decide the other way round.
  bool yields_to_unheard(std::uint64_t id) const;

 private:
  struct Peer {
    Word word;
    Time heard{};
    Time live_since{};
    bool live = false;
  };
  /// A node as the rules see it.
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
  void even_out(std::vector<Node>& nodes, Time now);
  void drop(std::uint64_t id, Cause cause, const std::string& other, std::vector<Move>& moves);
  std::vector<AddressWord> own_words() const;
  std::vector<Node> nodes(const std::vector<AddressWord>& own, Time now) const;
  /// Of `nodes` the one to hold it; null: none serves it. `but`: not this one.
  Node* choose(std::uint64_t id, std::vector<Node>& nodes, const std::string* but) const;
  const Rule* rule(std::uint64_t id) const;
  bool enough(const Rule& rule) const;

  const std::string node_;
  const std::uint64_t instance_;
  std::vector<Rule> rules_;
  std::map<std::uint64_t, Serves> serves_;
  std::map<std::uint64_t, Held> held_;
  std::map<std::uint64_t, std::uint64_t> epochs_;     ///< the largest that was heard of
  std::map<std::uint64_t, std::string> last_holder_;  ///< that was heard of
  std::map<std::string, Peer, std::less<>> peers_;
  std::uint64_t number_ = 0;
  Time began_;  ///< to listen
  Time last_step_;
  Time last_even_{};
  bool sure_ = false;
  bool drained_ = false;
  bool leaving_ = false;
  bool let_go_ = false;
};

/// The weight of a node for an address: the highest has it. Equal names, equal weights on every machine.
std::uint64_t rendezvous(std::uint64_t id, std::string_view node);

}  // namespace edge::agent::vip
