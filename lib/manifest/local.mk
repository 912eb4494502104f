# sources of lib/manifest
