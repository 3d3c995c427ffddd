// Package landlock contains programs without external tools: the host's own binary creates new namespaces, makes
// visible in them what the program may see, and adds Landlock rules. It needs no privileges if the kernel lets users
// create namespaces, and is unavailable otherwise, because Landlock alone does not cover UDP, sockets in the file
// system and other processes.
package landlock
