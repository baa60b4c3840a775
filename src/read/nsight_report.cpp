// Nsight Systems' own report files cannot be read by anyone else: the user is told how to export them.
#include "base/bytes.h"
#include "read/reader.h"

namespace stepscope {

namespace {

int recognises(std::string_view head, std::string_view) {
  return head.starts_with("NVIDIA Tegra Profiler Report ") ? 100 : 0;
}

Result<void> read(ByteSource& source, const ReadOptions&, TimelineBuilder&) {
  const std::string path(source.path());
  std::string name = path;
  for (const std::string_view suffix : {".nsys-rep", ".qdrep"})
    if (path.ends_with(suffix)) name = path.substr(0, path.size() - suffix.size());
  return std::unexpected(
      Error{path, 0, "Nsight Systems report (.nsys-rep, .qdrep): only its own tools can open it",
            "Export it: nsys export --type sqlite --output " + name + ".sqlite " + path +
                "\n  This version does not read that export yet either; for now, record the same steps with torch.profiler (export_chrome_trace)."});
}

}  // namespace

extern const Reader nsight_report_reader;
const Reader nsight_report_reader{"nsight_report", "Nsight Systems report", "*.nsys-rep, *.qdrep", recognises, read, false};

}  // namespace stepscope
