#pragma once

#include <cstdint>

#include <arrow/io/interfaces.h>
#include <arrow/result.h>

namespace glaive::cli {

// Standard output for what may be long. A write to a pipe that nobody reads waits, but Ctrl-C ends
// it with CheckInterrupt's error.
class StandardOutput final : public arrow::io::OutputStream {
 public:
  StandardOutput();

  using arrow::io::OutputStream::Write;
  arrow::Status Write(const void* data, int64_t num_bytes) override;
  arrow::Status Close() override;
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return position_; }

 private:
  bool is_pipe_;
  bool closed_ = false;
  int64_t position_ = 0;
};

}  // namespace glaive::cli
