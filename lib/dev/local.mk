lib_libbitscrub_a_SOURCES += \
	lib/dev/dev_internal.h \
	lib/dev/device.c \
	lib/dev/device.h \
	lib/dev/device_blkid.c \
	lib/dev/device_ids.c \
	lib/dev/device_internal.h \
	lib/dev/device_sysfs.c \
	lib/dev/device_tag.c \
	lib/dev/identity.c \
	lib/dev/identity.h \
	lib/dev/inuse.c \
	lib/dev/inuse.h \
	lib/dev/inuse_family.c \
	lib/dev/inuse_internal.h \
	lib/dev/inuse_mounts.c \
	lib/dev/mountinfo.c \
	lib/dev/owner.h \
	lib/dev/region.c \
	lib/dev/region.h \
	lib/dev/region_btrfs.c \
	lib/dev/region_claims.c \
	lib/dev/region_ext.c \
	lib/dev/region_internal.h \
	lib/dev/region_look.c \
	lib/dev/region_xfs.c \
	lib/dev/sysfs.c \
	lib/dev/uuid.c
