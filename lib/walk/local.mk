lib_libbitscrub_a_SOURCES += \
	lib/walk/filter.c \
	lib/walk/filter.h \
	lib/walk/foreign.c \
	lib/walk/glob.c \
	lib/walk/glob.h \
	lib/walk/glob_class.c \
	lib/walk/glob_internal.h \
	lib/walk/level.c \
	lib/walk/look.c \
	lib/walk/look.h \
	lib/walk/names.c \
	lib/walk/opener.c \
	lib/walk/resolve.c \
	lib/walk/resolve.h \
	lib/walk/resolve_internal.h \
	lib/walk/step.c \
	lib/walk/walk.c \
	lib/walk/walk.h \
	lib/walk/walk_internal.h
