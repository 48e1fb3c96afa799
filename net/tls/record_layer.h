// TLS between a channel's user and its socket.
//
// What OpenSSL wants to send is gathered in a buffer of the thread and leaves in one call for many records; it is never
// told that a socket is full. What the socket did not take is kept here, and the one who sends is told of one byte less
// than was taken, so that he comes back with it when there is room.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/buffer.h"
#include "net/loop.h"
#include "net/tls/client.h"
#include "net/tls/server.h"

namespace edge::net::tls {

/// Of the subject of a certificate: CN, and each O; with its serial number.
struct SubjectNames {
  std::string common_name;
  std::vector<std::string> organizations;
  std::string serial;  ///< bytes, the most significant first
};

/// Where the records of one call gather. One a thread, shared by its layers; empty between two calls.
class RecordRoom {
 public:
  /// Plain text that is sealed before it is sent.
  static constexpr std::size_t kPlain = std::size_t{64} << 10;
  static constexpr std::size_t kRecord = std::size_t{16} << 10;

  RecordRoom() : sealed_(std::make_unique<char[]>(kSealed)), plain_(std::make_unique<char[]>(kRecord)) {}

 private:
  friend class RecordLayer;
  static constexpr std::size_t kSealed = kPlain + 2048;
  std::unique_ptr<char[]> sealed_;
  std::unique_ptr<char[]> plain_;
  std::size_t used_ = 0;
};

class PieceCursor;

/// Every function is called on the thread of its channel. `room` must outlive it.
class RecordLayer final : public Layer {
 public:
  /// Answers a client. `sites` must have one.
  static std::unique_ptr<RecordLayer> accept(std::shared_ptr<const Sites> sites, RecordRoom& room);
  /// Calls a server, with the session that `resumption` holds, and leaves there what the server gives for the next
  /// time.
  static std::unique_ptr<RecordLayer> connect(std::shared_ptr<const ClientContext> context,
                                              std::shared_ptr<Resumption> resumption, RecordRoom& room);
  ~RecordLayer() override;

  enum class Handshake : std::uint8_t {
    kDone,
    kRead,   ///< come again when the channel can be read
    kWrite,  ///< or written
    kFailed,
  };
  /// The next step; until it is kDone nothing else may be asked of the layer.
  Handshake handshake(Channel& channel);
  /// Why it failed, in words of OpenSSL's.
  const std::string& fault() const { return fault_; }
  /// Whether it failed because the client sent a request of HTTP in plain text. Nothing was sent to it yet.
  bool spoke_http() const { return spoke_http_; }
  /// Whether the peer has sent anything yet.
  bool heard() const;

  // After the handshake.
  /// `h2`, `http/1.1`, or empty when neither was agreed on.
  std::string_view protocol() const;
  /// What a client asked for by SNI, canonical; empty: nothing.
  const std::string& server_name() const { return server_name_; }
  bool resumed() const;
  /// Of the handshake, when it is done: `TLSv1.3`, and the cipher's name. Of static lifetime.
  std::string_view version() const;
  std::string_view cipher() const;
  /// Of what the peer's certificate says of itself: its subject as one line; empty without one.
  std::string peer_subject() const;
  /// The names in that subject, as UTF-8; nullopt without a certificate, or when one cannot be read.
  std::optional<SubjectNames> subject_names() const;

  // Layer
  Transfer receive(Channel& channel, std::span<char> into) override;
  Transfer send(Channel& channel, std::span<const iovec> pieces) override;
  bool finish(Channel& channel) override;
  void reset(Channel& channel) override;

 private:
  friend struct ServerCallbacks;
  friend struct ClientCallbacks;
  friend struct ChannelCallbacks;
  enum class Fill : std::uint8_t { kMore, kDrained, kEnd, kFailed };

  explicit RecordLayer(RecordRoom& room) : room_(room) {}
  bool open(ssl_ctx_st* context);
  /// What lies in the room and what was kept goes to the socket as far as it takes it. False: the connection is broken.
  bool flush(Channel& channel);
  /// As much as one call sends, into the room. \returns its plain bytes; 0: failed.
  std::size_t seal(PieceCursor& at);
  void fail(const char* what);
  bool accepts_peer();

  // For OpenSSL.
  int take_in(char* into, int size);
  int put_out(const char* bytes, int size);

  RecordRoom& room_;
  Handle<ssl_st> ssl_;
  /// While OpenSSL is at work.
  int fd_ = -1;
  Fill fill_ = Fill::kMore;
  /// Reads of the socket in this call that have led to nothing for the user.
  std::uint8_t idle_reads_ = 0;
  bool failed_ = false;
  bool spoke_http_ = false;
  /// The socket takes no more. What the peer sent before it broke is still read.
  bool unsendable_ = false;
  /// The peer has said that it sends no more.
  bool ended_ = false;
  /// A byte was taken that the sender was not told of, and offers once more.
  bool owes_ = false;
  Buffer unsent_;
  std::string server_name_;
  std::string fault_;

  // Until the handshake is done.
  std::shared_ptr<const Sites> sites_;
  const Site* site_ = nullptr;

  std::shared_ptr<const ClientContext> client_;
  std::shared_ptr<Resumption> resumption_;
};

}  // namespace edge::net::tls
