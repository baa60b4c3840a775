# Sourced by ./demo and ./test: one line per step, the step's output in a log, and on failure its end and what to do about it.

steps_begin=$SECONDS
steps_logs=${STEPSCOPE_LOGS:-build/logs}
steps_number=0
if [ -t 1 ]; then steps_bold=$'\e[1m' steps_red=$'\e[31m' steps_plain=$'\e[0m'; else steps_bold='' steps_red='' steps_plain=''; fi
mkdir -p "$steps_logs"

say() { printf '%s\n' "$*"; }
title() { printf '%s%s%s\n' "$steps_bold" "$*" "$steps_plain"; }

# step "what is done" "what to do when it fails" command...    Sets step_log and step_seconds. Returns the command's status.
step() {
  local what=$1 hint=$2 begun=$SECONDS status=0
  shift 2
  steps_number=$((steps_number + 1))
  step_log=$steps_logs/$(printf '%02d' "$steps_number")-$(printf '%s' "$what" | tr -cs 'A-Za-z0-9' '-' | cut -c1-40 | sed 's/-$//').log
  printf '%s' "==> $what … "
  "$@" >"$step_log" 2>&1 </dev/null || status=$?
  step_seconds=$((SECONDS - begun))
  if [ "$status" -eq 0 ]; then
    say "${step_seconds} s"
    return 0
  fi
  say "${steps_red}failed${steps_plain} after ${step_seconds} s (exit code $status): $(printf '%s' "$*" | cut -c1-200)"
  tail -n "${STEPSCOPE_LOG_LINES:-30}" "$step_log" | sed 's/^/    /'
  say "    whole log: $step_log"
  [ -z "$hint" ] || say "    what to do: $hint"
  return "$status"
}

# The page of the HTML report, only where its sources are newer than the built page.
web_is_built() {
  [ -f web/dist/report.html ] && [ -z "$(find web -type f -newer web/dist/report.html -not -path 'web/node_modules/*' -not -path 'web/dist/*' -not -path 'web/screenshots/*' -print -quit)" ]
}

# Debian packages by name, grouped by what needs them.
packages_build="g++ cmake ninja-build libsimdjson-dev libisal-dev libzstd-dev libcli11-dev libfmt-dev libyaml-cpp-dev"
packages_web="nodejs npm"
packages_test="python3 libgtest-dev librapidcheck-dev chromium dpkg-dev clang-format-19 clang-tidy-19 clang-19 libclang-rt-19-dev"
packages_all="debootstrap python3-venv"  # of ./test --all

# install_packages name...: those that are missing, asking nothing.
install_packages() {
  local missing=() name as_root=()
  for name in "$@"; do
    case $name in  # tools that may have come another way
      nodejs) command -v node >/dev/null && [ "$(node -p 'process.versions.node.split(".")[0]')" -ge 18 ] && continue ;;
      npm) command -v npm >/dev/null && continue ;;
      chromium) command -v chromium >/dev/null && continue ;;
    esac
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null; then
    echo "These Debian packages, or what your system calls them, are missing: ${missing[*]}"
    return 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "Missing packages: ${missing[*]}. Neither root nor sudo is here; as root: apt-get install ${missing[*]}"; return 1; }
    as_root=(sudo -n)
    "${as_root[@]}" true 2>/dev/null || { echo "Missing packages: ${missing[*]}. sudo wants a password; run: sudo apt-get install ${missing[*]}"; return 1; }
  fi
  echo "Installing: ${missing[*]}"
  "${as_root[@]}" apt-get update -q || echo "apt-get update failed; trying with the lists that are there"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}
