# sources of lib/api
