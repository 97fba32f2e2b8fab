#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <arrow/array.h>
#include <arrow/datum.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

namespace glaive::query {

// The strings of an array of either offset width, or of a scalar that stands for all rows.
class TextValues {
 public:
  // REQUIRES: utf8, binary, or one of their large forms; the array stays.
  explicit TextValues(const arrow::Array& array) : data_(array.data().get()), array_(&array) {
    is_large_ = array.type_id() == arrow::Type::LARGE_STRING ||
                array.type_id() == arrow::Type::LARGE_BINARY;
    if (array.data()->buffers[2] != nullptr) {
      bytes_ = reinterpret_cast<const char*>(array.data()->buffers[2]->data());
    }
  }
  explicit TextValues(const arrow::Datum& value) {
    if (value.is_scalar()) {
      scalar_ = value.scalar();
      const auto& text = static_cast<const arrow::BaseBinaryScalar&>(*scalar_);
      if (scalar_->is_valid) text_ = text.view();
    } else {
      kept_ = value.make_array();
      *this = TextValues(*kept_, kept_);
    }
  }

  bool IsNull(int64_t row) const {
    return scalar_ != nullptr ? !scalar_->is_valid : array_->IsNull(row);
  }
  std::string_view operator[](int64_t row) const {
    if (scalar_ != nullptr) return text_;
    if (is_large_) return At<int64_t>(row);
    return At<int32_t>(row);
  }

 private:
  TextValues(const arrow::Array& array, std::shared_ptr<arrow::Array> kept) : TextValues(array) {
    kept_ = std::move(kept);
  }

  template <typename Offset>
  std::string_view At(int64_t row) const {
    const Offset* offsets = data_->GetValues<Offset>(1) + row;
    return {bytes_ + offsets[0], static_cast<size_t>(offsets[1] - offsets[0])};
  }

  const arrow::ArrayData* data_ = nullptr;
  const arrow::Array* array_ = nullptr;
  std::shared_ptr<arrow::Array> kept_;
  const char* bytes_ = "";
  bool is_large_ = false;
  std::shared_ptr<arrow::Scalar> scalar_;
  std::string_view text_;
};

}  // namespace glaive::query
