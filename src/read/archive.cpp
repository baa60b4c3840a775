// Archives and compressions that are not undone here, and gzip that a text conversion has spoiled: the user is told to unpack them.
#include <array>

#include "base/bytes.h"
#include "read/reader.h"

namespace stepscope {

namespace {

struct Packing {
  std::size_t place;  // where its mark stands
  std::string_view mark;
  std::string_view problem;
  std::string_view remedy;
};
constexpr std::array packings{
    Packing{257, "ustar", "a tar archive", "Unpack it (tar xf) and give the directory."},
    Packing{0, "PK\x03\x04", "a zip archive (PyTorch's .pt files are such)",
            "Where it holds traces, unpack it (unzip) and give the directory; a checkpoint or tensor file is no trace."},
    Packing{0,
            "\xfd"
            "7zXZ",
            "compressed with xz", "Decompress it (xz -d), or compress with gzip or zstd instead."},
    Packing{0, "BZh", "compressed with bzip2", "Decompress it (bzip2 -d), or compress with gzip or zstd instead."},
    Packing{0, "7z\xbc\xaf\x27\x1c", "a 7z archive", "Unpack it (7z x) and give the directory."},
    Packing{0, "\x04\x22\x4d\x18", "compressed with lz4", "Decompress it (lz4 -d), or compress with gzip or zstd instead."},
    Packing{0, "\x1f\x8b\x08", "compressed twice with gzip", "Decompress it once (gzip -d)."},
    Packing{0, "\x1f\xef\xbf\xbd\x08", "gzip whose bytes were re-encoded as UTF-8",
            "A text-mode copy or an editor did it, and it cannot be undone: copy the original again as binary."},
};

const Packing* packing_of(std::string_view head) {
  for (const Packing& packing : packings)
    if (head.size() > packing.place && head.substr(packing.place).starts_with(packing.mark)) return &packing;
  return nullptr;
}

int recognises(std::string_view head, std::string_view) {
  return packing_of(head) != nullptr ? 85 : 0;
}

Result<void> read(ByteSource& source, const ReadOptions&, TimelineBuilder&) {
  const Result<std::string_view> head = source.peek();
  if (!head) return std::unexpected(head.error());
  const Packing* packing = packing_of(*head);
  return std::unexpected(Error{std::string(source.path()),
                               {},
                               packing != nullptr ? std::string(packing->problem) : "an archive",
                               packing != nullptr ? std::string(packing->remedy) : "Unpack it."});
}

}  // namespace

extern const Reader archive_reader;
const Reader archive_reader{"archive", "archive", "*.tar, *.zip, *.xz, *.bz2", recognises, read, false};

}  // namespace stepscope
