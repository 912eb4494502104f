# Kernels, their selection and their generators.
if HAVE_CMOCKA
cmocka_tests += tests/kernels.test
tests_kernels_test_SOURCES = tests/kernels.c
endif
