# sources of lib/walk
