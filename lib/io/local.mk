lib_libbitscrub_a_SOURCES += \
	lib/io/errno.c \
	lib/io/nice.c \
	lib/io/nice.h \
	lib/io/pages.c \
	lib/io/pages.h \
	lib/io/reader.c \
	lib/io/reader.h \
	lib/io/reader_internal.h \
	lib/io/reader_map.c \
	lib/io/reader_step.c \
	lib/io/reader_system.c \
	lib/io/rw.c \
	lib/io/state.c \
	lib/io/state.h \
	lib/io/state_acl.c \
	lib/io/state_check.c \
	lib/io/state_create.c \
	lib/io/state_file.c \
	lib/io/state_internal.h \
	lib/io/state_lock.c \
	lib/io/state_place.c \
	lib/io/state_publish.c \
	lib/io/state_sub.c \
	lib/io/state_why.c \
	lib/io/writer.c \
	lib/io/writer.h
