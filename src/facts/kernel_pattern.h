// A user's regular expression on kernels' names, compiled: the same where it is checked and where it is searched.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>

namespace stepscope {

class KernelExpression {
 public:
  // ECMAScript syntax without back references, which cannot be had in polynomial time. The error says what is wrong with the expression.
  static std::expected<KernelExpression, std::string> compile(const std::string& expression);
  // Whether some part of the name matches. Of long names the first 1024 characters are looked at.
  bool found_in(std::string_view name) const;

  KernelExpression(KernelExpression&&) noexcept;
  KernelExpression& operator=(KernelExpression&&) noexcept;
  ~KernelExpression();

 private:
  struct Compiled;
  explicit KernelExpression(std::unique_ptr<const Compiled> compiled);
  std::unique_ptr<const Compiled> compiled_;
};

}  // namespace stepscope
