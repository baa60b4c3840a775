// XPlane (JAX, TensorFlow, PyTorch/XLA): protobuf XSpace { XPlane planes = 1 { id = 1, name = 2, … } }. Recognised and refused until its reader exists.
// A file whose bytes went through a text conversion has EF BF BD (U+FFFD) where bytes from 80 up stood: what was there cannot be restored.
#include "base/bytes.h"
#include "read/head.h"
#include "read/reader.h"

namespace stepscope {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

// Planes are named "/device:GPU:0", "/host:CPU", "/host:metadata", "Task Environment", …
bool names_a_plane(std::string_view text) {
  return text.contains("/device:") || text.contains("/host:");
}

bool is_mangled(std::string_view head) {
  return head.starts_with('\n') && head.substr(0, 64).contains(replacement) && names_a_plane(head.substr(0, 256));
}

bool is_space(std::string_view head) {
  const auto plane = next_field(head);
  if (!plane || plane->number != 1 || plane->type != 2) return false;
  std::string_view fields = plane->bytes;
  for (int i = 0; i < 2; ++i) {  // the name follows the id, which is left out where it is 0
    const auto field = next_field(fields);
    if (!field) return false;
    if (field->number == 2 && field->type == 2)
      return field->bytes.starts_with("/device:") || field->bytes.starts_with("/host:") || field->bytes.starts_with("Task Environment");
    if (field->number != 1 || field->type != 0) return false;
  }
  return false;
}

int recognises(std::string_view head, std::string_view) {
  return is_space(head) ? 95 : is_mangled(head) ? 90 : 0;
}

Result<void> read(ByteSource& source, const ReadOptions&, TimelineBuilder&) {
  const Result<std::string_view> head = source.peek();
  if (!head) return std::unexpected(head.error());
  if (is_mangled(*head))
    return std::unexpected(
        Error{std::string(source.path()), head->find(replacement), "not a valid XSpace: bytes look re-encoded as UTF-8",
              "A text-mode copy, an editor or a repository's text conversion did it, and it cannot be undone: copy the original .xplane.pb again as binary."});
  return std::unexpected(Error{std::string(source.path()), 0, "XPlane profile (XSpace protobuf): not read yet",
                               "There is no other way yet to analyse a JAX or XLA profile with Stepscope."});
}

}  // namespace

extern const Reader xplane_reader;
const Reader xplane_reader{"xplane", "XPlane profile of JAX, TensorFlow or XLA", "*.xplane.pb", recognises, read, false};

}  // namespace stepscope
