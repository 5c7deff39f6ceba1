#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# lint.sh clang-tidy|cppcheck|shellcheck: the first two analyse lib/, where a file
# that passed is not looked at again until it, a header it includes or the tool's
# configuration changes; the last the scripts. How many states of a function the
# static analyzer looks at is nearly all that clang-tidy's time depends on: a
# soak, WEIR_SOAK=1, leaves that to the analyzer.
set -euo pipefail

root=$(dirname "$(dirname "$(readlink -f "$0")")")
cache=$root/build/lint
flags=(-Iinclude -Ilib -D_GNU_SOURCE -DWEIR_INSIDE)
bounds=()
if [ "${WEIR_SOAK:-0}" != 1 ]; then
	bounds=(-Xclang -analyzer-config -Xclang max-nodes=10000)
fi

# What the result for the file $1 depends on, as one number.
key() {
	{
		clang-tidy --version
		echo "${bounds[@]}"
		cat .clang-tidy test/lint.sh
		clang "${flags[@]}" -MM -MT '' "$1" | tr -d ':\\\n' |
			xargs cat
	} | sha256sum
}

tidy_one() {
	local stamp=$cache/${1//\//_} now

	now=$(key "$1")
	[ "$(cat "$stamp" 2>/dev/null)" != "$now" ] || return 0
	printf '%s\n' "$1"
	clang-tidy --quiet "$1" -- -std=gnu11 "${flags[@]}" "${bounds[@]}" \
		2>/dev/null &&
		printf '%s\n' "$now" >"$stamp"
}

clang_tidy() {
	find lib -name '*.c' -print0 |
		xargs -0 -n 1 -P "$(nproc)" test/lint.sh tidy-one
}

# Keeps its own cache. Unknown system headers are no finding; as it reads none of
# CK's, it is told what base/fence.h asks them for.
cppcheck_all() {
	mkdir -p "$cache/cppcheck"
	cppcheck --quiet --std=c11 --enable=warning,performance,portability \
		--error-exitcode=1 --inline-suppr -j "$(nproc)" \
		--cppcheck-build-dir="$cache/cppcheck" \
		--suppress=missingIncludeSystem \
		--suppressions-list=test/cppcheck.txt "${flags[@]}" \
		-DCK_MD_RMO lib
}

scripts() {
	find test -name '*.sh' -exec shellcheck dev .ci/run {} +
}

mkdir -p "$cache"
cd "$root"
case $1 in
clang-tidy) clang_tidy ;;
cppcheck) cppcheck_all ;;
shellcheck) scripts ;;
tidy-one) tidy_one "$2" ;;
esac
