# Verdicts, known damage, real file systems.
pass_tests = tests/verdicts.bats tests/kept.bats tests/names.bats tests/damage.bats tests/accept.bats tests/links.bats tests/verify.bats tests/realfs.bats tests/guards.bats tests/disks.bats tests/holes.bats tests/export.bats
TESTS += $(pass_tests)
EXTRA_DIST += tests/pass.bash $(pass_tests)
