#include "edgectl/archive_writer.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <unistd.h>

namespace edge::edgectl {

struct ArchiveWriter::Impl {
  std::string path;
  std::string part;  ///< the file that is written; empty: it is finished
  int fd = -1;
  archive* tar = nullptr;
  std::time_t now = std::time(nullptr);

  Error fault(const std::string& what) const { return {ErrorCode::kUnavailable, path + ": " + what}; }
  Error tar_fault() const {
    const char* text = ::archive_error_string(tar);
    return fault(text == nullptr ? "cannot be written" : text);
  }
};

ArchiveWriter::ArchiveWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

ArchiveWriter::~ArchiveWriter() {
  if (impl_->tar != nullptr) ::archive_write_free(impl_->tar);
  if (impl_->fd >= 0) ::close(impl_->fd);
  if (!impl_->part.empty()) ::unlink(impl_->part.c_str());
}

Result<std::unique_ptr<ArchiveWriter>> ArchiveWriter::create(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  std::string part = path + ".XXXXXX";
  impl->fd = ::mkostemp(part.data(), O_CLOEXEC);  // mode 0600
  if (impl->fd < 0) return impl->fault(std::strerror(errno));
  impl->part = part;
  std::unique_ptr<ArchiveWriter> writer(new ArchiveWriter(std::move(impl)));
  archive*& tar = writer->impl_->tar;
  tar = ::archive_write_new();
  if (tar == nullptr || ::archive_write_add_filter_gzip(tar) != ARCHIVE_OK ||
      ::archive_write_set_format_pax_restricted(tar) != ARCHIVE_OK ||
      ::archive_write_open_fd(tar, writer->impl_->fd) != ARCHIVE_OK) {
    return writer->impl_->fault("cannot be begun");
  }
  return writer;
}

Status ArchiveWriter::add(const std::string& name, std::string_view bytes) {
  archive_entry* const entry = ::archive_entry_new();
  if (entry == nullptr) return impl_->fault("out of memory");
  ::archive_entry_set_pathname(entry, name.c_str());
  ::archive_entry_set_size(entry, static_cast<la_int64_t>(bytes.size()));
  ::archive_entry_set_filetype(entry, AE_IFREG);
  ::archive_entry_set_perm(entry, 0600);
  ::archive_entry_set_mtime(entry, impl_->now, 0);
  const bool written =
      ::archive_write_header(impl_->tar, entry) == ARCHIVE_OK &&
      ::archive_write_data(impl_->tar, bytes.data(), bytes.size()) == static_cast<la_ssize_t>(bytes.size());
  ::archive_entry_free(entry);
  return written ? Status() : impl_->tar_fault();
}

Status ArchiveWriter::finish() {
  if (::archive_write_close(impl_->tar) != ARCHIVE_OK) return impl_->tar_fault();
  if (::fsync(impl_->fd) != 0 || ::rename(impl_->part.c_str(), impl_->path.c_str()) != 0) {
    return impl_->fault(std::strerror(errno));
  }
  impl_->part.clear();
  return {};
}

}  // namespace edge::edgectl
