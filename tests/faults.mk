# SPDX-License-Identifier: LGPL-2.1-or-later
# Every system call fails or is the last; the power is cut; others play in the tree.
fault_tests = tests/faults-sample.t tests/powercut-sample.t tests/scene-print.t \
	tests/hostiletree.bats
fault_programs = tests/faults tests/powercut tests/hostile-play tests/hostile-watch
TESTS += $(fault_tests)
EXTRA_DIST += $(fault_tests) $(fault_programs) tests/scene.pm tests/scene_check.pm \
	tests/scene_device.pm tests/scene_disk.pm tests/scene_farm.pm tests/scene_print.pm
