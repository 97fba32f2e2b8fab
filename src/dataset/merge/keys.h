#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace arrow::compute {
class Grouper;
}

namespace glaive::dataset {

// Numbers the keys of a source and finds them in a table's rows. Values are equal when their bytes
// are, as pylance joins: 0.0 is not -0.0. Not thread safe.
class KeyIndex {
 public:
  static constexpr uint32_t kNoKey = UINT32_MAX;

  // `types` are those of the key's columns in the table.
  static arrow::Result<KeyIndex> Make(const std::vector<std::shared_ptr<arrow::DataType>>& types);
  KeyIndex(KeyIndex&&) noexcept;
  ~KeyIndex();

  // The number of each row's key, whose columns these are. A key that holds a null has none.
  arrow::Result<std::vector<uint32_t>> Add(const arrow::ArrayVector& columns);
  // The same, where the source has the key.
  arrow::Result<std::vector<uint32_t>> Find(const arrow::ArrayVector& columns);

  uint32_t num_keys() const;

 private:
  explicit KeyIndex(std::unique_ptr<arrow::compute::Grouper> grouper);
  arrow::Result<std::vector<uint32_t>> Number(const arrow::ArrayVector& columns, bool add);

  std::unique_ptr<arrow::compute::Grouper> grouper_;
};

}  // namespace glaive::dataset
