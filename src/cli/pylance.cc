#include "cli/pylance.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

extern char** environ;

namespace glaive::cli {
namespace {

constexpr char kVersionKey[] = "glaive:version";

// The version that was read travels as metadata of the stream, which is removed again. Where there
// is no stream, a line that says why stands in its place.
constexpr int64_t kMostText = 1000;
constexpr std::string_view kNoStream = "none";
constexpr char kScript[] = R"(
import os, sys
uri, version = sys.argv[1:]
try:
    import pyarrow as pa
    import lance
    dataset = lance.dataset(uri, version=int(version) if version else None)
except Exception as error:
    sys.stdout.write("none" + f"{type(error).__name__}: {error}")
    sys.exit()
rows = dataset.scanner(with_row_id=True, with_row_address=True).to_reader()
names = [n for n in rows.schema.names if n not in ("_rowid", "_rowaddr")] + ["_rowid", "_rowaddr"]
fields = [rows.schema.field(n) for n in names]
metadata = {**(rows.schema.metadata or {}), b"glaive:version": str(dataset.version).encode()}
with pa.ipc.new_stream(sys.stdout.buffer, pa.schema(fields, metadata)) as out:
    for batch in rows:
        out.write_batch(batch.select(names))
sys.stdout.buffer.flush()
os._exit(0)
)";

// A process whose standard output is read. Ended when this goes.
class Child final : public arrow::io::InputStream {
 public:
  static arrow::Result<std::shared_ptr<Child>> Start(const std::vector<std::string>& command) {
    std::array<int, 2> ends = {};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      return arrow::Status::IOError("cannot make a pipe: ", std::strerror(errno));
    }
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    pid_t pid = 0;
    const int error =
        posix_spawnp(&pid, words[0], &actions, /*attrp=*/nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (error != 0) {
      ::close(ends[0]);
      return arrow::Status::Invalid("cannot start ", command[0], ": ", std::strerror(error));
    }
    return std::shared_ptr<Child>(new Child(pid, ends[0]));
  }

  ~Child() override {
    static_cast<void>(Close());
    int status = 0;
    static_cast<void>(waitpid(pid_, &status, 0));
  }

  arrow::Status Close() override {
    // With no reader left, the child is ended by its next write.
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    return arrow::Status::OK();
  }
  bool closed() const override { return fd_ < 0; }

  // The next bytes, which are read again afterwards.
  arrow::Result<std::string> Peek4() {
    std::string head(4, '\0');
    ARROW_ASSIGN_OR_RAISE(const int64_t done, Read(4, head.data()));
    head.resize(static_cast<size_t>(done));
    position_ = 0;
    peeked_ = head;
    return head;
  }
  arrow::Result<int64_t> Tell() const override { return position_; }

  arrow::Result<int64_t> Read(int64_t num_bytes, void* out) override {
    int64_t done = std::min(num_bytes, static_cast<int64_t>(peeked_.size()));
    std::memcpy(out, peeked_.data(), static_cast<size_t>(done));
    peeked_.erase(0, static_cast<size_t>(done));
    while (done < num_bytes) {
      const ssize_t got =
          ::read(fd_, static_cast<char*>(out) + done, static_cast<size_t>(num_bytes - done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return arrow::Status::IOError("cannot read a pipe: ", std::strerror(errno));
      if (got == 0) break;
      done += got;
    }
    position_ += done;
    return done;
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t num_bytes) override {
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(num_bytes));
    ARROW_ASSIGN_OR_RAISE(const int64_t done, Read(num_bytes, buffer->mutable_data()));
    ARROW_RETURN_NOT_OK(buffer->Resize(done));
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }

 private:
  Child(pid_t pid, int fd) : pid_(pid), fd_(fd) {}

  pid_t pid_;
  int fd_;
  int64_t position_ = 0;
  std::string peeked_;
};

// The same rows under the schema that pylance gave.
class WithoutVersion final : public arrow::RecordBatchReader {
 public:
  WithoutVersion(std::shared_ptr<arrow::RecordBatchReader> rows,
                 std::shared_ptr<arrow::Schema> schema)
      : rows_(std::move(rows)), schema_(std::move(schema)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    ARROW_RETURN_NOT_OK(rows_->ReadNext(batch));
    if (*batch == nullptr) return arrow::Status::OK();
    return (*batch)->ReplaceSchema(schema_).Value(batch);
  }

 private:
  std::shared_ptr<arrow::RecordBatchReader> rows_;
  std::shared_ptr<arrow::Schema> schema_;
};

}  // namespace

arrow::Result<PylanceRows> ReadByPylance(const std::string& python, const std::string& uri,
                                         std::optional<uint64_t> version) {
  ARROW_ASSIGN_OR_RAISE(const auto child, Child::Start({python, "-c", kScript, uri,
                                                        version ? std::to_string(*version) : ""}));
  ARROW_ASSIGN_OR_RAISE(const std::string head, child->Peek4());
  if (head == kNoStream) {
    ARROW_ASSIGN_OR_RAISE(const auto text, child->Read(kMostText));
    return arrow::Status::Invalid(python, " gave no rows of ", uri, ": ",
                                  text->ToString().substr(kNoStream.size()),
                                  " (--python names a Python that has pylance)");
  }
  const auto opened = arrow::ipc::RecordBatchStreamReader::Open(child);
  if (!opened.ok()) return arrow::Status::Invalid(python, " gave no rows of ", uri);
  const auto& schema = *(*opened)->schema();
  PylanceRows result;
  ARROW_ASSIGN_OR_RAISE(const std::string text, schema.metadata()->Get(kVersionKey));
  std::from_chars(text.data(), text.data() + text.size(), result.version);
  auto metadata = schema.metadata()->Copy();
  ARROW_RETURN_NOT_OK(metadata->Delete(kVersionKey));
  result.rows = std::make_shared<WithoutVersion>(
      *opened, schema.WithMetadata(metadata->size() > 0 ? metadata : nullptr));
  return result;
}

}  // namespace glaive::cli
