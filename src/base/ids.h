// Typed 32-bit row numbers of columnar tables. An id is only an index with a type: SliceId{3} is row 3 of the slice columns.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stepscope {

enum class NameId : std::uint32_t {};    // row of a NameTable (interned text)
enum class SliceId : std::uint32_t {};   // row of Timeline::slices
enum class TrackId : std::uint32_t {};   // row of Timeline::tracks
enum class DeviceId : std::uint32_t {};  // row of Timeline::devices
enum class RankId : std::uint32_t {};    // row of Timeline::ranks
enum class OpId : std::uint32_t {};      // row of Graph::operations
enum class PlaceId : std::uint32_t {};   // row of Graph::places

// "No row", for columns in which a reference may be absent.
template <class Id>
inline constexpr Id no_id = Id{0xFFFF'FFFFu};

template <class Id>
constexpr std::size_t index(Id id) {
  return static_cast<std::size_t>(id);
}

}  // namespace stepscope
