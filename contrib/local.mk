# scripts
EXTRA_DIST += contrib/gen-crc32-tables
