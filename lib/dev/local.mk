# sources of lib/dev
