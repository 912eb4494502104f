# sources of lib/io
