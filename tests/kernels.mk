# Kernels, their selection and their generators.
if HAVE_CMOCKA
cmocka_tests += tests/kernels.test tests/measure.test tests/select.test
tests_kernels_test_SOURCES = tests/kernels.c
tests_measure_test_SOURCES = tests/measure.c tests/sim.h
tests_select_test_SOURCES = tests/select.c tests/sim.h
endif
kernel_scripts = tests/generated.t tests/scalar-rows.t
TESTS += $(kernel_scripts)
EXTRA_DIST += $(kernel_scripts)
TESTS += tests/bench.bats
EXTRA_DIST += tests/bench.bats
