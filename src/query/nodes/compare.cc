#include "query/nodes/compare.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/compute/exec.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/util/bitmap_ops.h>

#include "core/error.h"
#include "query/cast/cast.h"

namespace glaive::query {
namespace {

using sql::BinaryOperator;

// The three that the others are made of, by swapping sides or inverting the result: that is sound
// because the order is total.
struct Equal {
  template <typename K>
  static bool Test(K left, K right) {
    return left == right;
  }
};
struct Less {
  template <typename K>
  static bool Test(K left, K right) {
    return left < right;
  }
};
struct LessEqual {
  template <typename K>
  static bool Test(K left, K right) {
    return left <= right;
  }
};

// A number whose plain order is the total order of floats.
template <typename T>
auto KeyOf(T value) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
    const Bits bits = std::bit_cast<Bits>(value);
    constexpr int kSignShift = static_cast<int>(8 * sizeof(T)) - 1;
    constexpr Bits kAllButSign = static_cast<Bits>(~(Bits{1} << kSignShift));
    const Bits magnitude = bits & kAllButSign;
    const Bits key = bits ^ ((bits >> kSignShift) & kAllButSign);
    return magnitude == 0 ? Bits{0} : key;
  } else {
    return value;
  }
}

// 64 results make a word; the inner loop has no branch, so that it is compiled to vector code.
template <typename Op, typename T, bool kRightIsScalar>
void CompareValues(const T* left, const T* right, int64_t count, bool invert,
                   uint8_t* bits) noexcept {
  const auto right_key = KeyOf(*right);
  for (int64_t begin = 0; begin < count; begin += 64) {
    const int64_t size = std::min<int64_t>(64, count - begin);
    uint8_t results[64] = {};
    for (int64_t i = 0; i < size; ++i) {
      const auto other = kRightIsScalar ? right_key : KeyOf(right[begin + i]);
      results[i] = static_cast<uint8_t>(Op::Test(KeyOf(left[begin + i]), other) != invert);
    }
    uint64_t word = 0;
    for (int byte = 0; byte < 8; ++byte) {
      uint64_t lanes;
      std::memcpy(&lanes, results + 8 * byte, sizeof(lanes));
      // Gathers the lowest bit of each of the eight bytes into the top byte.
      word |= (lanes * 0x0102040810204080ull >> 56) << (8 * byte);
    }
    std::memcpy(bits + begin / 8, &word, static_cast<size_t>((size + 7) / 8));
  }
}

struct Sides {
  const arrow::ArrayData* left;
  const arrow::ArrayData* right;  // of one value where it is a scalar
  bool right_is_scalar;
  bool invert;
};

template <typename Op, typename T>
void CompareTyped(const Sides& sides, uint8_t* bits) {
  const T* left = sides.left->GetValues<T>(1);
  const T* right = sides.right->GetValues<T>(1);
  if (sides.right_is_scalar) {
    CompareValues<Op, T, true>(left, right, sides.left->length, sides.invert, bits);
  } else {
    CompareValues<Op, T, false>(left, right, sides.left->length, sides.invert, bits);
  }
}

// REQUIRES: IsOurs(type)
template <typename Op>
void CompareNumbers(const Sides& sides, uint8_t* bits) {
  switch (sides.left->type->id()) {
    case arrow::Type::INT8: CompareTyped<Op, int8_t>(sides, bits); return;
    case arrow::Type::INT16: CompareTyped<Op, int16_t>(sides, bits); return;
    case arrow::Type::INT32:
    case arrow::Type::DATE32: CompareTyped<Op, int32_t>(sides, bits); return;
    case arrow::Type::INT64:
    case arrow::Type::TIMESTAMP: CompareTyped<Op, int64_t>(sides, bits); return;
    case arrow::Type::UINT8: CompareTyped<Op, uint8_t>(sides, bits); return;
    case arrow::Type::UINT16: CompareTyped<Op, uint16_t>(sides, bits); return;
    case arrow::Type::UINT32: CompareTyped<Op, uint32_t>(sides, bits); return;
    case arrow::Type::UINT64: CompareTyped<Op, uint64_t>(sides, bits); return;
    case arrow::Type::FLOAT: CompareTyped<Op, float>(sides, bits); return;
    case arrow::Type::DOUBLE: CompareTyped<Op, double>(sides, bits); return;
    default: return;
  }
}

// The other types are left to Arrow's kernels.
bool IsOurs(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::INT8:
    case arrow::Type::INT16:
    case arrow::Type::INT32:
    case arrow::Type::INT64:
    case arrow::Type::UINT8:
    case arrow::Type::UINT16:
    case arrow::Type::UINT32:
    case arrow::Type::UINT64:
    case arrow::Type::FLOAT:
    case arrow::Type::DOUBLE:
    case arrow::Type::DATE32:
    case arrow::Type::TIMESTAMP: return true;
    default: return false;
  }
}

const char* KernelOf(BinaryOperator op) {
  switch (op) {
    case BinaryOperator::kEqual: return "equal";
    case BinaryOperator::kNotEqual: return "not_equal";
    case BinaryOperator::kLess: return "less";
    case BinaryOperator::kLessEqual: return "less_equal";
    case BinaryOperator::kGreater: return "greater";
    default: return "greater_equal";
  }
}

BinaryOperator Mirror(BinaryOperator op) {
  switch (op) {
    case BinaryOperator::kLess: return BinaryOperator::kGreater;
    case BinaryOperator::kLessEqual: return BinaryOperator::kGreaterEqual;
    case BinaryOperator::kGreater: return BinaryOperator::kLess;
    case BinaryOperator::kGreaterEqual: return BinaryOperator::kLessEqual;
    default: return op;
  }
}

// Null where either side is.
arrow::Result<std::shared_ptr<arrow::Buffer>> ValidityOf(const arrow::ArrayData& left,
                                                         const arrow::ArrayData* right) {
  const bool left_nulls = left.GetNullCount() > 0;
  const bool right_nulls = right != nullptr && right->GetNullCount() > 0;
  auto* pool = arrow::default_memory_pool();
  if (left_nulls && right_nulls) {
    return arrow::internal::BitmapAnd(pool, left.buffers[0]->data(), left.offset,
                                      right->buffers[0]->data(), right->offset, left.length, 0);
  }
  if (!left_nulls && !right_nulls) return nullptr;
  const arrow::ArrayData& nulls = left_nulls ? left : *right;
  return arrow::internal::CopyBitmap(pool, nulls.buffers[0]->data(), nulls.offset, nulls.length);
}

arrow::Result<arrow::Datum> CompareOurs(BinaryOperator op, const arrow::ArrayData& left,
                                        const arrow::ArrayData& right, bool right_is_scalar) {
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Buffer> bits,
                        arrow::AllocateBuffer((left.length + 63) / 64 * 8));
  ARROW_ASSIGN_OR_RAISE(auto validity, ValidityOf(left, right_is_scalar ? nullptr : &right));
  const bool invert = op == BinaryOperator::kNotEqual || op == BinaryOperator::kGreater ||
                      op == BinaryOperator::kGreaterEqual;
  const Sides sides{&left, &right, right_is_scalar, invert};
  if (left.length > 0) {
    switch (op) {
      case BinaryOperator::kEqual:
      case BinaryOperator::kNotEqual: CompareNumbers<Equal>(sides, bits->mutable_data()); break;
      case BinaryOperator::kLess:
      case BinaryOperator::kGreaterEqual: CompareNumbers<Less>(sides, bits->mutable_data()); break;
      default: CompareNumbers<LessEqual>(sides, bits->mutable_data());
    }
  }
  return arrow::Datum(arrow::ArrayData::Make(arrow::boolean(), left.length, {validity, bits}));
}

arrow::Result<std::shared_ptr<arrow::Array>> OneValue(const arrow::Scalar& scalar) {
  return arrow::MakeArrayFromScalar(scalar, 1);
}

}  // namespace

arrow::Result<arrow::Datum> Compare(BinaryOperator op, const arrow::Datum& left,
                                    const arrow::Datum& right) {
  if (left.type()->id() == arrow::Type::HALF_FLOAT && left.type()->Equals(*right.type())) {
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum a, CastValue(left, arrow::float32(), false));
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum b, CastValue(right, arrow::float32(), false));
    return Compare(op, a, b);
  }
  if (!IsOurs(*left.type()) || !left.type()->Equals(*right.type())) {
    return arrow::compute::CallFunction(KernelOf(op), {left, right});
  }
  if (left.is_scalar() && !right.is_scalar()) return Compare(Mirror(op), right, left);
  if (!right.is_scalar()) return CompareOurs(op, *left.array(), *right.array(), false);
  if (!right.scalar()->is_valid || (left.is_scalar() && !left.scalar()->is_valid)) {
    const arrow::BooleanScalar null;
    if (left.is_scalar()) return arrow::Datum(std::make_shared<arrow::BooleanScalar>(null));
    ARROW_ASSIGN_OR_RAISE(auto nulls, arrow::MakeArrayOfNull(arrow::boolean(), left.length()));
    return arrow::Datum(std::move(nulls));
  }
  ARROW_ASSIGN_OR_RAISE(const auto right_value, OneValue(*right.scalar()));
  if (!left.is_scalar()) return CompareOurs(op, *left.array(), *right_value->data(), true);
  ARROW_ASSIGN_OR_RAISE(const auto left_value, OneValue(*left.scalar()));
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum result,
                        CompareOurs(op, *left_value->data(), *right_value->data(), true));
  ARROW_ASSIGN_OR_RAISE(auto scalar, result.make_array()->GetScalar(0));
  return arrow::Datum(std::move(scalar));
}

}  // namespace glaive::query
